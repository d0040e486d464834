// Goal: an address leads to the same place whatever the name. Method: there and back.
import assert from "node:assert/strict";
import { test } from "node:test";

import { filtered, href, pages, parseRoute } from "../src/logic/route";

test("every page is found by its address", () => {
  for (const page of pages) assert.equal(parseRoute(href(page)).page, page);
});

test("any name comes back as it was", () => {
  for (const name of [
    "acme",
    "a/b",
    "<script>alert(1)</script>",
    "a b&c=d?e#f",
    "ü€",
    "%41",
    "..",
  ]) {
    assert.deepEqual(parseRoute(href("tenants", [name])).names, [name]);
  }
});

test("filters come along, empty ones do not", () => {
  const address = href("tasks", [], { status: "failed", type: "", key: "a&b" });
  assert.deepEqual(parseRoute(address).query, { status: "failed", key: "a&b" });
});

test("a filter changes, and leaves the others", () => {
  const route = parseRoute("#/tasks?status=failed&key=a");
  assert.equal(filtered(route, "status", "running"), "#/tasks?status=running&key=a");
  assert.equal(filtered(route, "status", ""), "#/tasks?key=a");
});

test("what is no address is the overview", () => {
  for (const text of ["", "#", "#/", "#/nowhere/acme", "#/__proto__"]) {
    assert.deepEqual(parseRoute(text), { page: "overview", names: [], query: {} });
  }
  assert.deepEqual(parseRoute("#/tenants/%zz").names, ["%zz"]);
});
