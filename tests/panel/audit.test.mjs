// Goal: one operation is followed through the log, and a log that was changed shows. Method: real
// orders, tasks and a webhook that nobody takes, and a log edited by hand.
import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { turnTo, waitFor, withStack } from "./stack.mjs";

// Nobody listens there.
const settings = `
webhooks:
  database: webhooks.db
  endpoints:
    - { name: shop, url: "http://127.0.0.1:9/hooks", secret: "a-secret-of-24-characters" }
`;
const held = withStack({ before, after }, { settings }, async (stack) => {
  await stack.send("/x", { tenant: "acme" });
  await stack.order("story-1");
});

async function audit(hash = "#/audit") {
  const page = await held.stack.signIn();
  await page.goto(held.stack.panel + hash);
  return page;
}

/** What the page tells of one operation, once it has that. */
async function stepsOf(page, text) {
  const story = page.getByRole("list", { name: "The operation" });
  await story.getByText(text).first().waitFor();
  return story.getByRole("listitem").allTextContents();
}

const part_of = (operation) => ({ "X-Correlation-Id": operation });

test("the newest records are listed, by kind", async () => {
  const page = await audit();
  await page
    .getByText(/Chain verified, \d+ records/)
    .first()
    .waitFor();
  await page.getByLabel("Kind").selectOption("quota");
  await page.getByRole("button", { name: "Within the weekly limit" }).click();
  await page.getByRole("dialog").getByText("story-1").first().waitFor();
});

test("an operation is followed across quota, pace and order", async () => {
  const page = await audit();
  await page.getByRole("searchbox").fill("story-1");
  await page.getByRole("button", { name: "Follow" }).click();
  await page
    .getByText(/records in all of the log/)
    .first()
    .waitFor();
  const story = page.getByRole("list", { name: "The operation" });
  await story.getByText("Within the weekly limit").first().waitFor();
  await story.getByText("Order confirmed").first().waitFor();
  assert.ok((await story.getByRole("listitem").count()) >= 3);
});

test("a request is followed across limits, key and end", async () => {
  const { stack } = held;
  await stack.send("/orders", { tenant: "globex", method: "POST", key: "once", body: "{}" });
  const found = await waitFor(async () => {
    const { events } = await stack.ask("/v1/audit?type=request&limit=1000");
    return events.find((event) => event.tenant_id === "globex");
  }, "the request's record");
  const page = await audit(`#/audit/${found.request_id}`);
  await page
    .getByText(/records in all of the log/)
    .first()
    .waitFor();
  const story = page.getByRole("list", { name: "The operation" });
  await story.getByText("Allowed by the limits").first().waitFor();
  await story.getByText(/^(Key|Answer kept)/).first().waitFor();
  await story
    .getByText(/Request ended: applied/)
    .first()
    .waitFor();
});

test("an operation is followed into its task, whoever worked on it", async () => {
  const { stack } = held;
  const task = { task_type: "ship" };
  const { id } = await stack.ask("/v1/tasks", task, "POST", part_of("basket-7"));
  // A worker of its own at the queue's folder: nothing of it passes through the server.
  const code = await stack.run(
    ...["work", "--config", "pawl.yaml", "--once", "--type", "ship", "--exec", "true"],
  );
  assert.equal(code, 0);
  for (const thread of ["basket-7", id]) {
    const page = await audit(`#/audit/${thread}`);
    const steps = await stepsOf(page, "Task completed");
    const place = (text) => steps.findIndex((step) => step.startsWith(text));
    assert.ok(place("A task was asked for") === 0, steps.join("\n"));
    assert.ok(place("Task pending") > 0, steps.join("\n"));
    assert.ok(place("Task pending") < place("Task running"), steps.join("\n"));
    assert.ok(place("Task running") < place("Task completed"), steps.join("\n"));
    await page.getByRole("link", { name: id }).first().click();
    await page.getByRole("heading", { name: id }).waitFor();
  }
});

test("an operation is followed into its order, also while it is placed", async () => {
  const { stack } = held;
  const open = await audit("#/audit/basket-1");
  await open.getByText("No matching records").first().waitFor();
  await stack.order("o-1", part_of("basket-1"));
  const own = await stepsOf(await audit("#/audit/o-1"), "Order confirmed");
  assert.ok(own.some((step) => step.startsWith("An order was asked for")), own.join("\n"));
  assert.ok(own.some((step) => step.startsWith("Within the weekly limit")), own.join("\n"));
  for (const page of [open, await audit("#/audit/basket-1")])
    assert.deepEqual(await stepsOf(page, "Order confirmed"), own);
});

