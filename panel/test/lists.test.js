// Goal: long lists are cut, sorted and searched right. Method: tables, and random ones against the
// plain way.
import assert from "node:assert/strict";
import { test } from "node:test";

import { inOrderOf, matches, sorted, turned } from "../src/logic/order";
import {
  FullOfLate,
  limitsOf,
  nextPlans,
  rankOf,
  rowsOf,
  shareOf,
  upTo,
  wasSeen,
} from "../src/logic/usage";
import { inSight, leastRem } from "../src/logic/window";

test("columns need their least widths, gaps and edges", () => {
  assert.equal(leastRem(["minmax(8rem, 1.3fr)", "7.9rem", "minmax(0, 1fr)"]), 15.9 + 2 * 1.1 + 3);
});

test("the rows in sight are drawn, and some beyond", () => {
  assert.deepEqual(inSight(10_000, 44, 0, 440, 2), {
    first: 0,
    last: 12,
    above: 0,
    height: 440_000,
  });
  const middle = inSight(10_000, 44, 44_000, 440, 2);
  assert.deepEqual([middle.first, middle.last, middle.above], [998, 1012, 998 * 44]);
  assert.equal(inSight(10_000, 44, 1e9, 440).last, 10_000);
  assert.deepEqual(inSight(0, 44, 100, 440), { first: 0, last: 0, above: 0, height: 0 });
});

test("every row in sight is among those drawn, wherever one scrolls", () => {
  for (let i = 0; i < 2_000; i++) {
    const rows = Math.floor(Math.random() * 300);
    const scrolled = Math.random() * rows * 44;
    const seen = inSight(rows, 44, scrolled, 400, 0);
    for (let row = 0; row < rows; row++) {
      const top = Math.min(scrolled, Math.max(0, rows * 44 - 400));
      const visible = (row + 1) * 44 > top && row * 44 < top + 400;
      if (visible) assert.ok(row >= seen.first && row < seen.last, `${row} of ${rows}`);
    }
  }
});

test("sorting keeps the places of what is equal, and what has no value last", () => {
  const rows = [
    ["a", 2],
    ["b", null],
    ["c", 1],
    ["d", 2],
  ];
  const by = (down) =>
    sorted(rows, (row) => row[1], down)
      .map((row) => row[0])
      .join("");
  assert.equal(by(false), "cadb");
  assert.equal(by(true), "adcb");
  assert.deepEqual(
    sorted(["t10", "t9", "T1"], (text) => text, false),
    ["T1", "t9", "t10"],
  );
});

test("rows that are held keep their places, and new ones come last", () => {
  const held = inOrderOf(["c", "a", "gone"], ["a", "new", "c"], (row) => row);
  assert.deepEqual(held, ["c", "a", "new"]);
});

test("a second press on a column turns it round", () => {
  const first = turned({ column: "a", down: true }, "b", true);
  assert.deepEqual(first, { column: "b", down: true });
  assert.deepEqual(turned(first, "b", true), { column: "b", down: false });
});

test("every word of a search must be somewhere", () => {
  assert.ok(matches("ACME glo", ["acme", "global"]));
  assert.ok(matches("  ", [null]));
  assert.ok(!matches("acme login", ["acme", "global", null]));
});

test("a tenant has a row for each bucket, and one if it has none", () => {
  const bucket = (limit, used) => ({ bucket: "b", limit, used });
  const rows = rowsOf([
    { tenant: "a", buckets: [bucket(10, 5), bucket(0, 1)] },
    { tenant: "b", buckets: [] },
  ]);
  assert.deepEqual(rows.map(shareOf), [0.5, 1, null]);
});

test("a bucket in shadow stands below all that can refuse", () => {
  const row = (bucket) => ({ tenant: {}, bucket });
  const full = row({ limit: 3, used: 3, shadow: true });
  const half = row({ limit: 10, used: 5, shadow: false });
  assert.ok(rankOf(full) < rankOf(half));
  assert.ok(rankOf(full) > rankOf(row({ limit: 3, used: 1, shadow: true })));
  assert.equal(rankOf(row(null)), null);
});

test("the next plan is told by bucket where they differ", () => {
  const bucket = (name, next_plan) => ({ bucket: name, next_plan });
  assert.equal(nextPlans([bucket("a", "pro"), bucket("b", "pro")]), "The next plan is pro.");
  assert.equal(
    nextPlans([bucket("a", "pro"), bucket("b", null), bucket("c", "max")]),
    "The next plan is pro for a, max for c.",
  );
  assert.equal(nextPlans([bucket("a", null)]), "");
});

test("who sits at a limit stays there while one slot comes free, and leaves it behind", () => {
  const full = new FullOfLate();
  const at = (used, second) => {
    const buckets = [{ bucket: "calls", used, limit: 10, near: used >= 8 }];
    full.note({ tenant: "acme", buckets }, second * 1000);
    return full.has("acme", "calls");
  };
  assert.equal(at(9, 0), false, "not at the limit yet");
  assert.equal(at(10, 2), true);
  assert.equal(at(9, 4), true, "a slot has come free");
  assert.equal(at(10, 6), true);
  assert.equal(at(9, 36), true);
  assert.equal(at(9, 37), false, "for so long nothing took the slot");
  assert.equal(at(10, 40), true);
  assert.equal(at(3, 42), false, "it was reset");
  assert.equal(full.has("globex", "calls"), false);
});

test("a tenant that settings name alone was not seen", () => {
  const tenants = [
    { tenant: "acme", plan: "free", last_seen: "2026-01-01T00:00:00Z" },
    { tenant: "initech", plan: "tiny", last_seen: null },
  ];
  assert.deepEqual(
    ["acme", "initech", "nobody"].map((tenant) => wasSeen(tenants, tenant)),
    [true, false, false],
  );
});

test("a plan gives its own rates, and else those of the buckets", () => {
  const policies = {
    limits: [
      { name: "calls", rule: "10/1h" },
      { name: "shy", rule: "3/1h" },
    ],
    plans: [{ plan: "pro", rates: [{ bucket: "calls", rate: "1000/1h" }] }],
  };
  const usage = { buckets: [{ bucket: "calls" }, { bucket: "shy", shadow: true }] };
  const shy = ["shy", "3/1h, in shadow: never refuses"];
  assert.deepEqual(limitsOf("pro", policies, usage), [["calls", "1000/1h"], shy]);
  assert.deepEqual(limitsOf("free", policies, usage), [["calls", "10/1h"], shy]);
});

test("a history ends with what is used now, of the buckets it has", () => {
  const history = {
    step_seconds: 10,
    times: [10, 20, 30],
    buckets: [
      { bucket: "a", used: [1, 2, 3], limit: [9, 9, 9] },
      { bucket: "gone", used: [1, 1, 1], limit: [5, 5, 5] },
    ],
  };
  const now = [
    { bucket: "new", used: 1, limit: 2 },
    { bucket: "a", used: 7, limit: 10 },
  ];
  const grown = upTo(history, 35, now);
  assert.deepEqual(grown.times, [10, 20, 30, 35]);
  assert.deepEqual(grown.buckets[0], { bucket: "a", used: [1, 2, 3, 7], limit: [9, 9, 9, 10] });
  assert.deepEqual(grown.buckets[1].used, [1, 1, 1, null]);
  assert.equal(grown.buckets.length, 2);
  assert.deepEqual(upTo(history, 30, now).times, [10, 20, 30]);
  assert.deepEqual(upTo(history, 30, now).buckets[0].used, [1, 2, 7]);
  assert.deepEqual(upTo({ ...history, times: [], buckets: [] }, 5, now).times, [5]);
});
