// Goal: usage is seen, searched and acted on, whatever tenants are called. Method: real requests of
// tenants, one with a hostile name.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Stack, waitFor, withStack } from "./stack.mjs";

const hostile = "<script>alert(1)</script>";
const held = withStack({ before, after }, {}, async (stack) => {
  for (let i = 0; i < 9; i++) await stack.send("/x", { tenant: "acme" });
  for (const tenant of ["globex", hostile]) await stack.send("/x", { tenant });
  for (let i = 0; i < 4; i++) await stack.send("/x", { tenant: "aardvark" }); // beyond the shadow
});

async function tenants() {
  const page = await held.stack.signIn();
  await page.getByRole("link", { name: "Tenants" }).click();
  await page.getByRole("table", { name: "Usage by tenant and bucket" }).waitFor();
  return page;
}

test("who is near a limit stands first, marked, with the way to more", async () => {
  const page = await tenants();
  const first = page.getByRole("row").nth(1);
  await waitFor(async () => (await first.textContent()).includes("acmecalls"), "acme on top");
  const shy = page.getByRole("meter", { name: "aardvark, shy" });
  assert.match(await shy.getAttribute("aria-valuetext"), /^[34] of 3 used$/);
  const meter = page.getByRole("meter", { name: "acme, calls" });
  assert.equal(await meter.getAttribute("aria-valuetext"), "9 of 10 used, near the limit");
  const link = page.getByRole("link", { name: "Get more room" }).first();
  assert.equal(await link.getAttribute("href"), "https://example.org/plans");
});

test("on a phone the numbers and the way to more are there too", async () => {
  const page = await held.stack.signIn({ viewport: { width: 360, height: 740 } });
  await page.goto(`${held.stack.panel}#/tenants?show=near`);
  const row = page.getByRole("row").filter({ hasText: "acme" });
  await row.getByText("9 of 10").waitFor();
  await row.getByRole("link", { name: "Get more room" }).waitFor();
});

test("who has the largest plan is offered no other", async () => {
  const { stack } = held;
  await stack.ask("/v1/tenants/initech/plan", { plan: "tiny" }, "PUT");
  for (let i = 0; i < 2; i++) await stack.send("/x", { tenant: "initech" });
  const page = await tenants();
  const row = page.getByRole("row").filter({ hasText: "initechcalls" });
  await row.getByTitle("At the limit").waitFor();
  assert.equal(await row.getByRole("link", { name: "Get more room" }).count(), 0);
  await row.getByRole("link", { name: "initech" }).click();
  await page.getByText("at the limit, refusing").waitFor();
  assert.equal(await page.getByRole("link", { name: "Get more room" }).count(), 0);
});

test("what is offered is what comes behind the plan of the bucket", async () => {
  const page = await held.stack.signIn();
  // As with an API key that has a plan of its own.
  const ofKey = (usage) => ({
    ...usage,
    next_plan: null,
    buckets: usage.buckets.map((each) => ({ ...each, plan: "free", next_plan: "pro" })),
  });
  await page.route("**/v1/usage?*", async (route) => {
    const { tenants, next } = await (await route.fetch()).json();
    await route.fulfill({ json: { tenants: tenants.map(ofKey), next } });
  });
  await page.route("**/v1/tenants/acme/usage", async (route) =>
    route.fulfill({ json: ofKey(await (await route.fetch()).json()) }),
  );
  await page.goto(`${held.stack.panel}#/tenants?show=near`);
  const row = page.getByRole("row").filter({ hasText: "acmecalls" });
  await row.getByRole("link", { name: "Get more room" }).first().waitFor();
  await row.getByRole("link", { name: "acme" }).click();
  await page.getByText("The next plan is pro.").waitFor();
  await page.getByRole("link", { name: "Get more room" }).waitFor();
});

