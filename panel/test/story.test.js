// Goal: every kind of record, why a task waits, and an order's terms are told in words. Method: one
// of each.
import assert from "node:assert/strict";
import { test } from "node:test";

import { chapterOf, orderOf, particulars, threadOf } from "../src/logic/story";
import { bodyOf, start, termsOf } from "../src/logic/terms";
import { toneOf } from "../src/logic/tones";
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
    [record("idempotency", { action: "take_over" }), "Key taken over", "plain"],
    [record("quota", { allowed: false, used: 5, limit: 5 }), "Refused by the weekly limit", "bad"],
    [record("order", { state: "confirmed" }), "Order confirmed", "good"],
    [record("breaker", { state: "half_open" }), "Breaker half open", "warn"],
    [record("operation_slept", { attempt_number: 2 }), "Sleeps until its attempt 3", "plain"],
    [record("operation_resumed", { attempt_number: 3 }), "Goes on", "plain"],
    [record("something_new", {}), "Something new", "plain"],
    [record("reconcile", { found: "unknown" }), "Looked for: not known", "warn"],
    [record("task", { operation: "task replay" }), "A replay was asked for", "plain"],
    [record("task", { operation: "task new" }), "Task new", "plain"],
  ];
  for (const [given, title, tone] of told) {
    const chapter = chapterOf(given);
    assert.equal(chapter.title, title);
    assert.equal(chapter.tone, tone);
  }
});

test("a state is taken alike wherever it is told, but for an order that was sent", () => {
  for (const state of ["confirmed", "rejected", "unresolved", "reconciling"])
    assert.equal(chapterOf(record("order", { state })).tone, toneOf(state));
  assert.equal(toneOf("sending"), "warn");
  assert.equal(chapterOf(record("order", { state: "sending" })).tone, "plain");
  assert.equal(toneOf("something new"), "plain");
});

test("a decision says why, and which shadow would have refused", () => {
  const policies = [
    { name: "calls", allowed: true },
    { name: "shy", allowed: false, shadow: true },
  ];
  const { detail } = chapterOf(record("limit", { why: "3 of 10 left", policies }));
  assert.equal(detail, "3 of 10 left; shy, in shadow, would have refused it");
  assert.equal(chapterOf(record("limit", { policy: "calls" })).detail, "calls");
  const told = "Allowed. 157 left. Shadow 'shy' (3/1h) would have refused.";
  assert.equal(chapterOf(record("limit", { why: told, policies })).detail, told, "told once");
  const { detail: joined } = chapterOf(record("limit", { why: "Allowed.", policies }));
  assert.equal(joined, "Allowed; shy, in shadow, would have refused it");
});

test("what was changed, and by whom, is told in words", () => {
  const placed = record("config", { operation: "order place", peer: "192.0.2.7" });
  assert.equal(chapterOf(placed).title, "An order was asked for");
  assert.equal(chapterOf(placed).detail, "by 192.0.2.7");
  assert.equal(chapterOf(record("config", { changed: "a.yaml" })).detail, "a.yaml");
  assert.equal(orderOf(record("order", { external_reference: "r" })), "r");
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
  const said = (more) =>
    whyText({ ...why, ...more }, now)
      .map((part) => part.name ?? part)
      .join("");
  const told = {
    not_due: "It is due in 10 min.",
    closed: "The key acme is closed, and opens in 10 min.",
    concurrency: "As many of the key acme run as may at once.",
  };
  for (const [hold, text] of Object.entries(told)) {
    assert.equal(said({ hold, until, scope: "key", name: "acme" }), text);
  }
  assert.equal(
    said({ hold: "waits", ahead: 1200 }),
    "It waits for a worker; 1,200 of its type come first.",
  );
  assert.match(said({ hold: "waits" }), /no worker has asked/);
  assert.match(
    said({ hold: "running", worker: "w1", until }),
    /at w1; its lease ends in 10 min/,
  );
  assert.equal(
    said({ hold: "running", worker: "w1", until: "2025-12-31T23:59:58Z" }),
    "The lease of w1 ended 2 s ago: whoever claims next ends the attempt.",
  );
  assert.equal(said({ hold: "rate", scope: "queue" }).slice(0, 20), "As many of the queue");
  const held = whyText({ ...why, hold: "closed", scope: "key", name: "\u05d0", until }, now);
  assert.deepEqual(held[2], { name: "\u05d0" }, "a name stands apart");
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

test("what a breaker held back was not sent, and says so", () => {
  const decision = { reason: "breaker_open", next: "give_up" };
  const held = { operation: "webhook", decision, total_attempts: 0 };
  const told = (more) => chapterOf(record("retry_exhausted", { ...held, ...more }));
  const first = told({});
  assert.equal(first.title, "Not sent: the circuit breaker is open");
  assert.match(first.detail, /it waits, and is sent once the breaker/);
  assert.equal(first.tone, "warn");
  assert.equal(told({ total_attempts: 1 }).title, "Not sent again: the circuit breaker is open");
  const failed = { operation: "pay", final_exception_type: "status_500", total_attempts: 2 };
  assert.deepEqual(told(failed), {
    title: "Given up after 2 attempts",
    detail: "status_500",
    tone: "bad",
  });
  assert.equal(told({ operation: "pay" }).title, "Not sent: the circuit breaker is open");
  assert.equal(told({ operation: "pay" }).detail, "");
  const waits = chapterOf(record("retry_attempt", { attempt_number: 0, delay_seconds: 2 }));
  assert.equal(waits.title, "Not sent: the circuit breaker is open");
  assert.equal(waits.detail, "again in 2 s");
});

test("who was given up without an error is told why", () => {
  const given_up = { total_attempts: 1, decision: { reason: "deadline_exceeded" } };
  assert.equal(chapterOf(record("retry_exhausted", given_up)).detail, "deadline exceeded");
});

test("the key of a delivery keeps no answer", () => {
  const title = (operation) =>
    chapterOf(record("idempotency", { operation, action: "record" })).title;
  assert.equal(title("webhook"), "Delivery noted");
  assert.equal(title("POST /x"), "Answer kept");
});

test("of what a bucket in shadow refused, its rows say that it would have", () => {
  const policies = [
    { name: "calls", allowed: true },
    { name: "shy", allowed: false, shadow: true },
  ];
  const allowed = record("limit", { allowed: true, policies });
  assert.equal(chapterOf(allowed, "shy").title, "Would have been refused by shy (shadow)");
  assert.equal(chapterOf(allowed, "shy").tone, "warn");
  assert.equal(chapterOf(allowed).title, "Allowed by the limits");
  assert.equal(chapterOf(allowed, "calls").title, "Allowed by the limits");
  const refused = record("limit", { allowed: false, policies });
  assert.equal(chapterOf(refused, "shy").title, "Refused by the limits");
});
