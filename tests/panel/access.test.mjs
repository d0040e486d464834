// Goal: every page is usable by everybody: by ear, by keyboard, on a phone, in the dark. Method:
// axe-core on each, the width of what is drawn, and the tab key.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { axe, fillOrder, Stack, waitFor, withStack } from "./stack.mjs";

const ids = {};
const held = withStack({ before, after }, { hook: "/hook" }, async (stack) => {
  await stack.ask("/v1/webhooks/events", { id: "evt-1", type: "test" }); // a record of no tenant
  for (let i = 0; i < 9; i++) await stack.send("/x", { method: "POST", key: `k${i}`, body: "{}" });
  await stack.send("/fail", { method: "POST", key: "lost", body: "{}" });
  await stack.order("ref-1");
  await stack.loseOrder("ref-2");
  for (let i = 0; i < 5; i++)
    ids.task = (await stack.ask("/v1/tasks", { task_type: "call_api", key: "a" })).id;
});
const pages = () => [
  "#/overview",
  "#/tenants",
  "#/tenants/acme",
  "#/idempotency",
  "#/orders",
  "#/orders/ref-2",
  "#/tasks",
  `#/tasks/${ids.task}`,
  "#/audit",
  "#/audit/ref-1",
  "#/policies",
];

async function settled(page) {
  await page.getByRole("heading", { level: 1 }).first().waitFor({ state: "attached" });
  await waitFor(async () => (await page.locator(".loading").count()) === 0, "the page to be there");
}

async function findings(page) {
  await page.evaluate(await axeSource());
  const found = await page.evaluate(() => window.axe.run());
  return found.violations
    .filter((each) => each.impact === "serious" || each.impact === "critical")
    .map((each) => `${each.id}: ${each.nodes.map((node) => node.html).join(" | ")}`);
}

let source;
async function axeSource() {
  source ??= (await import("node:fs")).readFileSync(axe, "utf8");
  return source;
}

for (const [colorScheme, width] of [
  ["light", 1280],
  ["dark", 1280],
  ["light", 360],
  ["dark", 360],
  ["light", 3840],
  ["dark", 3840],
]) {
  test(`no page has a serious finding, ${colorScheme}, ${width} pixels wide`, async () => {
    const page = await held.stack.signIn({ colorScheme, viewport: { width, height: 800 } });
    for (const hash of pages()) {
      await page.goto(held.stack.panel + hash);
      await settled(page);
      assert.deepEqual(await findings(page), [], hash);
    }
    assert.deepEqual(page.complaints, []);
    await page.context().close(); // so many watch at once, and no more
  });
}

test("the sign-in has none either, nor have pages where nothing ever happened", async () => {
  const stack = await Stack.start();
  try {
    for (const colorScheme of ["light", "dark"]) {
      const page = await stack.browse({ colorScheme });
      await page.goto(stack.panel);
      await page.getByLabel("Token").waitFor();
      assert.deepEqual(await findings(page), [], colorScheme);
    }
    const inside = await stack.signIn();
    for (const hash of ["#/tenants", "#/idempotency", "#/orders", "#/tasks"]) {
      await inside.goto(stack.panel + hash);
      await settled(inside);
      await inside.locator(".empty").first().waitFor();
      assert.deepEqual(await findings(inside), [], hash);
    }
  } finally {
    await stack.stop();
  }
});

// Where it is opened from, by what, and what is pressed inside.
const dialogs = [
  ["#/orders", "Place an order"],
  ["#/orders", "Reconcile all"],
  ["#/orders/ref-2", "Resolve"],
  ["#/orders/ref-2", "Reconcile"],
  ["#/tenants/acme", "Change plan"],
  ["#/tenants/acme", "Reset"],
  ["#/idempotency", "lost", "It was executed"],
  ["#/idempotency", "lost", "Forget the key"],
  ["#/tasks", "Close a key"],
  ["#/audit", /Allowed by the limits|Order confirmed|Request ended/],
];

for (const colorScheme of ["light", "dark"]) {
  test(`no dialog has one, and each gives the focus back, ${colorScheme}`, async () => {
    const page = await held.stack.signIn({ colorScheme });
    for (const [hash, name, inside] of dialogs) {
      await page.goto(held.stack.panel + hash);
      await settled(page);
      const opener = page.getByRole("button", { name }).first();
      await opener.focus();
      await page.keyboard.press("Enter");
      const dialog = page.getByRole("dialog");
      await dialog.waitFor();
      if (inside) await dialog.getByRole("button", { name: inside }).click();
      const isInForm = await page.evaluate(() => document.activeElement.closest("form") !== null);
      assert.equal(isInForm, (await dialog.locator("form").count()) > 0, `focus of ${name}`);
      const { top, bottom } = await dialog.evaluate((each) => each.getBoundingClientRect());
      assert.ok(Math.abs(top - (900 - bottom)) < 4, `${name} stands in the middle`);
      assert.deepEqual(await findings(page), [], String(name));
      const text = await opener.evaluate((element) => element.textContent);
      await page.keyboard.press("Escape");
      await waitFor(async () => (await dialog.count()) === 0, "the dialog to close");
      const focused = await page.evaluate(() => document.activeElement.textContent);
      assert.equal(focused, text);
    }
  });
}