test("nothing is offered where the settings name no way to more", async () => {
  const stack = await Stack.start({ upgrade: "" });
  try {
    for (let i = 0; i < 9; i++) await stack.send("/x");
    const page = await stack.signIn();
    await page.goto(`${stack.panel}#/tenants/acme`);
    await page.getByText("Near the limit of calls").waitFor();
    assert.equal(await page.getByRole("link", { name: "Get more room" }).count(), 0);
  } finally {
    await stack.stop();
  }
});

test("a search and a sort find a tenant", async () => {
  const page = await tenants();
  await page.getByRole("searchbox").fill("glob calls");
  await waitFor(async () => (await page.getByRole("row").count()) === 2, "one row");
  await page.getByRole("link", { name: "globex" }).waitFor();
  await page.getByRole("searchbox").fill("");
  await page.getByRole("button", { name: "Tenant", exact: true }).click();
  await waitFor(
    async () =>
      (await page.getByRole("columnheader", { name: "Tenant" }).getAttribute("aria-sort")) ===
      "ascending",
    "the sort",
  );
  await waitFor(
    async () => (await page.getByRole("row").nth(1).textContent()).includes("script"),
    "signs before letters",
  );
});

test("a hostile name is text, and its page works", async () => {
  const page = await tenants();
  await page.getByRole("link", { name: hostile }).first().click();
  await page.getByRole("heading", { name: hostile }).waitFor();
  await page.getByRole("meter", { name: "calls" }).waitFor();
  assert.equal(await page.evaluate(() => document.querySelectorAll("main script").length), 0);
  assert.deepEqual(page.complaints, []);
});

test("rows stay where they are below the pointer", async () => {
  const { stack } = held;
  const page = await tenants();
  const row = (i) => page.getByRole("row").nth(i);
  const told = (await row(2).textContent()).slice(0, 8);
  await row(2).hover();
  for (let i = 0; i < 12; i++) await stack.send("/x", { tenant: "zeppelin" }); // at the limit now
  await page.getByRole("meter", { name: "zeppelin, calls" }).waitFor();
  assert.equal((await row(2).textContent()).slice(0, 8), told);
  await page.mouse.move(0, 0);
  await waitFor(async () => (await row(2).textContent()).includes("zeppelin"), "it to rise");
});

test("rows below the pointer move for who sorts them by keyboard", async () => {
  const page = await tenants();
  const first = page.getByRole("row").nth(1);
  await waitFor(async () => !(await first.textContent()).includes("script"), "the usual order");
  await first.hover();
  await page.getByRole("button", { name: "Tenant", exact: true }).focus();
  await page.keyboard.press("Enter");
  await waitFor(async () => (await first.textContent()).includes("script"), "signs on top");
  await page.keyboard.press("Enter");
  await waitFor(async () => !(await first.textContent()).includes("script"), "signs below");
});

test("the order comes back when rows that were below the pointer do", async () => {
  const page = await tenants();
  const names = () => page.getByRole("row").locator("a.strong").allTextContents();
  const usual = await names();
  await page.getByRole("row").nth(1).hover();
  await page.getByRole("searchbox").fill("nobody-like-that");
  await waitFor(async () => (await page.getByRole("row").count()) === 0, "none");
  await page.mouse.move(0, 0);
  await page.getByRole("searchbox").fill("");
  await waitFor(async () => (await names()).join() === usual.join(), "the same order");
});

