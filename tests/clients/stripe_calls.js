// The Stripe SDK, pointed at a gateway. Reads a plan, makes its calls, and prints what the SDK made
// of each, as a list in JSON.
//
//   {"port": N, "secret": "sk_…", "retries": N, "timeout": MS, "calls": [CALL…]}
//   CALL: {"method": "customers.create", "arguments": [{…}], "key": "…"}
//
// With "parallel" they are made all at once. Without "key" the SDK makes its own.
// tests/clients/conftest.py sets NODE_PATH, since the package is installed outside the tree.
"use strict";

const fs = require("node:fs");
const Stripe = require("stripe");

function clientOf(plan) {
  return new Stripe(plan.secret, {
    host: "127.0.0.1",
    port: plan.port,
    protocol: "http",
    maxNetworkRetries: plan.retries,
    timeout: plan.timeout,
    telemetry: false,
  });
}

function told(error) {
  const headers = error.headers || {};
  return {
    type: error.type,
    rawType: error.rawType,
    code: error.code,
    status: error.statusCode,
    message: error.message,
    retryAfter: headers["retry-after"],
    replayed: headers["idempotent-replayed"],
  };
}

// With a client of its own, so that the attempts it sees are its own.
async function make(call, plan) {
  const stripe = clientOf(plan);
  const result = { value: null, error: null, replayed: null, keys: [] };
  stripe.on("request", (event) => result.keys.push(event.idempotency_key || null));
  const path = call.method.split(".");
  const name = path.pop();
  const resource = path.reduce((found, part) => found[part], stripe);
  const options = call.key === undefined ? [] : [{ idempotencyKey: call.key }];
  try {
    result.value = await resource[name](...call.arguments, ...options);
    result.replayed = result.value.lastResponse.headers["idempotent-replayed"] || null;
  } catch (error) {
    result.error = told(error);
  }
  return result;
}

async function main() {
  const plan = JSON.parse(fs.readFileSync(0, "utf-8"));
  const results = [];
  if (plan.parallel) {
    results.push(...(await Promise.all(plan.calls.map((call) => make(call, plan)))));
  } else {
    for (const call of plan.calls) results.push(await make(call, plan));
  }
  fs.writeSync(1, JSON.stringify(results));
  process.exit(0); // the SDK leaves answers unread that it tries again, and their sockets open
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
