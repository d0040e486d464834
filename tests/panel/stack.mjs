// A real `pawl serve` with a demo upstream, an emulated venue and a queue in a folder, and a
// browser in front of its panel. PAWL_BINARY says which pawl, CHROMIUM which browser; PANEL_FILES,
// where it is set, a folder whose files stand in for those in the binary: to try a change without
// building pawl.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const require = createRequire(import.meta.url); // finds what NODE_PATH names
export const { chromium } = require("playwright-core");
export const axe = require.resolve("axe-core/axe.min.js");

export const token = "correct-horse-battery";
const waitMs = 60_000;

/** Until the condition holds; who waits in vain says for what. */
export async function waitFor(condition, what) {
  const deadline = Date.now() + waitMs;
  for (;;) {
    const held = await Promise.resolve(condition()).catch(() => false);
    if (held) return held;
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function configuration(ports, options) {
  const { settings = "", trading = true, rate = "10/1h" } = options;
  const { upgrade = "https://example.org/plans", records = "sqlite:pawl.db" } = options;
  return `
server:
  listen: 127.0.0.1:${ports.guarded}
  upstream: http://127.0.0.1:${ports.upstream}
  admin:
    listen: 127.0.0.1:${ports.admin}
    token: "${options.token ?? token}"
    panel:
      trading: ${trading}
      upgrade_text: Get more room
      upgrade_link: "${upgrade}"
tenants: { upgrades: { free: pro }, plans_file: plans.json }
plans:
  free: { calls: ${rate} }
  pro: { calls: 1000/1h }
  tiny: { calls: 2/1h }
limits:
  buckets:
    - { name: calls, match: { path: "/**" }, rate: ${rate} }
    - { name: shy, match: { path: "/**" }, rate: 3/1h, shadow: true }
${options.buckets ?? ""}idempotency: { store: "${records}" }
order_control: { frequency_limit: { enabled: true${weeklyOf(options)} } }
orders:
  database: orders.db
  rate: 20/1s
  settle: 1s
  patience: 100ms
  venues:
    okx:
      base_url: http://127.0.0.1:${ports.okx}
      api_key: key
      secret_key: secret
      passphrase: phrase
${saxoOf(ports)}queue: { url: "dir:queue" }
audit: { sinks: ["file:audit.jsonl"] }
log: { level: info, format: json }
${options.hook === undefined ? "" : hookOf(ports, options.hook)}${settings}`;
}

// Where the demo upstream takes events: /fail takes none.
function hookOf({ upstream }, path) {
  return `webhooks:
  database: hooks.db
  endpoints:
    - name: hook
      url: http://127.0.0.1:${upstream}${path}
      secret: a-secret-of-enough-characters
`;
}

// Null: as many as by default.
function weeklyOf({ weekly = 5 }) {
  return weekly === null ? "" : `, weekly_max_orders: ${weekly}`;
}

function saxoOf({ saxo }) {
  if (saxo === undefined) return "";
  return `    saxo:
      base_url: http://127.0.0.1:${saxo}/sim/openapi
      access_token: token
      client_key: client
      account_key: account
`;
}

// The lines that it says on one of its outputs, as they come.
function linesOf(output, hear) {
  createInterface(output).on("line", hear);
}

export class Stack {
  static async start(options = {}) {
    const stack = new Stack();
    stack.folder = mkdtempSync(join(tmpdir(), "pawl-panel-"));
    stack.options = options;
    stack.markets = [];
    stack.ports = { guarded: 0, admin: 0 };
    try {
      await stack.#startAll();
    } catch (error) {
      await stack.stop();
      throw error;
    }
    return stack;
  }

  // Each chooses its port, and says it: one that was free a moment ago may be another's now.
  async #startAll() {
    const upstream = await this.#begin(["demo-upstream", "--listen", "127.0.0.1:0"], 1);
    this.upstream = upstream.child;
    [this.ports.upstream] = upstream.ports;
    [this.ports.okx, this.ports.control] = await this.#market("okx");
    if (this.options.saxo) [this.ports.saxo, this.ports.saxo_control] = await this.#market("saxo");
    await this.serve();
  }

  async #market(venue) {
    const { child, ports } = await this.#begin(
      ["emulate", venue, "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0"],
      2,
    );
    this.markets.push(child);
    return ports;
  }

  // Once it has said that many lines, each with a port at its end.
  async #begin(words, lines) {
    const child = this.#spawn(words, ["ignore", "pipe", "inherit"]);
    const ports = await new Promise((resolve, reject) => {
      const heard = [];
      linesOf(child.stdout, (line) => {
        heard.push(Number(/:(\d+)$/.exec(line)?.[1]));
        if (heard.length === lines) resolve(heard);
      });
      child.once("exit", (code) => reject(new Error(`${words[0]} ended with ${code}`)));
    });
    return { child, ports };
  }

  #spawn(words, stdio) {
    return spawn(process.env.PAWL_BINARY, words, { cwd: this.folder, stdio });
  }

  /** Started again it has the ports it had: the page knows no others. */
  async serve() {
    writeFileSync(join(this.folder, "pawl.yaml"), configuration(this.ports, this.options));
    await waitFor(() => this.#tryToServe(), "pawl to serve");
    await waitFor(async () => (await fetch(`${this.admin}/readyz`)).ok, "pawl to be ready");
  }

  // False: it ended. A port may be somebody else's for a moment.
  async #tryToServe() {
    this.pawl = this.#spawn(["serve", "--config", "pawl.yaml"], ["ignore", "ignore", "pipe"]);
    const said = [];
    const told = await new Promise((resolve) => {
      linesOf(this.pawl.stderr, (line) => {
        said.push(line);
        if (line.includes('"event":"serving"')) resolve(JSON.parse(line));
      });
      this.pawl.once("exit", () => resolve(null));
    });
    if (told === null) {
      console.error(said.join("\n"));
      return false;
    }
    this.ports.guarded = Number(told.guarded.split(":").pop());
    this.ports.admin = Number(told.admin.split(":").pop());
    return true;
  }

  async kill() {
    const ended = new Promise((resolve) => this.pawl.once("exit", resolve));
    this.pawl.kill("SIGKILL");
    await ended;
  }

  get admin() {
    return `http://127.0.0.1:${this.ports.admin}`;
  }
  get panel() {
    return `${this.admin}/panel/`;
  }

  /** A request through the gateway. */
  send(path, { tenant = "acme", key, method = "GET", body } = {}) {
    const headers = tenant === null ? {} : { "X-Tenant-Id": tenant };
    if (key !== undefined) headers["Idempotency-Key"] = key;
    return fetch(`http://127.0.0.1:${this.ports.guarded}${path}`, { method, headers, body });
  }

  /** A program's call of the admin API; its JSON. */
  async ask(path, body, method = body === undefined ? "GET" : "POST", fields = {}) {
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    const answer = await fetch(this.admin + path, {
      method,
      headers: { ...headers, ...fields },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    return answer.json();
  }

  /** How often the audit log has that operation, once all that was recorded is in it. */
  async times(operation) {
    await waitFor(async () => {
      const answer = await fetch(`${this.admin}/metrics`, {
        headers: { Authorization: `Bearer ${token}` },
      });
      return /^pawl_audit_lag_events 0$/m.test(await answer.text());
    }, "the log to be written");
    const { events } = await this.ask("/v1/audit?limit=1000");
    return events.filter((event) => event.operation === operation).length;
  }

  /** A command of pawl beside the server, to its end. */
  async run(...words) {
    const child = this.#spawn(words, "ignore");
    return new Promise((resolve) => child.once("exit", resolve));
  }

  order(reference, fields = {}) {
    const order = {
      venue: "okx",
      inst: "BTC-USDT-SWAP",
      side: "buy",
      type: "limit",
      size: "0.1",
      price: "40000",
      external_reference: reference,
    };
    return this.ask("/v1/orders?wait_seconds=30", order, "POST", fields);
  }

  /** The next order is placed, its answer is lost, and nothing can be read of any. */
  async loseAnswers() {
    const unreadable = ["order", "pending", "history", "archive"].map((call) => ({
      when: { call },
      do: "html_502_before_accept",
      times: 0,
    }));
    const script = [{ when: { call: "place" }, do: "drop_after_accept" }, ...unreadable];
    await this.faults({ script });
  }

  async loseOrder(reference) {
    await this.loseAnswers();
    await this.order(reference);
  }

  async market_orders(control = this.ports.control) {
    const told = await (await fetch(`http://127.0.0.1:${control}/orders`)).json();
    return told.orders;
  }

  async faults(script) {
    const url = `http://127.0.0.1:${this.ports.control}/faults`;
    const answer = await fetch(url, { method: "POST", body: JSON.stringify(script) });
    if (!answer.ok) throw new Error(await answer.text());
  }

  /** A browser of its own; what its pages complain of is kept. */
  async browse(options = {}) {
    this.browser ??= await chromium.launch({
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: ["--no-sandbox"],
    });
    const context = await this.browser.newContext({
      viewport: { width: 1280, height: 900 },
      ...options,
    });
    context.setDefaultTimeout(waitMs);
    if (process.env.PANEL_FILES) await replaceFiles(context, process.env.PANEL_FILES);
    const page = await context.newPage();
    page.complaints = [];
    page.on("pageerror", (error) => page.complaints.push(String(error)));
    page.on("console", (message) => {
      if (message.type() === "error") page.complaints.push(message.text());
    });
    return page;
  }

  async signIn(options) {
    return this.signInOn(await this.browse(options));
  }

  async signInOn(page) {
    await page.goto(this.panel);
    await page.getByLabel("Token").fill(token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.locator("#main").waitFor();
    page.complaints.length = 0; // that nobody was signed in
    return page;
  }

  async stop() {
    await this.browser?.close();
    const children = [this.pawl, ...this.markets, this.upstream].filter(
      (child) => child && child.exitCode === null && child.signalCode === null,
    );
    const ended = children.map((child) => new Promise((resolve) => child.once("exit", resolve)));
    for (const child of children) child.kill("SIGTERM");
    await Promise.all(ended);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

// With the fields of the real ones.
async function replaceFiles(context, folder) {
  await context.route("**/panel/*", async (route) => {
    const name = new URL(route.request().url()).pathname.split("/").pop() || "index.html";
    const response = await route.fetch().catch(() => null);
    if (response === null) return route.abort(); // pawl is away
    await route.fulfill({ response, body: readFileSync(join(folder, name)) });
  });
}

/** Headless tabs are all in sight. */
export async function turnTo(page, { hidden }) {
  await page.evaluate((value) => {
    Object.defineProperty(document, "hidden", { configurable: true, value });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
}

/** The form that places an order, filled in. */
export async function fillOrder(page) {
  await page.getByRole("button", { name: "Place an order" }).click();
  await page.getByLabel("Instrument").fill("BTC-USDT-SWAP");
  await page.getByLabel("Size").fill("0.1");
  await page.getByLabel("Price", { exact: true }).fill("40000");
}

/** One stack for the tests of a file; `prepare` is what happened before they look. */
export function withStack(hooks, options, prepare = async () => {}) {
  const holder = {};
  hooks.before(async () => {
    holder.stack = await Stack.start(options);
    await prepare(holder.stack);
  });
  hooks.after(() => holder.stack?.stop());
  return holder;
}
