// Goal: orders are placed once, followed, cancelled and resolved. Method: an emulated venue, which
// loses answers where it is told to.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { fillOrder, Stack, waitFor, withStack } from "./stack.mjs";

const held = withStack({ before, after }, { weekly: 10 });

async function orders(hash = "#/orders") {
  const page = await held.stack.signIn();
  await page.goto(held.stack.panel + hash);
  return page;
}

test("an order is placed once, although the button is pressed twice", async () => {
  const { stack } = held;
  const page = await orders();
  await page.getByRole("meter", { name: "Weekly orders" }).waitFor();
  await fillOrder(page);
  await page
    .getByText(/Safe to retry/)
    .first()
    .waitFor();
  await page.getByRole("button", { name: "Place it" }).dblclick();
  await page.getByText("The order is confirmed.").first().waitFor();
  assert.equal((await stack.market_orders()).length, 1);
  await page.getByRole("heading", { name: /^panel-/ }).waitFor();
  await page.getByText("Within the weekly limit").first().waitFor();
  await page.getByText("Order confirmed").first().waitFor();
});

test("the week shows its slots, and orders are found", async () => {
  const page = await orders();
  const meter = page.getByRole("meter", { name: "Weekly orders" });
  await waitFor(
    async () => (await meter.getAttribute("aria-valuetext")) === "1 of 10 used",
    "one slot",
  );
  await page.getByRole("searchbox").fill("btc buy");
  await waitFor(async () => (await page.getByRole("row").count()) === 2, "the order");
  await page.getByRole("button", { name: "Rejected" }).click();
  await page.getByText("No matching orders").first().waitFor();
});

test("an order is cancelled once, although the button is pressed twice", async () => {
  const { stack } = held;
  await stack.order("to-cancel");
  const page = await orders("#/orders/to-cancel");
  let asked = 0;
  page.on("request", (request) => {
    if (request.method() === "POST" && request.url().endsWith("/cancel")) asked += 1;
  });
  await page.getByRole("button", { name: "Cancel", exact: true }).click();
  await page.getByRole("button", { name: "Cancel the order" }).dblclick();
  await page.getByText("The order is canceled.").first().waitFor();
  assert.equal(asked, 1);
});

test("a cancel that comes too late is not told as one", async () => {
  const { stack } = held;
  await stack.order("too-late");
  const page = await orders("#/orders/too-late");
  await page.getByRole("button", { name: "Cancel", exact: true }).click();
  const { order_id: id } = await stack.ask("/v1/orders/too-late/status");
  await fetch(`http://127.0.0.1:${stack.ports.control}/orders/${id}/fill`, {
    method: "POST",
    body: "{}",
  });
  await page.getByRole("button", { name: "Cancel the order" }).click();
  await page
    .getByText(/^Not canceled: it was filled before\./)
    .first()
    .waitFor();
});

test("who looks for an order older than the page has is told where it may be", async () => {
  const { stack } = held;
  await stack.order("old-one");
  const page = await stack.signIn();
  await page.route("**/v1/orders?limit=1000", async (route) => {
    const { orders: found } = await (await route.fetch()).json();
    const rows = Array.from({ length: 1000 }, (_, i) => ({
      ...found[0],
      external_reference: `new-${i}`,
    }));
    await route.fulfill({ json: { orders: rows } });
  });
  await page.goto(`${stack.panel}#/orders`);
  await page.getByText("Showing 1,000 orders, those placed last.").waitFor();
  await page.getByRole("searchbox").fill("old-one");
  await page.getByRole("link", { name: "Look for the reference old-one" }).click();
  await page.getByText("Order confirmed").first().waitFor();
});

test("where the columns have no room there are fewer, and none is cut off", async () => {
  const page = await held.stack.signIn({ viewport: { width: 1000, height: 800 } });
  await page.goto(`${held.stack.panel}#/orders`);
  const head = page.locator(".table-head .row");
  await head.waitFor();
  const cut = () => head.evaluate((row) => row.scrollWidth - row.clientWidth);
  assert.equal(await cut(), 0);
  assert.equal(await page.getByRole("columnheader", { name: "Attempts" }).count(), 0);
  await page.getByRole("row").nth(1).getByText("buy").first().waitFor();
  await page.setViewportSize({ width: 1600, height: 800 });
  await page.getByRole("columnheader", { name: "Attempts" }).waitFor();
  assert.equal(await cut(), 0);
});