test("text of a row can be selected, and the way back finds rows as they were left", async () => {
  const page = await tenants();
  const cell = page.getByRole("row").nth(1).getByRole("cell", { name: / of / }).last();
  const { x, y, width, height } = await cell.boundingBox();
  await page.mouse.move(x + width - 2, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + 2, y + height / 2, { steps: 5 });
  await page.mouse.up();
  assert.match(page.url(), /#\/tenants$/);
  assert.notEqual(await page.evaluate(() => String(window.getSelection())), "");
  await page.getByRole("button", { name: "Tenant", exact: true }).click();
  const sort = () =>
    page.getByRole("columnheader", { name: "Tenant" }).getAttribute("aria-sort");
  await waitFor(async () => (await sort()) === "ascending", "the sort");
  await page.getByRole("row").nth(1).getByRole("link").first().click();
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.goBack();
  await page.getByRole("row").nth(1).waitFor();
  assert.equal(await sort(), "ascending");
});

test("arrow keys walk through the rows", async () => {
  const page = await tenants();
  await page.getByRole("row").nth(1).getByRole("link").first().focus();
  await page.keyboard.press("ArrowDown");
  const at = () =>
    page.evaluate(() => document.activeElement.closest("[data-row]")?.getAttribute("data-row"));
  assert.equal(await at(), "1");
  await page.keyboard.press("Home");
  assert.equal(await at(), "0");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1 }).waitFor();
});

test("a bucket is reset once, although the button is pressed twice", async () => {
  const { stack } = held;
  const page = await stack.signIn();
  await page.goto(`${stack.panel}#/tenants/acme`);
  await page.getByRole("button", { name: "Reset" }).first().click();
  const dialog = page.getByRole("dialog", { name: "Reset calls?" });
  await dialog
    .getByText(/Safe to retry/)
    .first()
    .waitFor();
  await dialog.getByRole("button", { name: "Reset" }).dblclick();
  await page.getByText("calls of acme was reset.").first().waitFor();
  await waitFor(async () => {
    const usage = await stack.ask("/v1/tenants/acme/usage");
    return usage.buckets.find((each) => each.bucket === "calls").used === 0;
  }, "the reset");
  assert.equal(await stack.times("tenant reset"), 1);
});

test("a plan is changed once, although it is pressed twice, and the history is drawn", async () => {
  const { stack } = held;
  const page = await stack.signIn();
  await page.goto(`${stack.panel}#/tenants/globex`);
  await page.getByText("plan free").first().waitFor();
  await page.getByRole("button", { name: "Change plan" }).click();
  await page.getByRole("dialog").getByLabel("Plan").selectOption("pro");
  await page.getByRole("dialog").getByText("1000/1h").waitFor(); // what it gives
  await page.getByRole("button", { name: "Change to pro" }).dblclick();
  await page.getByText("plan pro").first().waitFor();
  assert.equal((await stack.ask("/v1/tenants/globex/usage")).plan, "pro");
  const { events } = await stack.ask("/v1/audit?type=config&limit=1000");
  const changes = events.filter((event) => event.operation === "tenant plan");
  assert.equal(changes.filter((event) => event.tenant_id === "globex").length, 1);
  await waitFor(
    async () => (await stack.ask("/v1/tenants/globex/history")).buckets.length > 0,
    "a sample",
  );
  await page.getByRole("img", { name: /calls: now 1, .*limit of calls: now 1,000/ }).waitFor();
  for (const [span, step] of [
    ["1h", "40 s"],
    ["1d", "16 min"],
  ]) {
    await page.getByRole("button", { name: span, exact: true }).click();
    const mean = new RegExp(`limit of calls: mean of the last ${step} [\\d,]+`);
    await page.getByRole("img", { name: mean }).waitFor();
  }
});

test("what is told of a plan is what was asked for, whatever the form says by now", async () => {
  const { stack } = held;
  const page = await stack.signIn();
  await page.goto(`${stack.panel}#/tenants/aardvark`);
  await page.getByRole("button", { name: "Change plan" }).click();
  await page.getByRole("dialog").getByLabel("Plan").selectOption("tiny");
  await page.route("**/v1/tenants/aardvark/plan", (route) => route.abort(), { times: 1 });
  await page.getByRole("button", { name: "Change to tiny" }).click();
  await page.getByRole("dialog").getByText(/is not known/).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Change plan" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Finish it" }).click();
  await page.getByText("aardvark has the plan tiny now.").waitFor();
});

