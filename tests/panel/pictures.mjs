// Takes pictures of every page of a real pawl with something going on: light and dark, from a phone
// to a wall; of a dialog, and of pages that wait, fail and lost pawl; and of one where nothing ever
// happened. Not a test: for who wants to look at it.
//
//   node tests/panel/pictures.mjs FOLDER [SECONDS]      SECONDS of traffic first (90)

import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { Stack, waitFor } from "./stack.mjs";

const [folder, seconds = "90"] = process.argv.slice(2);
if (folder === undefined) throw new Error("usage: node pictures.mjs FOLDER [SECONDS]");
mkdirSync(folder, { recursive: true });

const order = {
  venue: "okx",
  inst: "BTC-USDT-SWAP",
  side: "buy",
  type: "limit",
  size: "0.1",
  price: "40000",
};
// Each sends in every so manieth turn: umbrella more than it may, acme nearly that.
const turns = {
  umbrella: 1,
  acme: 2,
  globex: 3,
  initech: 5,
  hooli: 7,
  "<script>alert(1)</script>": 11,
};
const turnMs = 125;

// Nobody listens there: what is sent is tried again, until the breaker opens.
const settings = `
retry: { policies: { RETRY_API_REQUEST: { max_attempts: 6, base_delay: 2s } } }
webhooks:
  database: webhooks.db
  endpoints:
    - { name: shop, url: "http://127.0.0.1:9/hooks", secret: "a-secret-of-24-characters" }
`;

async function traffic(stack, goesOn) {
  const start = Date.now();
  for (let i = 0; goesOn(); i++) {
    for (const [tenant, every] of Object.entries(turns)) {
      if (i % every !== 0) continue;
      const write = (i / every) % 4 === 0;
      await stack.send(write ? "/orders" : "/search", {
        tenant,
        method: write ? "POST" : "GET",
        ...(write ? { key: `order-${Math.floor(i / 48)}`, body: "{}" } : {}),
      });
    }
    if (i % 240 === 239) void stack.run(...worker, "-t", "send_mail", "--exec", "cat", "--once");
    if (i % 32 === 0) await stack.ask("/v1/tasks", { task_type: "send_mail", key: "example.org" });
    await sleep(Math.max(0, start + (i + 1) * turnMs - Date.now()));
  }
}

const worker = ["work", "--config", "pawl.yaml"];
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function happen(stack) {
  for (const [name, body] of [
    ["call_api", { delay_seconds: 900 }],
    ["call_api", { key: "api.example.org" }],
    ["report", { unique: "2026-01" }],
  ]) {
    await stack.ask("/v1/tasks", {
      task_type: name,
      input: { url: "https://example.org" },
      ...body,
    });
  }
  await stack.run(...worker, "-t", "report", "--exec", "exit 65", "--once");
  await stack.ask("/v1/queue/close", { scope: "key", name: "api.example.org", for_seconds: 900 });
  await stack.send("/fail", { method: "POST", key: "payment-77", body: "{}" });
  for (const name of ["ref-1", "ref-2"]) {
    await stack.ask("/v1/orders", { ...order, external_reference: name });
  }
  await sleep(Number(seconds) * 1000);
  const unreadable = ["order", "pending", "history", "archive"].map((call) => ({
    when: { call },
    do: "html_502_before_accept",
    times: 0,
  }));
  await stack.faults({
    script: [{ when: { call: "place" }, do: "drop_after_accept" }, ...unreadable],
  });
  await stack.ask("/v1/orders?wait_seconds=30", { ...order, external_reference: "ref-3" });
}

async function pagesOf(stack) {
  const { tasks } = await stack.ask("/v1/tasks?type=report&limit=1");
  return {
    overview: "#/overview",
    tenants: "#/tenants",
    tenant: "#/tenants/acme",
    idempotency: "#/idempotency",
    orders: "#/orders",
    order: "#/orders/ref-3",
    tasks: "#/tasks",
    ...(tasks.length > 0 ? { task: `#/tasks/${tasks[0].id}` } : {}),
    audit: "#/audit",
    story: "#/audit/ref-3",
    policies: "#/policies",
  };
}

async function settled(page) {
  await page.getByRole("heading", { level: 1 }).first().waitFor({ state: "attached" });
  await waitFor(async () => (await page.locator(".loading").count()) === 0, "the page");
  await page.mouse.move(0, 0);
  await page.waitForTimeout(500); // what is drawn once it is there
}

function shoot(page, name) {
  return page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

async function take(stack, name) {
  const pages = await pagesOf(stack);
  for (const colorScheme of ["light", "dark"]) {
    for (const [width, height] of [
      [1280, 800],
      [360, 740],
      [3840, 2160],
    ]) {
      const page = await stack.signIn({ colorScheme, viewport: { width, height } });
      for (const [what, hash] of Object.entries(pages)) {
        await page.goto(stack.panel + hash);
        await settled(page);
        await shoot(page, `${name}-${what}-${colorScheme}-${width}`);
      }
      await page.context().close();
    }
  }
}

// A dialog, what waits, what failed, what was begun, and a pawl that is away.
async function takeStates(stack) {
  for (const width of [1280, 360]) {
    const page = await stack.signIn({ viewport: { width, height: 800 } });
    await page.goto(`${stack.panel}#/orders`);
    await settled(page);
    await page.getByRole("button", { name: "Place an order" }).click();
    await shoot(page, `state-dialog-${width}`);
    await page.getByLabel("Instrument").fill("BTC-USDT-SWAP");
    await page.getByLabel("Size").fill("0.1");
    await page.getByLabel("Price", { exact: true }).fill("40000");
    await page.route("**/v1/orders?wait*", (route) => route.abort());
    await page.getByRole("button", { name: "Place it" }).click();
    await page.getByRole("dialog").getByText(/is not known/).waitFor();
    await shoot(page, `state-doubtful-${width}`);
    await page.keyboard.press("Escape");
    await shoot(page, `state-begun-${width}`);
    await page.route("**/v1/usage*", () => {});
    await page.route("**/v1/series*", () => {});
    for (const what of ["tenants", "overview"]) {
      await page.goto(`${stack.panel}#/${what}`);
      await page.locator(".loading").first().waitFor();
      await shoot(page, `state-loading-${what}-${width}`);
    }
    await page.route("**/v1/policies", (route) => route.fulfill({ status: 500, body: "{}" }));
    await page.goto(`${stack.panel}#/policies`);
    await page.getByRole("alert").first().waitFor();
    await shoot(page, `state-error-${width}`);
    await page.context().close();
  }
  const page = await stack.signIn({ viewport: { width: 1280, height: 800 } });
  await settled(page);
  await stack.kill();
  await page.getByText("Disconnected").waitFor();
  await shoot(page, "state-disconnected-1280");
  await page.setViewportSize({ width: 360, height: 740 });
  await shoot(page, "state-disconnected-360");
}

const full = await Stack.start({ rate: "220/1m", settings });
let looking = true;
const sending = traffic(full, () => looking);
try {
  await happen(full);
  await take(full, "full");
  looking = false;
  await takeStates(full);
} finally {
  looking = false;
  await sending.catch(() => {}); // one was cut off
  await full.stop();
}
const empty = await Stack.start();
try {
  await take(empty, "empty");
} finally {
  await empty.stop();
}