test("an order of unknown outcome needs a person, who resolves it with a reason", async () => {
  const { stack } = held;
  await stack.loseOrder("lost-1");
  const page = await orders("#/overview");
  await page.getByRole("heading", { name: "1 order unresolved" }).waitFor();
  await page.getByRole("link", { name: "See it" }).first().click();
  await page.getByRole("link", { name: "lost-1" }).click();
  await page
    .getByText(/Nobody knows yet whether the venue has it/)
    .first()
    .waitFor();
  await page.getByRole("button", { name: "Resolve" }).click();
  await page.getByLabel("The venue's order id").fill("  12345 ");
  await page.getByLabel("How do you know?").fill("seen on their screen");
  await page.getByRole("button", { name: "Put on record" }).dblclick();
  await page.getByText("Your word is on record.").first().waitFor();
  await becomes("lost-1", "confirmed");
  await page.getByText("working, by a person's word, not the venue's").waitFor();
  await page.getByText(/^admin API, /).first().waitFor(); // whose
  const evidence = page.getByRole("list", { name: "Evidence" });
  await evidence.getByText("A person's word").waitFor();
  await evidence.getByText(/seen on their screen/).waitFor();
  assert.equal((await stack.ask("/v1/orders/lost-1/status")).order_id, "12345");
  const { events } = await stack.ask("/v1/audit?correlation_id=lost-1&limit=1000");
  assert.equal(
    events.filter((event) => JSON.stringify(event).includes("seen on their screen")).length,
    1,
  );
});

async function becomes(reference, status) {
  await waitFor(
    async () => (await held.stack.ask(`/v1/orders/${reference}/status`)).status === status,
    `${reference} to be ${status}`,
  );
}

test("an order that is not there is resolved as absent", async () => {
  await held.stack.loseOrder("lost-2");
  const page = await orders("#/orders/lost-2");
  await page.getByRole("button", { name: "Resolve" }).click();
  await page.getByLabel("It is not, and will not be").check();
  assert.equal(await page.getByLabel("The venue's order id").count(), 0);
  await page.getByLabel("How do you know?").fill("their desk says so");
  await page.getByRole("button", { name: "Put on record" }).click();
  await page.getByText("Your word is on record.").first().waitFor();
  await becomes("lost-2", "rejected");
  await page.getByText("not there, by a person's word, not the venue's").waitFor();
});

