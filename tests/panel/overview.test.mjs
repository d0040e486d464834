// Goal: the overview shows traffic as it comes, and what needs a person. Method: real requests, a
// task that fails, a webhook that nobody takes and a Redis that dies.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { Stack, waitFor, withStack } from "./stack.mjs";

// Nobody listens there.
const settings = `
webhooks:
  database: webhooks.db
  endpoints:
    - { name: shop, url: "http://127.0.0.1:9/hooks", secret: "a-secret-of-24-characters" }
`;
const held = withStack({ before, after }, { settings, weekly: 20 });

async function lineOf(stack, name, span = "15m") {
  return (await stack.ask(`/v1/series?span=${span}`)).series[name] ?? [];
}

test("traffic shows in numbers and in plots, by itself", async () => {
  const { stack } = held;
  const page = await stack.signIn();
  await page.getByText("Live", { exact: true }).first().waitFor();
  await page.getByText("Nothing needs a person.").first().waitFor();
  for (let i = 0; i < 14; i++) await stack.send("/x", { tenant: "busy" });
  await waitFor(
    async () => (await lineOf(stack, "allowed")).some((value) => value > 0),
    "allowed requests",
  );
  await waitFor(
    async () => (await lineOf(stack, "refused")).some((value) => value > 0),
    "refused ones",
  );
  const plot = page.getByRole("img", { name: /Requests a second/ });
  await waitFor(async () => {
    const told = await plot.getAttribute("aria-label");
    return (
      /allowed: now [\d.]+, at most (?!0\.0)/.test(told) &&
      /refused: now [\d.]+, at most (?!0\.0)/.test(told)
    );
  }, "the plot to have them");
  for (const [span, text] of [
    ["1h", "The last hour"],
    ["1d", "The last day"],
  ]) {
    await page.getByRole("button", { name: span, exact: true }).click();
    await page.getByRole("heading", { name: text }).waitFor();
    const some = /allowed: now [\d.–]+, at most (?!0\.0)/;
    await waitFor(async () => some.test(await plot.getAttribute("aria-label")), text);
  }
  assert.deepEqual(page.complaints, []);
});

test("a plot tells what was when, to the pointer and to the keyboard", async () => {
  const page = await held.stack.signIn();
  const figure = page.getByRole("figure").filter({ hasText: "allowed" });
  await figure.getByText("now", { exact: true }).waitFor();
  await figure.getByRole("img").hover();
  await figure.getByText(/\d\d:\d\d:\d\d UTC/).waitFor();
  await page.mouse.move(0, 0);
  await figure.getByText("now", { exact: true }).waitFor();
  await figure.getByRole("img").focus();
  await page.keyboard.press("Home");
  const first = await figure.getByText(/UTC/).textContent();
  await page.keyboard.press("End");
  await waitFor(async () => (await figure.getByText(/UTC/).textContent()) > first, "the last");
  await figure.getByRole("img").blur();
  await figure.getByText("now", { exact: true }).waitFor();
});

test("categories of retries that have no line are named", async () => {
  const page = await held.stack.signIn();
  const names = Array.from({ length: 8 }, (_, i) => [`retry.C${i}`, [9 - i]]);
  const series = { step_seconds: 10, times: [1_800_000_000], series: Object.fromEntries(names) };
  await page.route("**/v1/series?span=1h", (route) => route.fulfill({ json: series }));
  await page.getByRole("button", { name: "1h", exact: true }).click();
  await page.getByText("And 2 more: C6, C7.").waitFor();
});

test("a week of many orders stays within its tile", async () => {
  const page = await held.stack.signIn({ viewport: { width: 740, height: 900 } });
  const tile = page.locator(".tile").filter({ hasText: "Weekly orders" });
  await tile.getByRole("meter", { name: "Weekly orders" }).waitFor();
  assert.equal(await tile.evaluate((each) => each.scrollWidth - each.clientWidth), 0);
});

test("stores and their durability are there", async () => {
  const page = await held.stack.signIn();
  const stores = page.getByRole("listitem").filter({ hasText: "Idempotency" });
  await stores.getByText("durability: fsync").first().waitFor();
});

test("a task that failed needs a person, who gets to it by one click, and replays it", async () => {
  const { stack } = held;
  const { id } = await stack.ask("/v1/tasks", { task_type: "gone" });
  await stack.run("work", "--config", "pawl.yaml", "-t", "gone", "--exec", "exit 65", "--once");
  const page = await stack.signIn();
  await page.getByRole("heading", { name: "1 task failed" }).waitFor();
  await page.getByRole("link", { name: "See it" }).click();
  await page.getByRole("link", { name: `…${id.slice(-10)}` }).click();
  await page.getByRole("heading", { name: id }).waitFor();
  await page
    .getByText(/\d+\. failed/)
    .first()
    .waitFor();
  await page.getByRole("button", { name: "Replay" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Replay" }).click();
  await waitFor(
    async () => (await stack.ask(`/v1/tasks/${id}`)).status === "pending",
    "the replay",
  );
});

test("a breaker that opened stands on top, and leads to its records", async () => {
  const { stack } = held;
  for (let i = 0; i < 5; i++)
    await stack.ask("/v1/webhooks/events", { id: `evt-${i}`, type: "order.placed", data: {} });
  const page = await stack.signIn();
  const first = page.getByRole("region", { name: "What needs a person" }).getByRole("article");
  await first.first().getByText("Circuit breaker open: webhook shop").waitFor();
  await first.first().getByRole("link", { name: "Why" }).click();
  await page.getByRole("button", { name: "Breaker open" }).first().waitFor();
});

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return port;
}

// As durable as records are by default; pawl does not begin with less.
async function startRedis(port, folder) {
  const place = ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--save", ""];
  const durable = ["--appendonly", "yes", "--appendfsync", "always"];
  const redis = spawn("redis-server", [...place, ...durable], { stdio: "ignore" });
  await waitFor(() => {
    const socket = connect(port, "127.0.0.1");
    return once(socket, "connect").finally(() => socket.destroy());
  }, "Redis");
  return redis;
}

async function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

test("a store that dies stands on top, and goes when it is back", async () => {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "pawl-redis-"));
  let redis = await startRedis(port, folder);
  let stack;
  try {
    stack = await Stack.start({ records: `redis://127.0.0.1:${port}/0` });
    const page = await stack.signIn();
    await page.getByText("Nothing needs a person.").first().waitFor();
    await end(redis);
    const needs = page.getByRole("region", { name: "What needs a person" }).getByRole("article");
    await needs.filter({ hasText: /^Idempotency: (degraded|not available)/ }).waitFor();
    redis = await startRedis(port, folder);
    await page.getByText("Nothing needs a person.").first().waitFor();
  } finally {
    await stack?.stop();
    await end(redis);
    rmSync(folder, { recursive: true, force: true });
  }
});
