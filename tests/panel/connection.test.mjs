// Goal: a page says whether it is live, comes back by itself, and leaves room for other pages.
// Method: a pawl without a token that is killed, held still, watched by many and by many tabs.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { turnTo, waitFor, withStack } from "./stack.mjs";

const held = withStack({ before, after }, { token: "" });
const tabs = 7; // a browser has six connections for all of them

async function look(context) {
  const page = context ? await context.newPage() : await held.stack.browse();
  await page.goto(held.stack.panel);
  await live(page);
  return page;
}

const live = (page) => page.getByText("Live", { exact: true }).waitFor();

test("a lost connection is told, what was heard stays, and it comes back by itself", async () => {
  const { stack } = held;
  const page = await look();
  const shown = page.getByRole("region", { name: "Now" });
  await shown.getByText("Allowed").waitFor();
  await stack.kill();
  await page.getByText("Disconnected").waitFor();
  await page.getByText("What you see is as it was last heard.").waitFor();
  await shown.getByText("Allowed").waitFor();
  await page.getByText("Whether something needs a person is not known.").waitFor();
  for (const name of ["Tenants", "Idempotency", "Orders", "Tasks", "Audit", "Policies"]) {
    await page.getByRole("link", { name, exact: true }).click();
    await page.getByText("Not known yet").first().waitFor();
    await page.getByText("What was not heard for this page yet comes when it is back.").waitFor();
    assert.equal(await page.getByText("as it was last heard").count(), 0);
  }
  await page.getByRole("link", { name: "Tenants" }).click();
  await stack.serve();
  await live(page);
  await page.getByText("No tenants yet").waitFor();
  await waitFor(async () => (await page.getByText("pawl does not answer.").count()) === 0, "calm");
});

test("that pawl is back is seen within seconds, and at once where asked", async () => {
  const { stack } = held;
  const page = await look();
  const asked = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/v1/overview")) asked.push(Date.now());
  });
  await stack.kill();
  await page.getByText("Disconnected").waitFor();
  await page.waitForTimeout(12_000);
  const waits = asked.slice(1).map((at, i) => at - asked[i]);
  assert.ok(Math.max(...waits) < 4_000, `asked every ${waits} ms`);
  const before = asked.length;
  await page.getByRole("button", { name: "Try now" }).click();
  await page.getByRole("button", { name: "Try now" }).click();
  await waitFor(() => asked.length >= before + 2, "a question at once");
  await stack.serve();
  await live(page);
});

test("a pawl that says nothing is a lost connection too", async () => {
  const { stack } = held;
  const page = await look();
  stack.pawl.kill("SIGSTOP");
  try {
    await page.getByText("Disconnected").waitFor();
  } finally {
    stack.pawl.kill("SIGCONT");
  }
  await live(page);
});

test("tabs that nobody sees leave the connections to the one that is seen", async () => {
  const first = await look();
  const context = first.context();
  for (let i = 1; i < tabs; i++) {
    await turnTo(context.pages().at(-1), { hidden: true });
    await look(context);
  }
  await turnTo(context.pages().at(-1), { hidden: true });
  await turnTo(first, { hidden: false });
  await first.getByRole("link", { name: "Policies" }).click();
  await first.getByRole("table").first().waitFor();
  await live(first);
});

test("who finds no stream left is told so, and sees how it goes all the same", async () => {
  const { stack } = held;
  const leaving = new AbortController();
  let watcher;
  do watcher = await fetch(`${stack.admin}/v1/live`, { signal: leaving.signal });
  while (watcher.ok);
  const page = await stack.browse();
  await page.goto(stack.panel);
  await page.getByText("Too many watch.").waitFor();
  await page.getByRole("region", { name: "Now" }).getByText("Allowed").waitFor();
  leaving.abort();
  await live(page);
});

test("a press before which pawl was restarted is done, and once", async () => {
  const { stack } = held;
  await stack.send("/x");
  const page = await look();
  await page.goto(`${stack.panel}#/tenants/acme`);
  await page.getByRole("button", { name: "Reset calls" }).waitFor();
  const before = await stack.times("tenant reset");
  await stack.kill();
  await stack.serve();
  await live(page);
  await page.getByRole("button", { name: "Reset calls" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Reset" }).dblclick();
  await page.getByText("calls of acme was reset.").first().waitFor();
  assert.equal(await stack.times("tenant reset"), before + 1);
});