test("reconciling finds an order once the venue can be read: one, and all", async () => {
  const { stack } = held;
  await stack.loseOrder("lost-3");
  await stack.faults({ script: [] });
  let page = await orders("#/orders/lost-3");
  let asked = 0;
  page.on("request", (request) => {
    asked += request.url().includes("/reconcile") ? 1 : 0;
  });
  await page.getByRole("button", { name: "Reconcile" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Reconcile" }).dblclick();
  await page.getByText("The order is confirmed.").first().waitFor();
  await becomes("lost-3", "confirmed");
  assert.equal(asked, 1);

  await stack.loseOrder("lost-4");
  await stack.faults({ script: [] });
  page = await orders();
  await page.getByRole("button", { name: "Reconcile all" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Reconcile" }).dblclick();
  await page.getByText("The order is confirmed.").first().waitFor();
  await becomes("lost-4", "confirmed");
});

test("reconciling that finds nothing out says so", async () => {
  const { stack } = held;
  await stack.loseOrder("lost-5");
  const page = await orders("#/orders/lost-5");
  await page.getByRole("button", { name: "Reconcile" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Reconcile" }).click();
  await page.locator(".toast.warn").getByText(/is still not known/).waitFor();
  await stack.faults({ script: [] });
});

test("an order whose end nobody knows is not told as a success", async () => {
  const page = await orders();
  await held.stack.loseAnswers();
  await fillOrder(page);
  await page.getByRole("button", { name: "Place it" }).click();
  await page.locator(".toast.bad").getByText("The order is unresolved.").waitFor();
});

async function orderForm(stack) {
  const page = await stack.signIn();
  await page.goto(`${stack.panel}#/orders`);
  await page.getByRole("button", { name: "Place an order" }).click();
  return { page, form: page.getByRole("dialog") };
}

test("an order for Saxo asks for what Saxo asks for, and is placed there once", async () => {
  const stack = await Stack.start({ saxo: true });
  try {
    const { page, form } = await orderForm(stack);
    await form.getByLabel("Venue").selectOption("okx");
    await form.getByLabel("Instrument").waitFor();
    await form.getByLabel("Venue").selectOption("saxo");
    assert.equal(await form.getByLabel("Instrument").count(), 0);
    await form.getByLabel("Uic").fill("211");
    await form.getByLabel("Asset type").fill("Stock");
    await form.getByLabel("Size").fill("10");
    await form.getByLabel("Price", { exact: true }).fill("120.5");
    await form.getByRole("button", { name: "Place it" }).dblclick();
    await page.getByText("The order is confirmed.").first().waitFor();
    const placed = await stack.market_orders(stack.ports.saxo_control);
    assert.equal(placed.length, 1, JSON.stringify(placed));
    assert.deepEqual(await stack.market_orders(), []);
    const { orders: known } = await stack.ask("/v1/orders");
    const { uic, asset_type, size, price } = known[0].order;
    assert.deepEqual([uic, asset_type, size, price].map(String), ["211", "Stock", "10", "120.5"]);
  } finally {
    await stack.stop();
  }
});

test("an order for OKX is placed, although the form was at Saxo before", async () => {
  const stack = await Stack.start({ saxo: true });
  try {
    const { page, form } = await orderForm(stack);
    await form.getByLabel("Venue").selectOption("saxo");
    await form.getByLabel("Uic").waitFor();
    await form.getByLabel("Venue").selectOption("okx");
    await form.getByLabel("Instrument").fill("BTC-USDT-SWAP");
    await form.getByLabel("Size").fill("0.1");
    await form.getByLabel("Price", { exact: true }).fill("40000");
    await form.getByRole("button", { name: "Place it" }).click();
    await page.getByText("The order is confirmed.").first().waitFor();
    assert.equal((await stack.market_orders()).length, 1);
    assert.deepEqual(await stack.market_orders(stack.ports.saxo_control), []);
  } finally {
    await stack.stop();
  }
});

test("where trading is off nothing is placed from the panel", async () => {
  const stack = await Stack.start({ trading: false, weekly: null });
  try {
    const page = await stack.signIn();
    await page.goto(`${stack.panel}#/orders`);
    await page.getByRole("meter", { name: "Weekly orders" }).waitFor();
    assert.equal(await page.locator(".week .slot").count(), 5, "a week's slots by default");
    assert.equal(await page.getByRole("button", { name: "Place an order" }).count(), 0);
    const status = await page.evaluate(async () => {
      const { csrf } = await (await fetch("/v1/session")).json();
      const answer = await fetch("/v1/orders", {
        method: "POST",
        headers: { "X-Pawl-Csrf": csrf, "Content-Type": "application/json" },
        body: JSON.stringify({ venue: "okx", inst: "X", side: "buy", type: "market", size: "1" }),
      });
      return answer.status;
    });
    assert.equal(status, 403);
  } finally {
    await stack.stop();
  }
});

test("an order that does not exist is told as that, and asked for once", async () => {
  const page = await held.stack.signIn();
  let asked = 0;
  page.on("request", (request) => (asked += request.url().includes("/v1/orders/nope/") ? 1 : 0));
  await page.goto(`${held.stack.panel}#/orders/nope`);
  await page.getByText("No such order").waitFor();
  await page.waitForTimeout(4_000); // one that exists is asked for every three seconds
  assert.equal(asked, 1);
  await page.getByRole("button", { name: "Look again" }).click();
  await waitFor(() => asked === 2, "a second look");
  await page.locator(".back").click();
  await page.getByRole("heading", { name: "Orders", exact: true }).waitFor();
});

test("a week that is used up is marked, and told before an order is filled in", async () => {
  const stack = await Stack.start({ weekly: 1 });
  try {
    const page = await stack.signIn();
    const tile = page.locator(".tile").filter({ hasText: "Weekly orders" });
    await tile.waitFor();
    assert.equal(await page.locator(".tile.warn").filter({ hasText: "Weekly orders" }).count(), 0);
    await stack.order("the-only-one");
    await page.locator(".tile.warn").filter({ hasText: "Weekly orders" }).waitFor();
    await page.goto(`${stack.panel}#/orders`);
    await page.getByRole("button", { name: "Place an order" }).click();
    await page.getByRole("dialog").getByText("This week's orders are used up (1).").waitFor();
  } finally {
    await stack.stop();
  }
});

test("an instrument of blanks is asked for again, and nothing is sent", async () => {
  const { page, form } = await orderForm(held.stack);
  let asked = 0;
  page.on("request", (request) => {
    asked += request.method() === "POST" ? 1 : 0;
  });
  await form.getByLabel("Instrument").fill("  ");
  await form.getByLabel("Size").fill("0.1");
  await form.getByLabel("Price", { exact: true }).fill("40000");
  await form.getByRole("button", { name: "Place it" }).click();
  const isWrong = (field) => field.evaluate((each) => each.matches(":invalid"));
  assert.equal(await isWrong(form.getByLabel("Instrument")), true);
  assert.equal(await isWrong(form.getByLabel("Size")), false);
  assert.equal(asked, 0);
});

test("the buttons of a long form stay in sight on a phone", async () => {
  const page = await held.stack.signIn({ viewport: { width: 360, height: 640 } });
  await page.goto(`${held.stack.panel}#/orders`);
  await page.getByRole("button", { name: "Place an order" }).click();
  const dialog = page.getByRole("dialog");
  const { y, height } = await dialog.getByRole("button", { name: "Place it" }).boundingBox();
  assert.ok(y + height <= 640, `it ends at ${y + height}`);
  assert.ok(await dialog.evaluate((each) => each.scrollHeight > each.clientHeight), "it is long");
});
