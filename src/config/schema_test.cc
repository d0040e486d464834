// Goal: the table is the single source of defaults, and says what the contract says.
// Method: the defaults word for word; every row's own default read and printed again.
#include "config/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "base/bounds.h"

namespace pawl::config {
namespace {

TEST(Schema, HoldsTheDefaultsOfTheContract) {
  const Config config;
  EXPECT_EQ(to_string(config.server.listen), "127.0.0.1:8080");
  ASSERT_EQ(config.server.upstreams.size(), 1U);
  EXPECT_EQ(config.server.upstreams[0],
            (Upstream{.host = "127.0.0.1", .port = 9000, .tls = false}));
  EXPECT_EQ(config.server.upstream_ca, "");
  EXPECT_EQ(config.server.connections, 10'000);
  EXPECT_EQ(config.server.connections_per_address, 1'000);
  EXPECT_EQ(config.server.requests, 4'096);
  EXPECT_FALSE(config.server.websocket);
  EXPECT_EQ(config.server.health.path, "");
  EXPECT_EQ(config.server.health.interval, Duration::seconds(5));
  EXPECT_EQ(config.server.health.timeout, Duration::seconds(1));
  EXPECT_EQ(config.server.health.unhealthy_after, 2);
  EXPECT_EQ(config.server.health.healthy_after, 1);
  EXPECT_EQ(config.server.timeouts.head, Duration::seconds(5));
  EXPECT_EQ(config.server.timeouts.idle, Duration::seconds(60));
  EXPECT_EQ(config.server.timeouts.connect, Duration::seconds(5));
  EXPECT_EQ(config.server.timeouts.answer, Duration::seconds(60));
  EXPECT_EQ(config.server.tls.certificate, "");
  EXPECT_EQ(config.server.tls.key, "");
  EXPECT_TRUE(config.server.admin.hosts.empty());
  EXPECT_EQ(config.server.threads, 0);
  EXPECT_EQ(to_string(config.server.admin.listen), "127.0.0.1:8081");
  EXPECT_TRUE(config.server.admin.token.empty());
  EXPECT_EQ(config.tenants.header, "X-Tenant-Id");
  EXPECT_TRUE(config.tenants.trusted_proxies.empty());
  EXPECT_EQ(config.tenants.missing, MissingTenant::anonymous);
  EXPECT_TRUE(config.tenants.api_keys.empty());
  EXPECT_EQ(config.tenants.ipv6_prefix, 64);
  EXPECT_EQ(config.tenants.plans_file, "data/plans.json");
  EXPECT_TRUE(config.tenants.upgrades.empty());
  EXPECT_EQ(config.tenants.default_plan, "free");
  EXPECT_TRUE(config.tenants.plans.empty());
  EXPECT_TRUE(config.tenants.overrides.empty());
  EXPECT_TRUE(config.plans.empty());
  EXPECT_EQ(config.limits.store.kind, StoreSetting::Kind::memory);
  EXPECT_EQ(config.limits.calendar_store.kind, StoreSetting::Kind::none);
  EXPECT_EQ(config.limits.store_deadline, bounds::redis_deadline);
  EXPECT_EQ(config.limits.on_store_failure, OnStoreFailure::local);
  EXPECT_THAT(config.limits.headers,
              ::testing::ElementsAre(LimitHeader::ratelimit, LimitHeader::legacy));
  ASSERT_EQ(config.limits.buckets.size(), 1U);
  const Bucket& bucket = config.limits.buckets[0];
  EXPECT_EQ(bucket.name, "global");
  EXPECT_EQ(bucket.match, request::Match());
  EXPECT_EQ(bucket.scope, Scope::tenant);
  EXPECT_EQ(bucket.algorithm, Algorithm::sliding_window);
  EXPECT_EQ(bucket.rate, (limit::Rate{100, Duration::minutes(1)}));
  EXPECT_FALSE(bucket.burst.has_value());
  EXPECT_FALSE(bucket.shadow);
  EXPECT_EQ(bucket.on_change, limit::OnChange::as_is);
  EXPECT_EQ(print(config.idempotency.store), "sqlite:data/pawl.db");
  EXPECT_EQ(config.idempotency.durability, Durability::fsync);
  EXPECT_EQ(config.idempotency.ttl, Duration::hours(24));
  EXPECT_EQ(config.idempotency.lease, Duration::seconds(60));
  EXPECT_EQ(config.idempotency.store_deadline, Duration::milliseconds(50));
  EXPECT_EQ(config.idempotency.header, "Idempotency-Key");
  EXPECT_THAT(config.idempotency.methods, ::testing::ElementsAre("POST", "PUT", "PATCH", "DELETE"));
  EXPECT_TRUE(config.idempotency.require.empty());
  EXPECT_EQ(config.idempotency.fingerprint, request::Fingerprint::bytes);
  EXPECT_EQ(config.idempotency.on_mismatch, request::OnMismatch::reject);
  EXPECT_EQ(config.idempotency.on_in_flight, request::OnInFlight::conflict);
  EXPECT_EQ(config.idempotency.on_unknown, request::OnUnknown::conflict);
  EXPECT_EQ(config.idempotency.on_store_failure, request::OnRecordFailure::execute);
  EXPECT_EQ(config.idempotency.body_limit, 1024 * 1024);
  EXPECT_EQ(config.order_control.frequency_limit, order::FrequencyLimit());
  EXPECT_EQ(config.orders.database, "data/orders.db");
  EXPECT_EQ(config.orders.settle, Duration::seconds(20));
  EXPECT_EQ(config.orders.rate, (limit::Rate{1, Duration::seconds(1)}));
  EXPECT_EQ(config.orders.burst, 0);
  EXPECT_TRUE(config.orders.adaptive);
  EXPECT_EQ(config.orders.retry.max_retries, 2);
  EXPECT_EQ(config.orders.retry.base_delay, Duration::seconds(1));
  EXPECT_EQ(config.orders.retry.max_delay, Duration::seconds(10));
  EXPECT_EQ(config.orders.retry.multiplier_milli, 2000);
  EXPECT_EQ(config.orders.retry.jitter_milli, 250);
  EXPECT_EQ(config.orders.retry.min_delay, Duration::milliseconds(100));
  EXPECT_EQ(config.orders.timeout, Duration::seconds(10));
  EXPECT_FALSE(config.orders.venues.any());
  EXPECT_EQ(config.webhooks.database, "data/webhooks.db");
  EXPECT_TRUE(config.webhooks.endpoints.empty());
  EXPECT_TRUE(config.retry.policies.empty());
  EXPECT_TRUE(config.retry.classify.empty());
  EXPECT_EQ(config.retry.budget, retry::BudgetRule());
  EXPECT_EQ(config.retry.breaker, retry::BreakerRule());
  EXPECT_EQ(config.queue.url, "dir:data/queue");
  ASSERT_EQ(config.audit.sinks.size(), 1U);
  EXPECT_EQ(print(config.audit.sinks[0]), "file:data/audit.jsonl");
  EXPECT_EQ(config.audit.on_full, OnFull::block);
  EXPECT_EQ(config.audit.rotate, std::int64_t{1} << 30);
  EXPECT_EQ(config.audit.retry_alert, 60);
  EXPECT_EQ(config.log.level, LogLevel::info);
  EXPECT_EQ(config.log.format, LogFormat::text);
}

TEST(Schema, FillsADefaultConfigWithTheDefaultOfEachRow) {
  const Config config;
  for (const auto& field : config_fields()) {
    Config other;
    Reader reader("table", [](std::string_view) { return std::nullopt; });
    field.read(reader, field.standard, field.path, other);
    EXPECT_TRUE(reader.take_problems().empty()) << field.path;
    EXPECT_TRUE(same(field.print(other), field.print(config))) << field.path;
  }
}

TEST(Schema, PassesItsOwnChecks) {
  Reader reader("table", [](std::string_view) { return std::nullopt; });
  check_together(Config(), reader);
  EXPECT_TRUE(reader.take_problems().empty());
}

TEST(Schema, DescribesEveryRowOnce) {
  std::set<std::string> paths;
  for (const auto& field : config_fields()) {
    EXPECT_TRUE(paths.insert(field.path).second) << field.path;
    EXPECT_FALSE(field.type.allowed.empty()) << field.path;
    EXPECT_TRUE(field.help.ends_with('.')) << field.path;
  }
}

TEST(Schema, NamesWhatOnlyARestartCanChange) {
  std::vector<std::string> paths;
  for (const auto& field : config_fields()) {
    if (field.needs_restart) paths.push_back(field.path);
  }
  EXPECT_THAT(
      paths,
      ::testing::ElementsAre(
          "server.listen", "server.threads", "server.tls.certificate", "server.tls.key",
          "server.admin.listen", "tenants.plans_file", "limits.store", "limits.calendar_store",
          "limits.store_deadline", "limits.on_store_failure", "limits.batch", "idempotency.store",
          "idempotency.durability", "order_control.frequency_limit.enabled",
          "order_control.frequency_limit.weekly_max_orders",
          "order_control.frequency_limit.exclude_reduce_only", "orders.database", "orders.settle",
          "orders.patience", "orders.rate", "orders.burst", "orders.adaptive",
          "orders.retry.max_retries", "orders.retry.base_delay", "orders.retry.max_delay",
          "orders.retry.multiplier", "orders.retry.jitter", "orders.retry.min_delay",
          "orders.timeout", "orders.poll", "orders.venues", "webhooks.database", "queue.url",
          "queue.shards", "queue.kept", "queue.lease", "queue.limits", "audit.sinks",
          "audit.on_full", "audit.rotate"));
}

}  // namespace
}  // namespace pawl::config
