// Goal: numbers and times read well and keep their width. Method: tables of values.
import assert from "node:assert/strict";
import { test } from "node:test";

import * as format from "../src/logic/format";

test("a short number has three digits at the most, up to ten thousand", () => {
  const told = {
    0: "0",
    0.004: "0",
    0.42: "0.42",
    7.5: "7.5",
    42.04: "42",
    134.4: "134",
    1843: "1,843",
    9999: "9,999",
    12345: "12.3k",
    999499: "999k",
    999500: "1M",
    2_500_000: "2.5M",
    3e9: "3G",
  };
  for (const [value, text] of Object.entries(told)) assert.equal(format.short(Number(value)), text);
  assert.equal(format.short(Number.NaN), "–");
});

test("a rate keeps one decimal while it is small", () => {
  assert.equal(format.rate(0), "0.0");
  assert.equal(format.rate(3.44), "3.4");
  assert.equal(format.rate(120.2), "120");
});

test("a duration is told in the two units that matter", () => {
  const told = {
    0: "0 s",
    59.4: "59 s",
    60: "1 min",
    412: "6 min 52 s",
    900: "15 min",
    7500: "2 h 5 min",
    90000: "25 h",
    540000: "6 d 6 h",
    864000: "10 d",
  };
  for (const [value, text] of Object.entries(told))
    assert.equal(format.duration(Number(value)), text);
});

test("ages are coarse, and know before from after", () => {
  assert.equal(format.relative(1000, 1400), "now");
  assert.equal(format.relative(0, 42_000), "42 s ago");
  assert.equal(format.relative(600_000, 0), "in 10 min");
  assert.equal(format.relative(0, 3 * 86_400_000), "3 d ago");
});

test("times are local, with UTC beside them", () => {
  const at = new Date(2026, 0, 31, 14, 5, 9);
  assert.equal(format.local(at), "2026-01-31 14:05:09");
  assert.equal(format.localShort(at, new Date(2026, 0, 31, 20, 0, 0)), "14:05:09");
  assert.equal(format.localShort(at, new Date(2026, 5, 1)), "01-31 14:05");
  assert.equal(format.localShort(at, new Date(2027, 5, 1)), "2026-01-31 14:05");
  assert.equal(format.utc(new Date(Date.UTC(2026, 0, 31, 13, 5, 9))), "2026-01-31 13:05:09 UTC");
});

test("the side of a plot and what follows within a second are told shortly", () => {
  const told = { 40: "40s", 60: "1m", 300: "5m", 3600: "1h", 172800: "2d" };
  for (const [seconds, text] of Object.entries(told))
    assert.equal(format.durationShort(Number(seconds)), text);
  assert.equal(format.instant(new Date(2026, 0, 31, 14, 5, 9, 42)), "14:05:09.042");
});

test("long names lose their middle, never their ends", () => {
  assert.equal(format.shortened("short", 10), "short");
  const text = format.shortened("8f14e45f-ceea-467f-9b3d", 12);
  assert.equal(text.length, 12);
  assert.ok(text.startsWith("8f14e45f") && text.endsWith("b3d"));
});

test("one is not many", () => {
  assert.equal(format.plural(1, "order"), "1 order");
  assert.equal(format.plural(1200, "order"), "1,200 orders");
});
