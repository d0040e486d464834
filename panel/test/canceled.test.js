// Goal: nobody takes an order that was executed for one that was canceled. Method: answers of each
// kind.
import assert from "node:assert/strict";
import { test } from "node:test";

import { canceled } from "../src/logic/canceled";

const told = (life, message = "") => canceled({ answer: "accepted", life, message });

test("what the order is says whether it was canceled", () => {
  assert.deepEqual(told("canceled"), { text: "The order is canceled.", tone: "good" });
  assert.deepEqual(told("filled", "They said so."), {
    text: "Not canceled: it was filled before. They said so.",
    tone: "bad",
  });
  assert.equal(told("rejected").tone, "warn");
  for (const life of ["working", "unknown"]) {
    assert.equal(told(life).tone, "warn");
    assert.match(told(life).text, /not seen to be over yet/);
  }
});
