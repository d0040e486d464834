// Goal: what a person asked for once is done once, whatever becomes of the answer, of the form and
// of pawl. Method: real orders whose answers are kept from the browser, counted at the venue.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { fillOrder, Stack, token, waitFor, withStack } from "./stack.mjs";

const held = withStack({ before, after }, { weekly: 20 });
const calls = "**/v1/orders?*";

async function form(page) {
  page ??= await held.stack.signIn();
  await page.goto(`${held.stack.panel}#/orders`);
  await fillOrder(page);
  return page;
}

/** The order is placed; its answer does not come back. */
async function lose(page) {
  await page.route(
    calls,
    async (route) => {
      await route.fetch();
      await route.abort("connectionreset");
    },
    { times: 1 },
  );
  await page.getByRole("button", { name: "Place it" }).click();
  await page.getByRole("dialog").getByText(/Whether it was done is not known/).waitFor();
}

const unfinished = (page) => page.getByRole("region", { name: "Place an order" });

/** How many orders the venue got meanwhile. */
async function counted(deeds) {
  const before = (await held.stack.market_orders()).length;
  await deeds();
  return (await held.stack.market_orders()).length - before;
}

test("an answer that got lost is asked for again, under the same key", async () => {
  const page = await form();
  const placed = await counted(async () => {
    await lose(page);
    await page.getByRole("button", { name: "Place it" }).click();
    await page.getByText("The order is confirmed.").first().waitFor();
  });
  assert.equal(placed, 1);
  assert.equal(await unfinished(page).count(), 0);
});

test("what may have been done cannot become something else", async () => {
  const page = await form();
  const placed = await counted(async () => {
    await lose(page);
    assert.ok(await page.getByLabel("Size").isDisabled());
    assert.ok(await page.getByLabel("Venue").isDisabled());
    await page.getByRole("button", { name: "Place it" }).click();
    await page.getByText("The order is confirmed.").first().waitFor();
  });
  assert.equal(placed, 1);
});

