// A NestJS service that answers by itself and counts tenants with Nest's throttler, as its
// documentation shows both; the tenant is the one of the X-Tenant-Id field.
//
//   nest_service.js PORT LIMIT   LIMIT requests a tenant and minute
//
// tools/compare runs it with NODE_PATH, since the packages are installed outside the tree.
"use strict";

require("reflect-metadata");
const { Controller, Get, Module } = require("@nestjs/common");
const { APP_GUARD, NestFactory } = require("@nestjs/core");
const { ThrottlerGuard, ThrottlerModule } = require("@nestjs/throttler");

const [port, limit] = process.argv.slice(2).map(Number);

class Hello {
  hello() {
    return "hello world\n";
  }
}
// Decorators are functions; without TypeScript they are called.
Get()(Hello.prototype, "hello", Object.getOwnPropertyDescriptor(Hello.prototype, "hello"));
Controller()(Hello);

class TenantGuard extends ThrottlerGuard {
  async getTracker(request) {
    return request.headers["x-tenant-id"];
  }
}

class Service {}
Module({
  imports: [ThrottlerModule.forRoot([{ ttl: 60_000, limit }])],
  controllers: [Hello],
  providers: [{ provide: APP_GUARD, useClass: TenantGuard }],
})(Service);

NestFactory.create(Service, { logger: false })
  .then((service) => service.listen(port, "127.0.0.1"))
  .catch((error) => {
    console.error(error);
    process.exit(1);
  });
