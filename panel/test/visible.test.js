// Goal: what cannot be seen in a name is seen. Method: names with such signs in them.
import assert from "node:assert/strict";
import { test } from "node:test";

import { visible } from "../src/logic/visible";

test("what turns the direction of writing, and what takes no room, is told by its number", () => {
  assert.equal(visible("acme\u202etxt.exe"), "acme[U+202E]txt.exe");
  assert.equal(visible("\u2066a\u2069\u200f\u061c"), "[U+2066]a[U+2069][U+200F][U+061C]");
  assert.equal(visible("a\u0000\u001b[31m\u007f\r"), "a[U+0000][U+001B][31m[U+007F][U+000D]");
  assert.equal(visible("zero\u200bwidth\ufeff"), "zero[U+200B]width[U+FEFF]");
});

test("what is written from right to left, lines and emoji stay as they are", () => {
  for (const text of ["שלום", "mañana\n\ttab", "👩\u200d🚀", "日本"]) assert.equal(visible(text), text);
});