test("a form that was closed and opened again goes on with what was begun", async () => {
  const page = await form();
  const placed = await counted(async () => {
    await lose(page);
    await page.keyboard.press("Escape");
    await unfinished(page).getByText(/Whether it was done is not known/).waitFor();
    await page.getByRole("button", { name: "Place an order" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/You began this before/).waitFor();
    assert.equal(await dialog.getByLabel("Size").count(), 0);
    await dialog.getByRole("button", { name: "Finish it" }).click();
    await page.getByText("The order is confirmed.").first().waitFor();
  });
  assert.equal(placed, 1);
});

test("a form that is closed while it works leaves its deed above the page", async () => {
  const page = await form();
  let letThrough;
  const heldBack = new Promise((resolve) => {
    letThrough = resolve;
  });
  await page.route(calls, async (route) => {
    const response = await route.fetch();
    await heldBack;
    await route.fulfill({ response });
  });
  const placed = await counted(async () => {
    await page.getByRole("button", { name: "Place it" }).click();
    await page.getByRole("button", { name: "Working…" }).waitFor();
    await page.keyboard.press("Escape");
    await unfinished(page).getByText("under way").waitFor();
    await page.getByRole("button", { name: "Place an order" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Working…" }).click({ force: true });
    await page.keyboard.press("Escape");
    letThrough();
    await page.getByText("Place an order: confirmed.").waitFor();
  });
  assert.equal(placed, 1);
  assert.equal(await unfinished(page).count(), 0);
});

test("what was begun outlives a restart of pawl, and the sign-in behind it", async () => {
  const { stack } = held;
  const page = await form();
  const placed = await counted(async () => {
    await lose(page);
    await stack.kill();
    await stack.serve();
    await page.getByRole("button", { name: "Place it" }).click();
    await page.getByLabel("Token").fill(token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await unfinished(page).getByRole("button", { name: "Finish it" }).click();
    await page.getByText("Place an order: confirmed.").waitFor();
  });
  assert.equal(placed, 1);
});

test("what was begun outlives a reload of the page", async () => {
  const page = await form();
  const placed = await counted(async () => {
    await lose(page);
    await page.reload();
    await unfinished(page).getByRole("button", { name: "Finish it" }).dblclick();
    await page.getByText("Place an order: confirmed.").waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Place an order" }).waitFor();
    assert.equal(await unfinished(page).count(), 0);
  });
  assert.equal(placed, 1);
});

/** A session that has ended: the press gets no further than the gate. */
async function pressSignedOut(page) {
  const json = { code: "ERR_UNAUTHORIZED", detail: "Sign in." };
  await page.route(calls, (route) => route.fulfill({ status: 401, json }), { times: 1 });
  await page.getByRole("button", { name: "Place it" }).click();
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await unfinished(page).getByText(/You were signed out, and it was not done/).waitFor();
}

test("a first press of who is signed out is not lost with the form", async () => {
  const page = await form();
  const placed = await counted(async () => {
    await pressSignedOut(page);
    await page.reload();
    await unfinished(page).getByText(/it was not done/).waitFor();
    await unfinished(page).getByRole("button", { name: "Finish it" }).click();
    await page.getByText("Place an order: confirmed.").waitFor();
  });
  assert.equal(placed, 1);
  assert.equal(await unfinished(page).count(), 0);
});

test("what was not done for want of a session may be let be", async () => {
  const page = await form();
  const placed = await counted(async () => {
    await pressSignedOut(page);
    await unfinished(page).getByRole("button", { name: "Let it be" }).click();
    await waitFor(async () => (await unfinished(page).count()) === 0, "it to go");
  });
  assert.equal(placed, 0);
});

test("an order that the week has no room for is over, although its answer got lost", async () => {
  const stack = await Stack.start({ weekly: 1 });
  try {
    await stack.order("the-only-one");
    const page = await stack.signIn();
    await page.goto(`${stack.panel}#/orders`);
    await fillOrder(page);
    await lose(page);
    await page.getByRole("button", { name: "Place it" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.locator(".notice.bad").waitFor();
    assert.equal(await dialog.getByText(/is not known/).count(), 0);
    await page.keyboard.press("Escape");
    assert.equal(await unfinished(page).count(), 0);
  } finally {
    await stack.stop();
  }
});

test("who lets it be, and asks again, means another one", async () => {
  const page = await form();
  const placed = await counted(async () => {
    await lose(page);
    await page.keyboard.press("Escape");
    await unfinished(page).getByText("What was asked for").click();
    await unfinished(page).getByText(/"inst": "BTC-USDT-SWAP"/).waitFor();
    await unfinished(page).getByRole("button", { name: "Let it be" }).click();
    await waitFor(async () => (await unfinished(page).count()) === 0, "it to go");
    await fillOrder(page);
    await page.getByRole("button", { name: "Place it" }).click();
    await page.getByText("The order is confirmed.").first().waitFor();
  });
  assert.equal(placed, 2);
});

const shortOf = (key) => `${key.slice(0, 9)}…${key.slice(-4)}`;

test("a form carries the key that it shows", async () => {
  const page = await held.stack.signIn();
  const sent = [];
  page.on("request", (request) => {
    const key = request.headers()["idempotency-key"];
    if (key !== undefined) sent.push(key);
  });
  await held.stack.send("/x");
  await page.goto(`${held.stack.panel}#/tenants/acme`);
  await page.getByRole("button", { name: "Reset calls" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("pressing twice does it once").waitFor();
  const shown = await dialog.locator(".safe code").textContent();
  await dialog.getByRole("button", { name: "Reset" }).click();
  await page.getByText("calls of acme was reset.").first().waitFor();
  assert.equal(sent.length, 1);
  assert.equal(shown, `Idempotency-Key: ${shortOf(sent[0])}`);
});

test("what pawl may have done before it was restarted is not asked for again", async () => {
  const { stack } = held;
  await stack.send("/x");
  const page = await stack.signIn();
  await page.goto(`${stack.panel}#/tenants/acme`);
  const before = await stack.times("tenant reset");
  await page.route("**/reset", async (route) => {
    await route.fetch();
    await route.abort("connectionreset");
  });
  const press = async () => {
    await page.getByRole("button", { name: "Reset calls" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Reset" }).click();
  };
  await press();
  await page.getByRole("dialog").getByText(/Whether it was done is not known/).waitFor();
  await page.unroute("**/reset");
  await page.keyboard.press("Escape");
  await stack.kill();
  await stack.serve();
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  const begun = page.getByRole("region", { name: "Reset calls of acme" });
  await begun.getByRole("button", { name: "Finish it" }).click();
  await begun.getByText(/pawl does not know its key any more/).waitFor();
  assert.equal(await begun.getByRole("button", { name: "Finish it" }).count(), 0);
  assert.equal(await stack.times("tenant reset"), before + 1);
  await begun.getByRole("button", { name: "Let it be" }).click();
  await press();
  await page.getByText("calls of acme was reset.").first().waitFor();
  assert.equal(await stack.times("tenant reset"), before + 2);
});

test("what was asked for too long ago is not asked for again", async () => {
  const { stack } = held;
  const page = await stack.browse();
  await page.addInitScript(() => {
    const trueNow = Date.now;
    Date.now = () => trueNow() + (window.passed ?? 0);
  });
  await stack.signInOn(page);
  await page.goto(`${stack.panel}#/tenants/acme`);
  await page.getByRole("button", { name: "Reset calls" }).click();
  let asked = 0;
  await page.route("**/reset", (route) => {
    asked++;
    return route.abort("connectionreset");
  });
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Reset" }).click();
  await dialog.getByText(/Whether it was done is not known/).waitFor();
  await page.evaluate(() => (window.passed = 3_600_000));
  await dialog.getByRole("button", { name: "Reset" }).click();
  await dialog.getByText(/pawl does not know its key any more/).waitFor();
  assert.equal(asked, 1);
  await dialog.getByRole("button", { name: "Let it be" }).click();
  await waitFor(async () => (await dialog.getByText(/not known/).count()) === 0, "it to go");
});
