// The okx-api SDK, pointed at an emulated OKX. Reads a plan, makes its calls one after the other,
// and prints what the SDK made of each, as an object in JSON.
//
//   {"url": "http://…", "key": "…", "secret": "…", "passphrase": "…", "calls": [CALL…], "pushes": N}
//   CALL: {"method": "submitOrder", "arguments": [{…}]}
//
// With "pushes" it first subscribes to the order channel, and waits for so many at the end.
// tests/clients/conftest.py sets NODE_PATH, since the package is installed outside the tree.
"use strict";

const fs = require("node:fs");

globalThis.crypto ??= require("node:crypto").webcrypto; // Node 18 does not have it there
const { RestClient, WebsocketClient } = require("okx-api");

const PUSH_WAIT_MS = 15_000;
const silent = { trace() {}, info() {}, error() {} };

function restOf(plan) {
  return new RestClient(
    {
      apiKey: plan.key,
      apiSecret: plan.secret,
      apiPass: plan.passphrase,
      baseUrl: plan.url,
      demoTrading: true,
    },
    { timeout: 10_000 },
  );
}

// Resolves once the channel is subscribed to.
function listen(plan, pushed) {
  const client = new WebsocketClient(
    {
      accounts: [{ apiKey: plan.key, apiSecret: plan.secret, apiPass: plan.passphrase }],
      wsUrl: plan.url.replace("http", "ws") + "/ws/v5/private",
      demoTrading: true,
    },
    silent,
  );
  client.on("update", (event) => pushed.push(...event.data));
  const subscribed = new Promise((resolve, reject) => {
    client.on("response", (event) => event.event === "subscribe" && resolve());
    client.on("exception", (event) => reject(new Error(JSON.stringify(event))));
  });
  client.subscribe({ channel: "orders", instType: "ANY" });
  return subscribed;
}

async function until(isSo) {
  const end = Date.now() + PUSH_WAIT_MS;
  while (!isSo() && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 10));
}

async function make(call, rest) {
  try {
    return { value: await rest[call.method](...(call.arguments || [])), error: null };
  } catch (error) {
    return { value: null, error: error instanceof Error ? { message: error.message } : error };
  }
}

async function main() {
  const plan = JSON.parse(fs.readFileSync(0, "utf-8"));
  const pushed = [];
  if (plan.pushes) await listen(plan, pushed);
  const rest = restOf(plan);
  const results = [];
  for (const call of plan.calls) results.push(await make(call, rest));
  if (plan.pushes) await until(() => pushed.length >= plan.pushes);
  fs.writeSync(1, JSON.stringify({ results, pushed }));
  process.exit(0); // the WebSocket would be kept open
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
