// Goal: an order is told as people say it, and what others said is short where it is noise. Method:
// pinned texts.
import assert from "node:assert/strict";
import { test } from "node:test";

import { saidOf } from "../src/logic/said";
import { kindsOf, termFacts } from "../src/logic/terms";
import { isUsedUp } from "../src/logic/week";
import { wordOf } from "../src/logic/word";

test("a page of HTML is folded, and kept whole behind it", () => {
  const text = "status 502: <html><head><title>502 Bad Gateway</title></head></html>";
  assert.deepEqual(saidOf(text), {
    short: "status 502, a page of HTML in place of the venue's own answer",
    whole: text,
  });
  const instead = "a page of HTML in place of the venue's own answer";
  assert.equal(saidOf("<!DOCTYPE html><p>").short, instead);
  const okx = "status 502, OKX gave an answer that is none of its own: <html></html>";
  assert.equal(
    saidOf(`nobody knows (trade/order: ${okx}) (external_reference=r)`).short,
    `nobody knows (trade/order: status 502, ${instead})`,
  );
});

test("what is no page stays as it is", () => {
  for (const text of ["accepted", "price < 40000", "<b> is no page", ""]) {
    assert.deepEqual(saidOf(text), { short: text, whole: "" });
  }
});

test("terms come as they are said, and none is left out", () => {
  const order = {
    inst: "BTC-USDT-SWAP",
    price: "40000",
    reduce_only: true,
    side: "buy",
    size: "0.1",
    trade_mode: "cross",
    type: "limit",
    venue: "okx",
  };
  assert.deepEqual(termFacts(order), [
    ["Side", "buy"],
    ["Size", "0.1"],
    ["Instrument", "BTC-USDT-SWAP"],
    ["Type", "limit"],
    ["Price", "40000"],
    ["Reduce only", "yes"],
    ["Trade mode", "cross"],
  ]);
});

test("kinds of orders are those of the venue", () => {
  const kinds = (venue) => kindsOf(venue).map(([kind]) => kind);
  assert.ok(kinds("okx").includes("post_only"));
  assert.ok(!kinds("saxo").includes("post_only"));
});

test("what is known by a person's word alone is not told as the venue's", () => {
  const at = "2026-01-01T00:00:00Z";
  const read = { at, source: "GET /order", says: "unreadable" };
  const person = (as) => ({ at, source: "person", says: `ann, ::1: settled as ${as}: I looked` });
  const placed = [read, person("placed (order 7)")];
  const working = { life: "working", evidence: placed };
  assert.deepEqual(wordOf(working), { who: "ann, ::1", at, stands: "working" });
  assert.equal(wordOf({ life: "filled", evidence: placed }), null, "the venue was heard since");
  assert.equal(wordOf({ life: "working", evidence: [...placed, read] }), null);
  assert.equal(wordOf({ life: "rejected", evidence: [person("absent")] }).stands, "not there");
  assert.equal(wordOf({ life: "working", evidence: [] }), null);
});

test("how an attempt ended is told without the names of errors", () => {
  const broke = "the connection broke before an answer came";
  assert.equal(saidOf(`unknown unavailable: ${broke}`).short, `no answer: ${broke}`);
  const looked = "it is looked for: unknown unavailable: ";
  assert.equal(saidOf(looked + broke).short, `it is looked for: ${broke}`);
  assert.equal(saidOf("unknown, 200 51400: gone").short, "outcome unknown, 200 51400: gone");
});

test("a week is used up when all of its slots are, where it has a limit", () => {
  const quota = { enabled: true, used: 5, limit: 5 };
  assert.equal(isUsedUp(quota), true);
  assert.equal(isUsedUp({ ...quota, used: 4 }), false);
  assert.equal(isUsedUp({ ...quota, enabled: false }), false);
  assert.equal(isUsedUp(null), false);
});
