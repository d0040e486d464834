// Goal: an order is told as people say it, and what others said is short where it is noise. Method:
// pinned texts.
import assert from "node:assert/strict";
import { test } from "node:test";

import { saidOf } from "../src/logic/said";
import { kindsOf, termFacts } from "../src/logic/terms";

test("a page of HTML is folded, and kept whole behind it", () => {
  const text = "status 502: <html><head><title>502 Bad Gateway</title></head></html>";
  assert.deepEqual(saidOf(text), {
    short: "status 502, and a page of HTML: not the venue's own answer",
    whole: text,
  });
  assert.equal(saidOf("<!DOCTYPE html><p>").short, "a page of HTML: not the venue's own answer");
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
