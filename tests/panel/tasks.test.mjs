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
  await page.getByText("No matching tasks").first().waitFor();
});

test("a task says why it does not run, what it is, and how it became so", async () => {
  const page = await tasks(`#/tasks/${ids.report}`);
  await page
    .getByText(/It is due in \d+ (min|h)\./)
    .first()
    .waitFor();
  await page.getByText("1. pending: created").first().waitFor();
  const hover = await page.locator("main time").first().getAttribute("title");
  assert.match(hover, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d here\n.* \d\d:\d\d:\d\d UTC$/);
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
  await page.getByText("It is cancelled.").first().waitFor();
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

test("a key with blanks around it is the one that is found and closed", async () => {
  const { stack } = held;
  const { id } = await stack.ask("/v1/tasks", { task_type: " sp ", key: " sp " });
  const page = await tasks("#/tasks?type=%20sp%20");
  await page.getByRole("link", { name: `…${id.slice(-10)}` }).click();
  await page.getByRole("button", { name: "Close its key" }).click();
  await page.getByText("Close", { exact: true }).click();
  await page.getByText(/is closed\.$/).first().waitFor();
  const { closings } = await stack.ask("/v1/queue/closings");
  assert.deepEqual(
    closings.filter((each) => each.name.trim() === "sp").map((each) => each.name),
    [" sp "],
  );
  await stack.ask("/v1/queue/close", { scope: "key", name: " sp ", for_seconds: 0 });
  await stack.ask(`/v1/tasks/${id}/cancel`, {});
});

test("a closing is there until pawl's clock says it is over", async () => {
  const { stack } = held;
  const close = (seconds) =>
    stack.ask("/v1/queue/close", { scope: "key", name: "timed", for_seconds: seconds });
  await close(300);
  const page = await stack.browse();
  await page.addInitScript(() => {
    const true_now = Date.now;
    Date.now = () => true_now() + 360_000;
  });
  await stack.signInOn(page);
  await page.goto(`${stack.panel}#/tasks`);
  await page.getByText("key timed").waitFor();
  await page.getByText(/opens in 4 min|opens in 5 min/).first().waitFor();
  await close(0);
});

test("those that were due first stand first, where that is asked for", async () => {
  const { stack } = held;
  const submit = (body) => stack.ask("/v1/tasks", { task_type: "ordered", ...body });
  const late = await submit({ at: "2026-01-01T00:00:00Z" });
  await submit({ delay_seconds: 600 });
  const page = await tasks("#/tasks?type=ordered&order=due");
  const first = page.getByRole("row").nth(1);
  await waitFor(async () => (await first.textContent()).includes(late.id.slice(-10)), "it");
  await first.getByText(/ ago$/).first().waitFor();
  await page.getByLabel("First").selectOption("changed last");
  await waitFor(async () => !(await first.textContent()).includes(late.id.slice(-10)), "the newer");
});

test("a task that was asked to stop says so, and is not asked again", async () => {
  const { stack } = held;
  const page = await stack.signIn();
  await page.route(`**/v1/tasks/${ids.mail}`, async (route) => {
    const task = await (await route.fetch()).json();
    const running = { status: "running", cancel_requested: true, worker_id: "w\u202e1" };
    await route.fulfill({ json: { ...task, ...running, priority: 7, timeout_seconds: 90 } });
  });
  await page.goto(`${stack.panel}#/tasks/${ids.mail}`);
  await page.getByText("It was asked to stop").waitFor();
  await page.getByText("asked to stop", { exact: true }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Cancel" }).count(), 0);
  const facts = page.getByRole("definition");
  await facts.getByText("7", { exact: true }).waitFor();
  await facts.getByText("1 min 30 s a run").waitFor();
  await facts.getByText("w[U+202E]1").waitFor();
});

test("on a phone closings leave room for the list, and headings skip no level", async () => {
  const { stack } = held;
  const close = (seconds) => (name) =>
    stack.ask("/v1/queue/close", { scope: "key", name, for_seconds: seconds });
  const keys = ["k1", "k2", "k3"];
  await Promise.all(keys.map(close(600)));
  const page = await stack.signIn({ viewport: { width: 360, height: 740 } });
  await page.goto(`${stack.panel}#/tasks`);
  const closings = page.getByRole("heading", { name: "3 closings" });
  await closings.waitFor();
  assert.equal(await page.getByText("key k1").isVisible(), false);
  await closings.click();
  await page.getByText("key k1").waitFor();
  const levels = await page.locator("main :is(h1, h2, h3)").evaluateAll((all) => {
    return all.map((each) => Number(each.tagName[1]));
  });
  levels.reduce((before, level) => (assert.ok(level <= before + 1, levels.join()), level), 0);
  await Promise.all(keys.map(close(0)));
});

test("hostile keys and types are text, and turn nothing that stands beside them", async () => {
  const { stack } = held;
  const turned = "acme\u202egpj.exe";
  const { id } = await stack.ask("/v1/tasks", {
    task_type: "<img src=x onerror=alert(1)>\u2067type",
    key: turned,
    delay_seconds: 3600,
  });
  await stack.ask("/v1/queue/close", { scope: "key", name: turned, for_seconds: 600 });
  const page = await tasks();
  const row = page.getByRole("row").filter({ hasText: "acme[U+202E]gpj.exe" });
  await row.getByText("<img src=x onerror=alert(1)>[U+2067]type").last().waitFor();
  await page.getByText("key acme[U+202E]gpj.exe").first().waitFor();
  await page.goto(`${stack.panel}#/tasks/${id}`);
  await page.getByText("acme[U+202E]gpj.exe").first().waitFor();
  await page.getByRole("button", { name: "Close its key" }).click();
  const field = page.getByRole("dialog").getByLabel("Name of the key");
  assert.equal(await field.inputValue(), turned, "what is sent is the name itself");
  await page.keyboard.press("Escape");
  await page.route("**/why", (route) =>
    route.fulfill({
      json: {
        hold: "closed",
        scope: "key",
        name: turned,
        until: new Date(Date.now() + 600_000).toISOString(),
        ahead: 0,
        worker: null,
      },
    }),
  );
  await page.locator("bdi", { hasText: "acme[U+202E]gpj.exe" }).waitFor();
  const drawn = await page.evaluate(() => document.body.innerText);
  assert.doesNotMatch(drawn, /[\u202a-\u202e\u2066-\u2069]/);
  assert.equal(await page.locator("main img").count(), 0);
  await stack.ask("/v1/queue/close", { scope: "key", name: turned, for_seconds: 0 });
  await stack.ask(`/v1/tasks/${id}/cancel`, {});
  assert.deepEqual(page.complaints, []);
});

test("a task that does not exist is told as that, with the way back", async () => {
  const page = await tasks("#/tasks/00112233445566778899aabb");
  await page.getByText("No such task").waitFor();
  assert.equal(await page.getByText("That did not work").count(), 0);
  await page.locator(".back").click();
  await page.getByRole("heading", { name: "Tasks", exact: true }).waitFor();
});

test("tasks are found by their key", async () => {
  const { stack } = held;
  const { id } = await stack.ask("/v1/tasks", { task_type: "keyed", key: "of-acme" });
  await stack.ask("/v1/tasks", { task_type: "keyed", key: "of-zoe" });
  const page = await tasks();
  await page.getByRole("searchbox", { name: "Key" }).fill("of-acme");
  await waitFor(async () => (await page.getByRole("row").count()) === 2, "one of them");
  await page.getByRole("link", { name: `…${id.slice(-10)}` }).waitFor();
});

test("times are those of where one is, with UTC on hover", async () => {
  const { stack } = held;
  const { id } = await stack.ask("/v1/tasks", { task_type: "t", at: "2030-06-01T20:00:00Z" });
  const page = await stack.signIn({ timezoneId: "Asia/Kolkata" });
  await page.goto(`${stack.panel}#/tasks/${id}`);
  const due = page.locator('time[datetime^="2030-06-01T20:00:00"]').first();
  await due.waitFor();
  assert.match(await due.textContent(), /01:30/);
  assert.match(
    await due.getAttribute("title"),
    /^2030-06-02 01:30:00 here\n2030-06-01 20:00:00 UTC$/,
  );
});
