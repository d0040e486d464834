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
    const some = /allowed: mean of the last .+ [\d.–]+, at most (?!0\.0)/;
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

test("the span that was chosen is kept by a reload, also that of a tenant", async () => {
  const { stack } = held;
  await stack.send("/x", { tenant: "busy" });
  const page = await stack.signIn();
  for (const [hash, text] of [
    ["#/overview", "The last hour"],
    ["#/tenants/busy", "Used in the last hour"],
  ]) {
    await page.goto(stack.panel + hash);
    await page.getByRole("button", { name: "1h", exact: true }).click();
    await page.getByRole("heading", { name: text }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: text }).waitFor();
    await page.getByRole("button", { name: "15m", exact: true }).click();
    await page.waitForURL((url) => url.hash === hash);
  }
});

test("looking at a plot moves nothing on the page", async () => {
  const times = Array.from({ length: 90 }, (_, i) => 1_800_000_000 + 240 * i);
  const line = (value) => times.map((_, i) => (i < 80 ? value : 0));
  const series = { allowed: line(1234), refused: line(99.9), replayed: line(12_300) };
  for (let i = 0; i < 6; i++) series[`retry.C${i}`] = line(1000 + i);
  series["queue.oldest"] = line(35_999);
  for (const width of [1280, 360]) {
    const page = await held.stack.signIn({ viewport: { width, height: 900 } });
    await page.route("**/v1/series?span=*", (route) =>
      route.fulfill({ json: { step_seconds: 240, times, series } }),
    );
    await page.getByText("Live", { exact: true }).first().waitFor();
    for (const span of ["1h", "1d"]) {
      await page.getByRole("button", { name: span, exact: true }).click();
      const figures = page.getByRole("figure");
      await waitFor(async () => (await figures.count()) === 4, "the plots");
      const heights = () =>
        page
          .locator(".plots .card, .legend")
          .evaluateAll((all) => all.map((each) => each.clientHeight));
      const before = await heights();
      for (const area of await figures.getByRole("img").all()) {
        await area.scrollIntoViewIfNeeded();
        const { x, y, width: wide, height } = await area.boundingBox();
        await page.mouse.move(x + wide - 60, y + height / 2);
        await page.getByText(/ UTC, mean of 4 min$/).first().waitFor();
        assert.deepEqual(await heights(), before, `${span}, ${width} pixels wide`);
        await page.mouse.move(x + wide / 2, 0);
      }
    }
    await page.context().close();
  }
});

test("the last time below a plot is not cut", async () => {
  const page = await held.stack.signIn();
  const last = 1_800_000_010; // a moment behind one that is told
  const times = Array.from({ length: 90 }, (_, i) => last - 40 * (89 - i));
  const series = { allowed: times.map(() => 1) };
  await page.route("**/v1/series?span=1h", (route) =>
    route.fulfill({ json: { step_seconds: 40, times, series } }),
  );
  await page.getByRole("button", { name: "1h", exact: true }).click();
  const figure = page.getByRole("figure").filter({ hasText: "allowed" });
  await figure.getByRole("img", { name: /mean of the last 40 s/ }).waitFor();
  // Drawn where the canvas ends, it would go on behind it.
  const inked = await figure.locator("canvas").evaluate(async (canvas) => {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    const from = Math.round(canvas.height * 0.87); // below the plot itself
    const edge = canvas.getContext("2d");
    const { data } = edge.getImageData(canvas.width - 2, from, 2, canvas.height - from);
    return data.some((value) => value > 0);
  });
  assert.equal(inked, false);
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
  await page.getByText("Last worker", { exact: true }).waitFor(); // it has none as it waits
});

test("a breaker that opened stands on top, and leads to what failed", async () => {
  const { stack } = held;
  for (let i = 0; i < 5; i++)
    await stack.ask("/v1/webhooks/events", { id: `evt-${i}`, type: "order.placed", data: {} });
  const page = await stack.signIn();
  const first = page.getByRole("region", { name: "What needs a person" }).getByRole("article");
  await first.first().getByText("Circuit breaker open: webhook shop").waitFor();
  await first.first().getByRole("link", { name: "See the failures" }).click();
  await page.getByRole("button", { name: /^Attempt 1 of \d+ failed/ }).first().waitFor();
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
