// Goal: one operation is followed through the log, and a log that was changed shows. Method: a real
// order, and a log edited by hand.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { waitFor, withStack } from "./stack.mjs";

const held = withStack({ before, after }, {}, async (stack) => {
  await stack.send("/x", { tenant: "acme" });
  await stack.order("story-1");
});

async function audit(hash = "#/audit") {
  const page = await held.stack.signIn();
  await page.goto(held.stack.panel + hash);
  return page;
}

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
  await story
    .getByText(/Request ended: applied/)
    .first()
    .waitFor();
});

test("an operation is followed into its task, whoever worked on it", async () => {
  const { stack } = held;
  const { id } = await stack.ask("/v1/tasks", {
    task_type: "ship",
    correlation_id: "basket-7",
  });
  // A worker of its own at the queue's folder: nothing of it passes through the server.
  const code = await stack.run(
    ...["work", "--queue", "dir:queue", "--once", "--type", "ship", "--exec", "true"],
  );
  assert.equal(code, 0);
  for (const thread of ["basket-7", id]) {
    const page = await audit(`#/audit/${thread}`);
    const story = page.getByRole("list", { name: "The operation" });
    await story.getByText("Task completed").first().waitFor();
    const steps = await story.getByRole("listitem").allTextContents();
    const place = (text) => steps.findIndex((step) => step.startsWith(text));
    assert.ok(place("task submit") === 0, steps.join("\n"));
    assert.ok(place("Task pending") < place("Task running"), steps.join("\n"));
    assert.ok(place("Task running") < place("Task completed"), steps.join("\n"));
    await story.getByRole("link", { name: id }).first().click();
    await page.getByRole("heading", { name: id }).waitFor();
  }
});

test("a name that nothing has is told", async () => {
  const page = await audit("#/audit/nothing");
  await page.getByText("Nothing by that name").first().waitFor();
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
