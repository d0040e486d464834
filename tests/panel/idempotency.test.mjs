// Goal: writes with a key are seen, found, settled and forgotten. Method: real writes, one
// repeated, one of unknown outcome (the demo upstream answers /fail with 500).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { waitFor, withStack } from "./stack.mjs";

const hostile = "<img/src=x/onerror=alert(1)>".padEnd(200, "-") + "the-end";
const held = withStack({ before, after }, { rate: "1000/1h" }, async (stack) => {
  const write = (path, key) => stack.send(path, { method: "POST", key, body: "{}" });
  await write("/orders", "twice");
  await write("/orders", "twice");
  await write("/fail", "lost-1");
  await write("/fail", "lost-2");
  await write("/fail", "lost-3");
  await write("/orders", hostile);
});

async function records() {
  const page = await held.stack.signIn();
  await page.getByRole("link", { name: "Idempotency" }).click();
  await page.getByRole("table", { name: "Records" }).waitFor();
  return page;
}

const row = (page, key) => page.getByRole("row").filter({ hasText: key });

test("records have state, replays and age, and are filtered by key and tenant", async () => {
  const page = await records();
  await row(page, "twice").getByText("done").first().waitFor();
  await row(page, "twice").getByRole("cell", { name: "1", exact: true }).waitFor();
  await row(page, "lost-1").getByText("unknown").first().waitFor();
  await row(page, "twice").getByText(/^(\d+ s|now|1 min)$/).first().waitFor();
  await row(page, "twice").getByText(/^in 24 h$/).first().waitFor();
  await page.getByRole("searchbox", { name: "Key" }).fill("twi");
  await waitFor(async () => (await page.getByRole("row").count()) === 2, "one record");
  await page.getByRole("searchbox", { name: "Key" }).fill("");
  await page.getByRole("searchbox", { name: "Tenant" }).fill("nobody");
  await page.getByText("No matching records").first().waitFor();
});

test("what was answered without being executed is listed", async () => {
  const page = await records();
  await page.getByRole("button", { name: "Not executed again" }).click();
  const hits = page.getByRole("table", { name: "Writes that were not executed again" });
  await hits.getByText("replayed").first().waitFor();
  const rows = () => hits.getByRole("row").count();
  await page.getByRole("searchbox", { name: "Key" }).fill("none-such");
  await waitFor(async () => (await rows()) < 2, "none of that key");
  await page.getByRole("searchbox", { name: "Key" }).fill("twi");
  await waitFor(async () => (await rows()) === 2, "the one");
  await page.getByRole("searchbox", { name: "Tenant" }).fill("nobody");
  await waitFor(async () => (await rows()) < 2, "none of that tenant");
});

test("whoever settles or forgets a key sees all of it, and it is text", async () => {
  const page = await records();
  await page.getByRole("searchbox", { name: "Key" }).fill("<img");
  await page.getByRole("button", { name: "<img" }).click();
  await page.getByRole("dialog").getByText(hostile, { exact: true }).waitFor();
  assert.equal(await page.locator("main img, dialog img").count(), 0);
  assert.deepEqual(page.complaints, []);
});

test("on a phone each says which key it was, and opens", async () => {
  const page = await held.stack.signIn({ viewport: { width: 360, height: 740 } });
  await page.goto(`${held.stack.panel}#/idempotency?show=hits`);
  const hit = page.getByRole("row").filter({ hasText: "twice" });
  await hit.getByText("POST /orders").last().waitFor();
  await hit.getByRole("button", { name: "twice" }).click();
  await page.getByRole("dialog").getByText("replayed").waitFor();
});

test("an unknown outcome needs a person, who settles it", async () => {
  const page = await held.stack.signIn();
  await page.getByRole("heading", { name: "3 writes of unknown outcome" }).waitFor();
  await page.getByRole("link", { name: "See them" }).click();
  await waitFor(async () => (await page.getByRole("row").count()) === 4, "those alone");
  await row(page, "lost-1").getByRole("button").click();
  await page.getByRole("button", { name: "It was executed" }).click();
  await page.getByLabel("How do you know?").fill("it is in the books");
  await page.getByRole("button", { name: "Put on record" }).dblclick();
  await page.getByText("The outcome is on record.").first().waitFor();
  await page.getByRole("region", { name: "Counted since pawl started" }).waitFor();
  await page.getByRole("button", { name: "Records", exact: true }).click();
  await row(page, "lost-1").getByText("done").first().waitFor();
  const { events } = await held.stack.ask("/v1/audit?type=idempotency&limit=1000");
  assert.equal(events.filter((event) => event.action === "settle").length, 1);
});

test("what was not executed may be sent again under its key", async () => {
  const page = await records();
  await row(page, "lost-3").getByRole("button").click();
  await page.getByRole("button", { name: "It was not" }).click();
  await page.getByLabel("How do you know?").fill("it is not in the books");
  await page.getByRole("button", { name: "Put on record" }).click();
  await page.getByText("The outcome is on record.").first().waitFor();
  await row(page, "lost-3").getByText("failed").first().waitFor();
  const answer = await held.stack.send("/fail", { method: "POST", key: "lost-3", body: "{}" });
  assert.equal(answer.headers.get("Idempotent-Replay"), null);
});

test("a key is forgotten once, although the button is pressed twice", async () => {
  const page = await records();
  await row(page, "lost-2").getByRole("button").click();
  await page.getByRole("button", { name: "Forget the key" }).click();
  await page.getByRole("button", { name: "Forget it" }).dblclick();
  await page.getByText("The key was forgotten.").first().waitFor();
  assert.equal(await held.stack.times("idempotency clear"), 1);
  await waitFor(async () => (await row(page, "lost-2").count()) === 0, "the record to go");
});

test("where no key is of unknown end, that is said", async () => {
  const page = await held.stack.signIn();
  await page.route("**/v1/idempotency?*", (route) =>
    route.fulfill({ json: { records: [], hits: [] } }),
  );
  await page.goto(`${held.stack.panel}#/idempotency?show=unknown`);
  await page.getByText("The outcome of every key is known.").waitFor();
});