test("a record of nobody's in particular has no link to a tenant", async () => {
  const page = await held.stack.signIn();
  await page.goto(`${held.stack.panel}#/idempotency?key=evt-1`);
  const row = page.getByRole("row").filter({ hasText: "evt-1" });
  await row.getByText("–").last().waitFor();
  assert.equal(await row.getByRole("link").count(), 0);
  await row.getByRole("button").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("pawl's own").waitFor();
  assert.equal(await dialog.getByRole("link").count(), 0);
  assert.equal(await dialog.getByRole("button", { name: "Forget the key" }).count(), 0);
});

test("buttons say by ear what they are about, and the title which page it is", async () => {
  const { stack } = held;
  for (const name of ["b", "c"])
    await stack.ask("/v1/queue/close", { scope: "key", name, for_seconds: 60 });
  const page = await stack.signIn();
  for (const [hash, button, title] of [
    ["#/tenants/acme", "Reset calls", "acme · Tenants · pawl"],
    ["#/tasks", "Open now: key c", "Tasks · pawl"],
    ["#/orders/ref-1", "Cancel", "ref-1 · Orders · pawl"],
    [`#/tasks/${ids.task}`, "Cancel", `${ids.task} · Tasks · pawl`],
  ]) {
    await page.goto(stack.panel + hash);
    await page.getByRole("button", { name: button, exact: true }).waitFor();
    assert.equal(await page.title(), title);
  }
  for (const name of ["b", "c"])
    await stack.ask("/v1/queue/close", { scope: "key", name, for_seconds: 0 });
});

test("where what opened a dialog is gone, the page has the focus", async () => {
  const { stack } = held;
  await stack.send("/x", { tenant: "other", method: "POST", key: "to-go", body: "{}" });
  const page = await stack.signIn();
  await page.goto(`${stack.panel}#/idempotency`);
  const opener = page.getByRole("button", { name: "to-go" });
  await opener.click();
  await page.getByRole("dialog").waitFor();
  await stack.ask("/v1/idempotency/other/to-go", undefined, "DELETE");
  const told = 2; // by the dialog, which is in front of the row
  await waitFor(async () => (await page.getByText("to-go").count()) === told, "the row to go");
  await page.keyboard.press("Escape");
  await waitFor(
    async () => (await page.evaluate(() => document.activeElement.id)) === "main",
    "the page to have the focus",
  );
});

test("pages that wait, that failed, and that lost pawl have none", async () => {
  const stack = await Stack.start();
  try {
    const page = await stack.signIn();
    await page.route("**/v1/usage?*", () => {}); // it never answers
    await page.goto(`${stack.panel}#/tenants`);
    await page.getByRole("status").filter({ hasText: "Loading" }).waitFor();
    assert.deepEqual(await findings(page), []);
    await page.route("**/v1/policies", (route) =>
      route.fulfill({ status: 500, json: { detail: "the plans cannot be read" } }),
    );
    await page.goto(`${stack.panel}#/policies`);
    const alert = page.getByRole("alert").filter({ hasText: "the plans cannot be read" });
    await alert.waitFor();
    assert.deepEqual(await findings(page), []);
    await page.unroute("**/v1/policies");
    await alert.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: "Limits" }).waitFor();
    assert.equal(await alert.count(), 0);
    await page.goto(`${stack.panel}#/orders`);
    await fillOrder(page);
    await stack.kill();
    await page.getByRole("button", { name: "Place it" }).click();
    await page.getByRole("dialog").getByRole("alert").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("region", { name: "Place an order" }).waitFor();
    await page.getByText("Disconnected").waitFor();
    assert.deepEqual(await findings(page), []);
  } finally {
    await stack.stop();
  }
});

for (const width of [360, 3840]) {
  test(`nothing is wider than ${width} pixels`, async () => {
    const page = await held.stack.signIn({ viewport: { width, height: 900 } });
    for (const hash of pages()) {
      await page.goto(held.stack.panel + hash);
      await settled(page);
      const over = await page.evaluate(
        () => document.documentElement.scrollWidth - window.innerWidth,
      );
      assert.ok(over <= 0, `${hash}: ${over} pixels too wide`);
    }
    await page.context().close();
  });
}

