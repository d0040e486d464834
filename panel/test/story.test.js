// Goal: every kind of record, why a task waits, and an order's terms are told in words. Method: one
// of each.
import assert from "node:assert/strict";
import { test } from "node:test";

import { chapterOf, particulars, threadOf } from "../src/logic/story";
import { bodyOf, start, termsOf } from "../src/logic/terms";
import { stepsOf, versionChapter } from "../src/logic/versions";
import { whyText } from "../src/logic/why";

const record = (event_type, more) => ({
  seq: 1,
  event_type,
  timestamp: "2026-01-01T00:00:00Z",
  operation: "POST /x",
  ...more,
});

test("records are told with what went well and what did not", () => {
  const told = [
    [record("limit", { allowed: false }), "Refused by the limits", "bad"],
    [record("limit", {}), "Allowed by the limits", "good"],
    [record("request", { outcome: "unknown", status: 504 }), "Request ended: unknown", "warn"],
    [
      record("retry_attempt", { attempt_number: 1, max_attempts: 3, delay_seconds: 60 }),
      "Attempt 1 of 3 failed",
      "warn",
    ],
    [record("retry_exhausted", { total_attempts: 3 }), "Given up after 3 attempts", "bad"],
    [record("retry_exhausted", { total_attempts: 1 }), "Given up after 1 attempt", "bad"],
    [record("idempotency", { action: "take_over" }), "Key: take over", "plain"],
    [record("quota", { allowed: false, used: 5, limit: 5 }), "Refused by the weekly limit", "bad"],
    [record("order", { state: "confirmed" }), "Order confirmed", "good"],
    [record("breaker", { state: "half_open" }), "Breaker half open", "bad"],
    [record("operation_slept", { attempt_number: 2 }), "Sleeps until its attempt 3", "plain"],
    [record("operation_resumed", { attempt_number: 3 }), "Goes on", "plain"],
    [record("something_new", {}), "something new", "plain"],
  ];
  for (const [given, title, tone] of told) {
    const chapter = chapterOf(given);
    assert.equal(chapter.title, title);
    assert.equal(chapter.tone, tone);
  }
});

test("a success says how many attempts it took", () => {
  assert.equal(chapterOf(record("retry_succeeded", { total_attempts: 1 })).detail, "1 attempt");
});

test("a sleep says for how long, and as which task", () => {
  const slept = { attempt_number: 2, delay_seconds: 3600, task_id: "t1" };
  assert.equal(chapterOf(record("operation_slept", slept)).detail, "for 1 h, as task t1");
  const woke = { attempt_number: 3, slept_seconds: 3600, task_id: "t1" };
  assert.equal(
    chapterOf(record("operation_resumed", woke)).detail,
    "with attempt 3, after 1 h, as task t1",
  );
});

test("a record is followed by its correlation id, or its order", () => {
  assert.equal(threadOf(record("order", { external_reference: "r", correlation_id: "c" })), "c");
  assert.equal(threadOf(record("order", { external_reference: "r" })), "r");
  assert.equal(threadOf(record("config", {})), "");
  assert.deepEqual(particulars(record("x", { hash: "h", peer: "p" })), [["peer", "p"]]);
});

test("versions of a task stand between the records, by their times", () => {
  const at = (second) => `2026-01-01T00:00:0${second}Z`;
  const version = (number, status, second) => ({
    task: "t1",
    version: { version: number, at: at(second), status, reason: status, detail: null },
  });
  const records = [0, 2].map((second) => record("task", { seq: second, timestamp: at(second) }));
  const told = stepsOf(records, [
    version(1, "pending", 0),
    version(2, "running", 1),
    version(3, "completed", 3),
  ]).map((step) => ("record" in step ? `record ${step.record.seq}` : step.version.status));
  assert.deepEqual(told, ["record 0", "pending", "running", "record 2", "completed"]);
});

test("a version says what it became and why, who has it and when it goes on", () => {
  const put_off = {
    version: 4,
    at: "2026-01-01T00:00:00Z",
    status: "pending",
    reason: "rescheduled",
    worker_id: "w1",
    delay_seconds: 60,
    detail: "market closed",
  };
  assert.deepEqual(versionChapter(put_off), {
    title: "pending: rescheduled",
    detail: "market closed; worker w1; again in 1 min",
    tone: "plain",
  });
  assert.equal(versionChapter({ ...put_off, status: "failed", reason: "failed" }).title, "failed");
  assert.equal(versionChapter({ ...put_off, status: "failed" }).tone, "bad");
});

test("why a task does not run is a sentence, whatever holds it", () => {
  const why = { hold: "", scope: null, name: null, until: null, ahead: 0, worker: null };
  const now = Date.parse("2026-01-01T00:00:00Z");
  const until = "2026-01-01T00:10:00Z";
  const told = {
    not_due: "It is due in 10 min.",
    closed: "The key acme is closed, and opens in 10 min.",
    concurrency: "As many of the key acme run as may at once.",
  };
  for (const [hold, text] of Object.entries(told)) {
    assert.equal(whyText({ ...why, hold, until, scope: "key", name: "acme" }, now), text);
  }
  assert.equal(
    whyText({ ...why, hold: "waits", ahead: 1200 }, now),
    "It waits for a worker; 1,200 of its type come first.",
  );
  assert.match(whyText({ ...why, hold: "waits" }, now), /no worker has asked/);
  assert.match(
    whyText({ ...why, hold: "running", worker: "w1", until }, now),
    /at w1; its lease ends in 10 min/,
  );
});

test("an order is told, and asked for, with the terms of its kind alone", () => {
  const order = {
    inst: "BTC-USDT-SWAP",
    side: "buy",
    type: "stop_limit",
    size: "0.1",
    price: "4",
    stop_price: "5",
  };
  assert.equal(termsOf({ order }), "buy 0.1 BTC-USDT-SWAP, stop limit 4, stop 5");
  assert.equal(
    termsOf({
      order: { uic: "211", asset_type: "Stock", side: "sell", type: "market", size: "10" },
    }),
    "sell 10 Stock 211, market",
  );
  const body = bodyOf(
    { ...start, type: "market", inst: " X ", size: "1", price: "9" },
    false,
    "ref",
  );
  assert.deepEqual(body, {
    venue: "okx",
    side: "buy",
    type: "market",
    size: "1",
    inst: "X",
    external_reference: "ref",
  });
  assert.equal(bodyOf({ ...start, venue: "saxo", uic: "211" }, true, "ref").reduce_only, true);
});
