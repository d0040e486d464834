// Goal: the rules in force are shown, with what a shadow would have refused. Method: requests
// beyond a bucket in shadow.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { waitFor, withStack } from "./stack.mjs";

const settings = `
retry:
  policies:
    RETRY_API_REQUEST: { max_attempts: 7 }
    RETRY_KV_PUT: { delays: [1s, 5s], min_delay: 2s, retryable: [rate_limited] }
`;
const held = withStack({ before, after }, { settings });

test("limits, plans and retries are there; what differs is marked", async () => {
  const { stack } = held;
  for (let i = 0; i < 12; i++) await stack.send("/x");
  const page = await stack.signIn();
  await page.getByRole("link", { name: "Policies" }).click();
  const row = (name) =>
    page.getByRole("row").filter({ has: page.getByRole("rowheader", { name, exact: true }) });
  await waitFor(
    async () => (await row("shy").textContent()).includes("would have been 9"),
    "nine refusals in shadow",
  );
  assert.match(await row("calls").textContent(), /^calls2\D/, "two were refused");
  await row("free").getByText("calls 10/1h").first().waitFor();
  await row("RETRY_API_REQUEST").getByText("7").first().waitFor();
  assert.equal(await row("RETRY_API_REQUEST").getByTitle("differs from the default").count(), 1);
  const put = await row("RETRY_KV_PUT").textContent();
  assert.match(put, /1s, 5s/, "in place of the first delay");
  assert.match(put, /retried: rate_limited/);
  assert.deepEqual(
    await row("RETRY_KV_PUT").getByTitle("differs from the default").allTextContents(),
    ["1s, 5s", "2s", "rate_limited"],
  );
  await page.getByText("retries nothing by them").waitFor();
  await row("shy").getByRole("link", { name: "9" }).click();
  const told = "would have been refused by shy (shadow)";
  await page.getByRole("button", { name: told }).first().waitFor();
  const records = page.getByRole("table", { name: "Audit records" }).getByRole("row");
  await waitFor(async () => (await records.count()) === 10, "the nine, and whose they were");
  await records.last().getByText("Would have been refused by shy (shadow)").first().waitFor();
  await records.nth(1).getByText("acme").first().waitFor();
  await records.nth(1).getByRole("button", { name: /the limits/ }).click();
  await page.getByRole("dialog").getByText('"shy"').waitFor();
  assert.deepEqual(page.complaints, []);
});

test("on a phone a row keeps its name in sight while one looks along it", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const viewport = { width: 360, height: 740 };
    const page = await held.stack.signIn({ colorScheme, viewport });
    await page.goto(`${held.stack.panel}#/policies`);
    const table = page.getByRole("region", { name: "Retry policies" });
    const row = table.getByRole("row").filter({ hasText: "RETRY_API_REQUEST" });
    const name = row.getByRole("rowheader");
    const { x } = await name.boundingBox();
    await name.evaluate((each) => (each.closest(".scroll").scrollLeft = 10_000));
    assert.equal((await name.boundingBox()).x, x);
    const end = await row.getByRole("cell").last().boundingBox();
    const { width, height } = await name.boundingBox();
    assert.ok(end.x >= x + width, "values are beside it");
    assert.ok(width < 180, `they have room: the name takes ${width}`);
    assert.ok(height < 90, `${height} high`);
    // What goes by below it does not show through.
    const ground = await name.evaluate((each) => getComputedStyle(each).backgroundColor);
    assert.match(ground, /^rgb\(/);
    await page.context().close();
  }
});
