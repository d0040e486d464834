// Goal: long lists are cut, sorted and searched right. Method: tables, and random ones against the
// plain way.
import assert from "node:assert/strict";
import { test } from "node:test";

import { inOrderOf, matches, sorted, turned } from "../src/logic/order";
import { nextPlans, rankOf, rowsOf, shareOf } from "../src/logic/usage";
import { inSight } from "../src/logic/window";

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
