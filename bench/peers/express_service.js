// An express service that answers by itself, with express-rate-limit and express-idempotency as
// their documentation shows them; the tenant is the one of the X-Tenant-Id field.
//
//   express_service.js PORT LIMIT   LIMIT requests a tenant and minute
//
// The keys are kept in a map: the adapter that comes with express-idempotency searches a list for
// every request. tools/compare runs it with NODE_PATH, since the packages are installed outside the
// tree.
"use strict";

const express = require("express");
const { getSharedIdempotencyService, idempotency } = require("express-idempotency");
const { rateLimit } = require("express-rate-limit");

const [port, limit] = process.argv.slice(2).map(Number);

class MapAdapter {
  constructor() {
    this.resources = new Map();
  }

  async findByIdempotencyKey(key) {
    return this.resources.get(key) || null;
  }

  async create(resource) {
    if (this.resources.has(resource.idempotencyKey)) throw new Error("Duplicate");
    this.resources.set(resource.idempotencyKey, resource);
  }

  async update(resource) {
    this.resources.set(resource.idempotencyKey, resource);
  }

  async delete(key) {
    this.resources.delete(key);
  }
}

const service = express();
service.use(
  rateLimit({
    windowMs: 60_000,
    limit,
    standardHeaders: "draft-7",
    legacyHeaders: false,
    keyGenerator: (request) => request.headers["x-tenant-id"],
  }),
);
service.get("/", (_request, response) => response.send("hello world\n"));
service.post(
  "/",
  express.text(),
  idempotency({ dataAdapter: new MapAdapter() }),
  (request, response) => {
    if (!getSharedIdempotencyService().isHit(request)) response.send("hello world\n");
  },
);
service.listen(port, "127.0.0.1");
