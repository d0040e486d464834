// Goal: it is told what came of looking for orders. Method: answers of each kind.
import assert from "node:assert/strict";
import { test } from "node:test";

import { reconciled } from "../src/logic/reconciled";

const orders = (...statuses) => statuses.map((status) => ({ status }));

test("one order is told by what it is", () => {
  const found = { text: "The order is confirmed.", tone: "good" };
  assert.deepEqual(reconciled(orders("confirmed")), found);
  const open = { text: "The order was looked for, and is still not known.", tone: "warn" };
  assert.deepEqual(reconciled(orders("unresolved")), open);
});

test("many are counted by what they are", () => {
  const told = reconciled(orders("confirmed", "unresolved", "confirmed"));
  assert.equal(told.text, "3 orders looked for: 2 confirmed, 1 still not known.");
  assert.equal(told.tone, "warn");
  assert.equal(reconciled([]).text, "No order was open.");
});
