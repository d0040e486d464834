// What ratelimit-header-parser makes of a gateway's answers. Reads a plan, asks as often as it
// says, and prints a list of what was read back, as JSON.
//
//   {"port": N, "tenant": "…", "asks": N, "reset": "unix" | "seconds", "without": [FIELD…]}
//
// The parser looks at a combined RateLimit field first and knows draft 7's alone: "without" takes
// fields out before it looks. tests/clients/conftest.py sets NODE_PATH, since the package is
// installed outside the tree.
"use strict";

const fs = require("node:fs");
const http = require("node:http");
const { parseRateLimit } = require("ratelimit-header-parser");

function ask(plan) {
  const options = { host: "127.0.0.1", port: plan.port, headers: { "X-Tenant-Id": plan.tenant } };
  return new Promise((resolve, reject) => {
    http.get(options, (response) => {
      response.resume();
      response.on("end", () => resolve(response));
      response.on("error", reject);
    }).on("error", reject);
  });
}

function read(response, plan) {
  const now = Date.now() / 1000;
  const headers = { ...response.headers };
  for (const name of plan.without || []) delete headers[name];
  const found = parseRateLimit(headers, { reset: plan.reset });
  return {
    status: response.statusCode,
    limit: found.limit,
    used: found.used,
    remaining: found.remaining,
    resetIn: found.reset.getTime() / 1000 - now,
    retryAfter: Number(response.headers["retry-after"] || "0"),
  };
}

async function main() {
  const plan = JSON.parse(fs.readFileSync(0, "utf-8"));
  const results = [];
  for (let i = 0; i < plan.asks; ++i) results.push(read(await ask(plan), plan));
  process.stdout.write(JSON.stringify(results));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
