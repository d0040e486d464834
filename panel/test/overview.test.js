// Goal: what needs a person stands first, and plots are made of what was sampled. Method: overviews
// made by hand.
import assert from "node:assert/strict";
import { test } from "node:test";

import { needsOf } from "../src/logic/needs";
import {
  ageSteps,
  andMore,
  appended,
  columnsOf,
  linesWith,
  summary,
  timesInSight,
  wholeSteps,
} from "../src/logic/series";

const calm = {
  at: "2026-01-01T00:00:00Z",
  rates: { allowed: 0, refused: 0, replayed: 0 },
  retries: { last_minute: 0, alert: false, categories: {} },
  queue: null,
  orders: null,
  idempotency: { unknown: null },
  breakers: [],
  stores: [{ name: "Limits", state: "ok", durability: null, detail: null }],
  ready: true,
  detail: null,
};

test("nothing needs a person where all is well", () => {
  assert.deepEqual(needsOf(calm), []);
});

test("who looks why a task is overdue sees that task first", () => {
  const queue = { pending: 9, due: 2, running: 0, failed: 0, oldest_due_seconds: 600 };
  assert.equal(needsOf({ ...calm, queue })[0].link, "#/tasks?status=pending&order=due");
});

test("what is bad comes before what is a warning", () => {
  const needs = needsOf({
    ...calm,
    orders: { unresolved: 2, left_open: 1, under_way: 0, quota: null },
    queue: { pending: 9, due: 2, running: 0, failed: 3, oldest_due_seconds: 600 },
    breakers: [
      { name: "shop", state: "open", since: "2025-12-31T22:00:00Z" },
      { name: "mail", state: "half_open", since: "2025-12-31T23:59:00Z" },
    ],
    stores: [{ name: "Limits", state: "degraded", detail: "lost" }],
    retries: { last_minute: 99, alert: true, categories: {} },
    idempotency: { unknown: 1 },
  });
  assert.deepEqual(
    needs.map((need) => need.id),
    [
      "unresolved_orders",
      "unknown_writes",
      "breaker_shop",
      "left_open_orders",
      "store_Limits",
      "breaker_mail",
      "failed_tasks",
      "overdue_tasks",
      "retry_rate",
    ],
  );
  assert.equal(needs[0].title, "2 orders unresolved");
  assert.equal(needs[2].link, "#/audit?type=retry_attempt", "where the failures stand");
  assert.match(needs[2].detail, /^For 2 h calls to it are held back/);
  assert.equal(needs[0].link, "#/orders?show=unresolved");
  assert.equal(needs[1].title, "1 write of unknown outcome");
  assert.match(needs[1].detail, /executed it\./);
});

test("a pawl that is not ready says why, and trouble that no store tells is told", () => {
  assert.equal(needsOf({ ...calm, ready: false, detail: "draining" })[0].detail, "draining");
  assert.equal(
    needsOf({ ...calm, detail: "an upstream is away" })[0].detail,
    "an upstream is away",
  );
});

test("a sample goes to the end, once, and the oldest leaves", () => {
  const start = { step_seconds: 1, times: [1, 2], series: { a: [1, 2] } };
  const grown = appended(start, 3, { a: 3, b: 9 }, 2);
  assert.deepEqual(grown.times, [2, 3]);
  assert.deepEqual(grown.series, { a: [2, 3], b: [null, 9] });
  assert.equal(appended(grown, 3, { a: 4 }, 2), grown);
});

test("lines that were not sampled have holes", () => {
  const series = { step_seconds: 1, times: [1, 2], series: { a: [1, 2] } };
  assert.deepEqual(columnsOf(series, ["a", "b"]), [
    [1, 2],
    [1, 2],
    [null, null],
  ]);
  assert.equal(summary("a", [1, 5, null, 2], String), "a: now 2, at most 5");
  assert.equal(summary("b", [null], String), "b: no values yet");
});

test("categories stand by their height, those without retries not at all", () => {
  const series = {
    step_seconds: 1,
    times: [1],
    series: { "retry.A": [1], "retry.B": [5], "retry.C": [0], x: [9] },
  };
  assert.deepEqual(linesWith(series, "retry."), ["B", "A"]);
});

test("lines that are not drawn are told", () => {
  assert.equal(andMore(["a", "b"], 2), "");
  assert.equal(andMore(["a", "b", "c", "d"], 2), "And 2 more: c, d.");
});

test("a plot ends with its last sample, although there is one alone, or none", () => {
  assert.deepEqual(timesInSight([5000], 900), [4100, 5000]);
  assert.deepEqual(timesInSight([1000, 5000], 900), [4100, 5000]);
  assert.deepEqual(timesInSight([], 900), [0, 900]);
});

test("what is counted has whole steps, what is an age those of a clock", () => {
  assert.deepEqual(wholeSteps.slice(0, 5), [1, 2, 5, 10, 20]);
  for (const step of ageSteps.filter((each) => each > 60)) assert.equal(step % 60, 0);
});