test("an operation is followed into an order that was there before it", async () => {
  const { stack } = held;
  await stack.order("o-2");
  const open = await audit("#/audit/basket-2");
  await open.getByText("No matching records").first().waitFor();
  await stack.order("o-2", part_of("basket-2")); // it gets the first answer
  const own = await stepsOf(await audit("#/audit/o-2"), "An order was asked for");
  assert.deepEqual(await stepsOf(open, "Order confirmed"), own);
});

test("an operation of more names than are followed says so", async () => {
  for (let i = 0; i < 17; i++)
    await held.stack.ask("/v1/tasks", { task_type: "many" }, "POST", part_of("basket-17"));
  const page = await audit("#/audit/basket-17");
  await page.getByText(/It goes by 18 names, of which 16 are followed/).waitFor();
});

test("one operation is followed across limits, retries, idempotency, order and task", async () => {
  const { stack } = held;
  const name = "basket-all";
  const headers = { "X-Tenant-Id": "initech", "Idempotency-Key": "all-1", ...part_of(name) };
  const url = `http://127.0.0.1:${stack.ports.guarded}/orders`;
  await fetch(url, { method: "POST", headers, body: "{}" });
  await stack.order("o-all-1", part_of(name));
  await stack.order("o-all-2", part_of(name));
  await stack.ask("/v1/tasks", { task_type: "all" }, "POST", part_of(name));
  await stack.ask("/v1/webhooks/events", { id: name, type: "order.placed", data: {} });
  const page = await audit(`#/audit/${name}`);
  await page.getByText(/records in all of the log/).waitFor();
  const story = page.getByRole("list", { name: "The operation" });
  for (const text of [
    "Allowed by the limits",
    "Answer kept",
    "An order was asked for",
    "Within the weekly limit",
    "Order confirmed",
    "A task was asked for",
    "Task pending",
    /^Attempt 1 of \d+ failed/,
  ])
    await story.getByText(text).first().waitFor();
  const limit = story.getByRole("listitem").filter({ hasText: "Allowed by the limits" });
  await limit.getByText(/\d+ of \d+/).first().waitFor(); // why
  for (const reference of ["o-all-1", "o-all-2"]) {
    const confirmed = story.getByRole("listitem").filter({ hasText: "Order confirmed" });
    await confirmed.getByRole("link", { name: reference }).first().waitFor();
  }
});

test("a retry is followed", async () => {
  const { stack } = held;
  await stack.ask("/v1/webhooks/events", { id: "evt-1", type: "order.placed", data: {} });
  const found = await waitFor(async () => {
    const { events } = await stack.ask("/v1/audit?type=retry_attempt&limit=1000");
    return events[0];
  }, "a retry");
  const thread = found.correlation_id ?? found.request_id;
  await stepsOf(await audit(`#/audit/${thread}`), /^Attempt 1 of \d+ failed/);
});

test("a tab that nobody sees asks for nothing", async () => {
  const page = await held.stack.signIn();
  await page.clock.install();
  await page.goto(`${held.stack.panel}#/audit/story-1`);
  await stepsOf(page, "Order confirmed");
  let asked = 0;
  page.on("request", (request) => (asked += request.url().includes("thread=story-1")));
  await turnTo(page, { hidden: true });
  await page.clock.runFor(60_000);
  assert.equal(asked, 0);
  await turnTo(page, { hidden: false });
  await page.clock.runFor(60_000);
  await waitFor(() => asked > 0, "it to go on");
});

test("the kinds are told whole, the longest too", async () => {
  const kinds = ["operation_resumed", "retry_succeeded", "retry_exhausted", "limit_near"];
  const events = kinds.map((event_type, i) => ({
    seq: i + 1,
    event_type,
    timestamp: "2026-01-01T00:00:00Z",
    operation: "POST /orders",
  }));
  const page = await held.stack.signIn();
  await page.route("**/v1/audit?*", (route) =>
    route.fulfill({ json: { events, more: false, next: events.length } }),
  );
  await page.goto(`${held.stack.panel}#/audit`);
  const badges = page.getByRole("cell").locator(".badge");
  await waitFor(async () => (await badges.count()) === kinds.length, "the records");
  const cut = (all) =>
    all.filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.textContent);
  for (const width of [1280, 1024]) {
    await page.setViewportSize({ width, height: 900 });
    assert.deepEqual(await badges.evaluateAll(cut), []);
    assert.deepEqual(await page.getByRole("row").evaluateAll(cut), []);
  }
});