test("the keyboard gets everywhere", async () => {
  const page = await held.stack.signIn();
  await page.getByText("Live", { exact: true }).first().waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter"); // the first stop leads past the pages
  assert.equal(await page.evaluate(() => document.activeElement.id), "main");
  await page.getByRole("link", { name: "Audit" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Audit" }).waitFor();
  await waitFor(
    async () => (await page.evaluate(() => document.activeElement.id)) === "main",
    "the page to have the focus",
  );
});

test("a bucket is reset by keyboard alone", async () => {
  const { stack } = held;
  const page = await stack.signIn();
  const before = await stack.times("tenant reset");
  const isAt = (name) =>
    page.evaluate((wanted) => {
      const { activeElement: at } = document;
      return [at.getAttribute("aria-label"), at.textContent.trim()].includes(wanted);
    }, name);
  const tabTo = async (name) => {
    for (let i = 0; i < 60 && !(await isAt(name)); i++) await page.keyboard.press("Tab");
    assert.ok(await isAt(name), name);
  };
  await tabTo("Tenants");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "acme" }).first().waitFor();
  await tabTo("acme");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Reset calls" }).waitFor();
  await tabTo("Reset calls");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await tabTo("Reset");
  await page.keyboard.press("Enter");
  await page.getByText("calls of acme was reset.").first().waitFor();
  assert.equal(await stack.times("tenant reset"), before + 1);
});

test("on a phone what can be done stands in order, and orders are told whole", async () => {
  const { stack } = held;
  const page = await stack.signIn({ viewport: { width: 360, height: 740 } });
  const box = (name) => page.getByRole("button", { name, exact: true }).boundingBox();
  const end = ({ x, width }) => Math.round(x + width);
  await page.goto(`${stack.panel}#/tenants/acme`);
  const [calls, shy] = [await box("Reset calls"), await box("Reset shy")];
  assert.equal(end(calls), end(shy));
  for (const numbers of await page.locator(".bucket-numbers").all()) {
    const { x, y, width, height } = await numbers.boundingBox();
    const reset = [calls, shy].find((each) => each.y < y + height && y < each.y + each.height);
    assert.ok(reset && x + width <= reset.x, "beside its button");
  }
  for (const [hash, one, other] of [
    ["#/orders/ref-2", "Reconcile", "Resolve"],
    ["#/orders", "Reconcile all", "Place an order"],
  ]) {
    await page.goto(stack.panel + hash);
    const [left, right] = [await box(one), await box(other)];
    assert.equal(left.y, right.y, `${hash}: ${one} and ${other}`);
    const heading = await page.getByRole("heading", { level: 1 }).boundingBox();
    assert.ok(left.y >= heading.y + heading.height);
  }
  const terms = page.getByText("buy 0.1 BTC-USDT-SWAP, limit 40000").first();
  assert.equal(await terms.evaluate((each) => each.scrollWidth - each.clientWidth), 0);
});

test("on a phone the pages are behind a button", async () => {
  const page = await held.stack.signIn({ viewport: { width: 360, height: 740 } });
  const pages = page.getByRole("button", { name: "Pages" });
  await pages.getByText("need a person").waitFor();
  await pages.click();
  await page.getByRole("link", { name: "Policies" }).click();
  await page.getByRole("heading", { name: "Policies", exact: true }).waitFor();
});

test("the bar on top keeps its height on a phone, also without a connection", async () => {
  const page = await held.stack.signIn({ viewport: { width: 360, height: 740 } });
  const bar = page.locator("header.top");
  await page.getByText("Live", { exact: true }).waitFor();
  const { height } = await bar.boundingBox();
  await page.evaluate(() => {
    document.querySelector(".connection").textContent = "Disconnected";
  });
  assert.equal((await bar.boundingBox()).height, height);
});

test("no record of the log is cut where there is room for it", async () => {
  const page = await held.stack.signIn();
  await page.goto(`${held.stack.panel}#/audit`);
  const titles = page.locator(".table-view .stack > .link");
  await titles.first().waitFor();
  const cut = await titles.evaluateAll((all) =>
    all.filter((each) => each.scrollWidth > each.clientWidth + 1).map((each) => each.textContent),
  );
  assert.deepEqual(cut, []);
});

test("the theme that was chosen stays", async () => {
  const page = await held.stack.signIn({ colorScheme: "light" });
  await page.getByRole("button", { name: "Use the dark theme" }).click();
  await page.reload();
  await page.getByRole("button", { name: "Use the light theme" }).waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
});
