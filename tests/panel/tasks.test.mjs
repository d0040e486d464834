// Goal: tasks are found, explained, cancelled, replayed and held back. Method: a real queue in a
// folder.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { waitFor, withStack } from "./stack.mjs";

const ids = {};
const held = withStack({ before, after }, {}, async (stack) => {
  const submit = async (body) => (await stack.ask("/v1/tasks", body)).id;
  ids.mail = await submit({
    task_type: "send_mail",
    key: "example.org",
    input: { to: "<b>bold</b>" },
  });
  ids.report = await submit({ task_type: "report", delay_seconds: 3600 });
});

async function tasks(hash = "#/tasks") {
  const page = await held.stack.signIn();
  await page.goto(held.stack.panel + hash);
  return page;
}

test("tasks are listed and filtered by state and type", async () => {
  const page = await tasks();
  const table = page.getByRole("table", { name: "Tasks" });
  await table.waitFor();
  await waitFor(async () => (await page.getByRole("row").count()) === 3, "two tasks");
  await page.getByRole("searchbox", { name: "Type" }).fill("report");
  await waitFor(async () => (await page.getByRole("row").count()) === 2, "one of them");
  await page.getByRole("button", { name: "Failed" }).click();
  await page.getByText("No tasks").first().waitFor();
});

test("a task says why it does not run, what it is, and how it became so", async () => {
  const page = await tasks(`#/tasks/${ids.report}`);
  await page
    .getByText(/It is due in \d+ (min|h)\./)
    .first()
    .waitFor();
  await page.getByText("1. pending: created").first().waitFor();
  await page.goto(`${held.stack.panel}#/tasks/${ids.mail}`);
  await page.getByText("<b>bold</b>").first().waitFor();
  await page
    .getByText(/no worker has asked for its type/)
    .first()
    .waitFor();
});

test("a key is closed and opened again, and its task says so", async () => {
  const page = await tasks(`#/tasks/${ids.mail}`);
  await page.getByRole("button", { name: "Close its key" }).click();
  await page
    .getByRole("dialog")
    .getByText(/Safe to retry/)
    .first()
    .waitFor();
  await page.getByRole("button", { name: "Close", exact: true }).last().dblclick();
  await page.getByText("The key example.org is closed.").first().waitFor();
  assert.equal(await page.locator(".toast").count(), 1);
  assert.equal(await held.stack.times("queue close"), 1);
  await page
    .getByText(/The key example.org is closed/)
    .first()
    .waitFor();
  await page.getByRole("link", { name: "Tasks" }).last().click();
  await page.getByRole("button", { name: "Open now" }).click();
  await page.getByRole("button", { name: "Open it" }).dblclick();
  await page.getByText("It is open.").first().waitFor();
  assert.equal(await held.stack.times("queue close"), 2);
});

test("a closing whose answer got lost is another one than that of this key", async () => {
  const page = await tasks();
  const answerless = async (route) => {
    await route.fetch();
    await route.abort("connectionreset");
  };
  await page.getByRole("button", { name: "Close a key" }).click();
  await page.getByLabel("Name of the key").fill("other.org");
  await page.route("**/v1/queue/close", answerless, { times: 1 });
  await page.getByRole("button", { name: "Close", exact: true }).last().click();
  await page.getByRole("dialog").getByText(/is not known/).waitFor();
  await page.keyboard.press("Escape");
  await page.goto(`${held.stack.panel}#/tasks/${ids.mail}`);
  await page.getByRole("button", { name: "Close its key" }).click();
  await page.getByRole("button", { name: "Close", exact: true }).last().click();
  await page.getByText("The key example.org is closed.").first().waitFor();
  const begun = page.getByRole("region", { name: "Close the key other.org" });
  await begun.getByRole("button", { name: "Finish it" }).click();
  await page.getByText("Close the key other.org: done.").waitFor();
  const { closings } = await held.stack.ask("/v1/queue/closings");
  for (const { scope, name } of closings)
    await held.stack.ask("/v1/queue/close", { scope, name, for_seconds: 0 });
});

test("a filter that has no answer yet shows none of what another one found", async () => {
  const page = await tasks();
  await page.getByRole("row").filter({ hasText: "pending" }).first().waitFor();
  await page.route(/\/v1\/tasks\?.*status=failed/, () => {}); // it never answers
  await page.getByRole("button", { name: "Failed" }).click();
  await page.locator("main .loading").waitFor();
  assert.equal(await page.getByRole("row").count(), 0);
});

test("filters stand in the address: a reload and the way back keep them", async () => {
  const page = await tasks();
  await page.getByRole("button", { name: "Pending" }).click();
  await page.getByRole("searchbox", { name: "Type" }).fill("report");
  await waitFor(async () => (await page.getByRole("row").count()) === 2, "one task");
  assert.match(page.url(), /#\/tasks\?status=pending&type=report$/);
  await page.reload();
  await waitFor(async () => (await page.getByRole("row").count()) === 2, "still one");
  await page.getByRole("link", { name: `…${ids.report.slice(-10)}` }).click();
  await page.getByRole("heading", { name: ids.report }).waitFor();
  await page.getByRole("main").getByRole("link", { name: "Tasks" }).click();
  await waitFor(async () => (await page.getByRole("row").count()) === 2, "the same one");
  await page.getByRole("navigation").getByRole("link", { name: "Tasks" }).click();
  await waitFor(async () => (await page.getByRole("row").count()) === 3, "all of them");
});

test("a task is cancelled once, although the button is pressed twice, and replayed", async () => {
  const page = await tasks(`#/tasks/${ids.mail}`);
  await page.getByRole("button", { name: "Cancel", exact: true }).click();
  await page.getByLabel(/Why\?/).fill("not needed");
  await page.getByRole("button", { name: "Cancel the task" }).dblclick();
  await page.getByText("It is cancelled, or asked to stop.").first().waitFor();
  assert.equal(await held.stack.times("task cancel"), 1);
  await page.getByRole("button", { name: "Replay" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Replay" }).dblclick();
  await page.getByText("It is pending again.").first().waitFor();
  assert.equal(await held.stack.times("task replay"), 1);
  await waitFor(
    async () => (await held.stack.ask(`/v1/tasks/${ids.mail}`)).status === "pending",
    "the replay",
  );
  await page
    .getByText(/\d+\. cancelled/)
    .first()
    .waitFor();
});
