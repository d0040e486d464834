// Goal: the rules in force are shown, with what a shadow would have refused. Method: requests
// beyond a bucket in shadow.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { waitFor, withStack } from "./stack.mjs";

const settings = `
retry: { policies: { RETRY_API_REQUEST: { max_attempts: 7 } } }
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
  assert.deepEqual(page.complaints, []);
});
