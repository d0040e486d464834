// Goal: a deed keeps its key until its end is known, and is under way once. Method: every way
// through its states.
import assert from "node:assert/strict";
import { test } from "node:test";

import { errorOf } from "../src/api";
import { isOpen, isOutOfTime, left, mayPress, newKey, step } from "../src/logic/deed";

const ready = { state: "ready", key: "k1" };

test("a second press while it is under way is none", () => {
  const pressed = step(ready, { type: "pressed" });
  assert.equal(pressed.state, "under_way");
  assert.equal(mayPress(pressed), false);
  assert.equal(step(pressed, { type: "pressed" }), pressed);
});

test("a lost answer leaves the key: pressing again asks for the same", () => {
  let deed = step(step(ready, { type: "pressed" }), { type: "lost", reason: "no answer" });
  assert.equal(deed.state, "doubtful");
  assert.equal(deed.key, "k1");
  deed = step(deed, { type: "pressed" });
  assert.deepEqual(deed, { state: "under_way", key: "k1", again: true });
  assert.equal(step(deed, { type: "answered", replayed: true }).state, "done");
});

test("a refusal is an end: what is pressed next is another deed", () => {
  for (const isVerdict of [true, false]) {
    const deed = step(
      { state: "under_way", key: "k1", again: false },
      { type: "refused", reason: "no", isVerdict, nextKey: "k2" },
    );
    assert.deepEqual(deed, { state: "refused", key: "k2", reason: "no" });
    assert.equal(mayPress(deed), true);
  }
});

test("a second press that is turned away does not say how the first one ended", () => {
  const again = { state: "under_way", key: "k1", again: true };
  const refused = (isVerdict) =>
    step(again, { type: "refused", reason: "no", isVerdict, nextKey: "k2" });
  assert.deepEqual(refused(false), { state: "doubtful", key: "k1", reason: "no" });
  assert.deepEqual(refused(true), { state: "refused", key: "k2", reason: "no" });
});

test("a press of who is signed out is put off, unless an earlier one may have done it", () => {
  const signedOut = { type: "signed_out", reason: "no session" };
  const first = step({ state: "under_way", key: "k1", again: false }, signedOut);
  assert.deepEqual(first, { state: "put_off", key: "k1" });
  assert.ok(isOpen(first) && mayPress(first));
  assert.equal(left(first), first);
  assert.equal(step(first, { type: "pressed" }).again, false);
  const second = step({ state: "under_way", key: "k1", again: true }, signedOut);
  assert.deepEqual(second, { state: "doubtful", key: "k1", reason: "no session" });
});

test("what was under way when the page was left is doubtful", () => {
  const deed = left({ state: "under_way", key: "k1", again: false });
  assert.deepEqual([deed.state, deed.key], ["doubtful", "k1"]);
});

test("the weekly limit is a verdict on an order, a lockout is none", () => {
  assert.ok(errorOf(429, { status: "denied", message: "5 of 5 used" }).isVerdict);
  for (const [status, body] of [
    [429, { status: 429, code: "ERR_LOCKED_OUT" }],
    [429, null],
    [401, { code: "ERR_UNAUTHORIZED" }],
    [403, { code: "ERR_FORBIDDEN" }],
    [409, { code: "ERR_IDEMPOTENCY_IN_FLIGHT" }],
  ])
    assert.ok(!errorOf(status, body).isVerdict, `${status} ${JSON.stringify(body)}`);
});

test("what is done is not done again", () => {
  const done = { state: "done", key: "k1", replayed: false };
  assert.equal(step(done, { type: "pressed" }), done);
});

test("a key has 128 bits", () => {
  assert.equal(
    newKey((bytes) => bytes.fill(10)),
    "0a".repeat(16),
  );
});

test("a deed whose key is forgotten is not pressed again, and not forgotten either", () => {
  const again = { state: "under_way", key: "k1", again: true };
  const forgotten = step(again, { type: "forgotten" });
  assert.deepEqual(forgotten, { state: "forgotten", key: "k1" });
  assert.ok(isOpen(forgotten) && !mayPress(forgotten));
  assert.equal(step(forgotten, { type: "pressed" }), forgotten);
  assert.equal(left(forgotten), forgotten);
});

test("a key is good for less than the hour that pawl keeps it, by whatever clock", () => {
  const minute = 60_000;
  assert.equal(isOutOfTime(0, 54 * minute), false);
  assert.equal(isOutOfTime(0, 56 * minute), true);
  assert.equal(isOutOfTime(60 * minute, 0), true);
});