test("the number of a record and what it is about are not cut, on a long log too", async () => {
  const page = await held.stack.signIn();
  for (const newest of [20_123, 1_234_567]) {
    const events = [newest - 1, newest].map((seq) => ({
      seq,
      event_type: "request",
      timestamp: "2026-01-01T00:00:00Z",
      operation: "POST /orders",
      outcome: "applied",
      status: 200,
    }));
    await page.route("**/v1/audit?*", (route) =>
      route.fulfill({ json: { events, more: false, next: newest } }),
    );
    await page.goto(`${held.stack.panel}#/policies`);
    await page.goto(`${held.stack.panel}#/audit`);
    const cells = page.getByRole("cell");
    await cells.filter({ hasText: newest.toLocaleString("en") }).waitFor();
    for (const width of [1280, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      const cut = (all) =>
        all.filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.textContent);
      assert.deepEqual(await cells.evaluateAll(cut), [], `${width} pixels wide`);
    }
  }
});

test("a name that nothing has is told", async () => {
  const page = await audit("#/audit/nothing");
  await page.getByText("No matching records").first().waitFor();
});

test("a rare kind is found however far back, and how far was looked is told", async () => {
  const { stack } = held;
  const pieceBytes = 4 * 1024 * 1024;
  const log = join(stack.folder, "audit.jsonl");
  const before = statSync(log).size;
  while (statSync(log).size < before + 1.5 * pieceBytes)
    await Promise.all(Array.from({ length: 64 }, () => stack.send("/x", { tenant: "busy" })));
  const page = await stack.signIn();
  const asked = [];
  page.on("request", (request) => asked.push(new URL(request.url())));
  await page.goto(`${stack.panel}#/audit?type=quota`);
  await page.getByRole("button", { name: "Within the weekly limit" }).first().waitFor();
  await page.getByText(/, of all of the log/).waitFor();
  assert.ok(asked.some((url) => url.searchParams.has("before")), "piece by piece");
  await page.getByLabel("Kind").selectOption("");
  await page.getByText("the newest 1,000 records").waitFor();
});

test("where no log can be read, that is told and nothing is asked for", async () => {
  const { stack } = held;
  const page = await stack.browse();
  await page.route("**/v1/session", async (route) => {
    const response = await route.fetch();
    if (!response.ok()) return route.fulfill({ response });
    return route.fulfill({ response, json: { ...(await response.json()), audit: false } });
  });
  await stack.signInOn(page);
  await page.goto(`${stack.panel}#/audit`);
  await page.getByText("No log to read here").waitFor();
  assert.equal(await page.getByRole("button", { name: "Follow" }).count(), 0);
  await page.goto(`${stack.panel}#/orders/o-1`);
  const story = page.locator(".card").filter({ hasText: "What happened" });
  await story.getByText("No log to read here").waitFor();
});

test("a record that was changed breaks the chain, and is named", async () => {
  const file = join(held.stack.folder, "audit.jsonl");
  const page = await audit();
  await page
    .getByText(/Chain verified/)
    .first()
    .waitFor();
  const lines = readFileSync(file, "utf8").split("\n");
  const at = lines.findIndex((line) => line.includes('"event_type":"quota"'));
  const { seq } = JSON.parse(lines[at]);
  lines[at] = lines[at].replace('"used":0', '"used":9');
  writeFileSync(file, lines.join("\n"));
  await page.getByRole("button", { name: "Verify again" }).click();
  await waitFor(
    async () =>
      (await page.getByText(/Chain broken/).textContent()).includes(`record ${seq} was changed`),
    "the flaw",
  );
});

test("on a phone a broken chain is told whole, and within the page", async () => {
  const page = await held.stack.signIn({ viewport: { width: 360, height: 740 } });
  await page.goto(`${held.stack.panel}#/audit`);
  const mark = page.locator(".chain .badge");
  await mark.getByText(/Chain broken/).waitFor();
  const { x, width } = await mark.boundingBox();
  assert.ok(x >= 0 && x + width <= 360, `from ${x}, ${width} wide`);
  assert.equal(await mark.evaluate((each) => each.scrollWidth - each.clientWidth), 0);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
});