test("what a plot says of now is what the bar above it says", async () => {
  const page = await held.stack.signIn();
  const times = [Math.floor(Date.now() / 1000) - 10];
  const buckets = [{ bucket: "calls", used: [1], limit: [10] }];
  for (let i = 0; i < 3; i++) await held.stack.send("/x", { tenant: "ikarus" });
  await page.route("**/v1/tenants/ikarus/history?*", (route) =>
    route.fulfill({ json: { step_seconds: 10, times, buckets } }),
  );
  await page.goto(`${held.stack.panel}#/tenants/ikarus`);
  const told = page.getByRole("figure").getByText(/^calls/);
  await waitFor(async () => (await told.textContent()) === "calls 3", "three of them");
  await held.stack.send("/x", { tenant: "ikarus" });
  await waitFor(async () => (await told.textContent()) === "calls 4", "four of them");
});

test("buckets that the history has no line for are named", async () => {
  const page = await held.stack.signIn();
  const buckets = Array.from({ length: 8 }, (_, i) => ({ bucket: `b${i}`, used: [1], limit: [2] }));
  await page.route("**/v1/tenants/acme/history?*", (route) =>
    route.fulfill({ json: { step_seconds: 10, times: [1_800_000_000], buckets } }),
  );
  await page.goto(`${held.stack.panel}#/tenants/acme`);
  await page.getByText("And 2 more: b6, b7.").waitFor();
});

test("a client without a name is a tenant by its address, reset like one", async () => {
  const { stack } = held;
  const write = { tenant: null, method: "POST", key: "nameless", body: "{}" };
  for (let i = 0; i < 3; i++) await stack.send("/x", write);
  for (let i = 0; i < 2; i++) await stack.send("/x", { tenant: null });
  const page = await tenants();
  await page.getByRole("link", { name: "anonymous@127.0.0.1" }).first().waitFor();
  await page.goto(`${stack.panel}#/idempotency`);
  await page.getByRole("link", { name: "anonymous@127.0.0.1" }).first().click();
  const meter = page.getByRole("meter", { name: "calls" });
  assert.equal(await meter.getAttribute("aria-valuetext"), "3 of 10 used");
  assert.equal(await page.getByRole("button", { name: "Change plan" }).count(), 0);
  await page.getByRole("button", { name: "Reset" }).first().click();
  await page.getByRole("dialog").getByRole("button", { name: "Reset" }).click();
  await page.getByText("calls of anonymous@127.0.0.1 was reset.").first().waitFor();
  await waitFor(
    async () => (await meter.getAttribute("aria-valuetext")) === "0 of 10 used",
    "nothing to be used",
  );
});

test("a tenant that never came is told as one that nothing was counted for", async () => {
  const page = await held.stack.signIn();
  await page.goto(`${held.stack.panel}#/tenants/acmme`);
  await page.getByText("Nothing was counted for this tenant since pawl started.").waitFor();
  await held.stack.send("/x", { tenant: "acmme" });
  await waitFor(
    async () => (await page.getByText("Nothing was counted").count()) === 0,
    "the hint to go",
  );
});

test("what all share stands with each tenant, and is reset for none", async () => {
  const settings = "    - { name: all, scope: everyone, rate: 5/1h }\n";
  const stack = await Stack.start({ buckets: settings });
  try {
    for (const tenant of ["acme", "globex"]) await stack.send("/x", { tenant });
    const page = await stack.signIn();
    await page.goto(`${stack.panel}#/tenants/acme`);
    const shared = page.locator(".bucket").filter({ hasText: "shared by all" });
    await shared.getByText("2 of 5").waitFor();
    assert.equal(await shared.getByRole("button").count(), 0);
    await page.goto(`${stack.panel}#/tenants`);
    await page.getByRole("row").filter({ hasText: "globex" }).first().waitFor();
    assert.equal(await page.getByRole("meter", { name: "globex, all" }).count(), 0);
  } finally {
    await stack.stop();
  }
});
