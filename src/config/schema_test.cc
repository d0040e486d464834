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
  EXPECT_EQ(config.server.upstream.host, "127.0.0.1");
  EXPECT_EQ(config.server.upstream.port, 9000);
  EXPECT_EQ(config.server.threads, 0);
  EXPECT_EQ(to_string(config.server.admin.listen), "127.0.0.1:8081");
  EXPECT_TRUE(config.server.admin.token.empty());
  EXPECT_EQ(config.tenants.header, "X-Tenant-Id");
  EXPECT_TRUE(config.tenants.trusted_proxies.empty());
  EXPECT_EQ(config.tenants.missing, MissingTenant::anonymous);
  EXPECT_EQ(config.tenants.default_plan, "free");
  EXPECT_TRUE(config.tenants.plans.empty());
  EXPECT_TRUE(config.tenants.overrides.empty());
  EXPECT_TRUE(config.plans.empty());
  EXPECT_EQ(config.limits.store.kind, LimitStore::Kind::memory);
  EXPECT_EQ(config.limits.calendar_store.kind, LimitStore::Kind::none);
  EXPECT_EQ(config.limits.store_deadline, bounds::redis_deadline);
  EXPECT_EQ(config.limits.on_store_failure, OnStoreFailure::local);
  EXPECT_THAT(config.limits.headers,
              ::testing::ElementsAre(LimitHeader::ratelimit, LimitHeader::legacy));
  ASSERT_EQ(config.limits.buckets.size(), 1U);
  const Bucket& bucket = config.limits.buckets[0];
  EXPECT_EQ(bucket.name, "global");
  EXPECT_EQ(bucket.scope, Scope::tenant);
  EXPECT_EQ(bucket.algorithm, Algorithm::sliding_window);
  EXPECT_EQ(bucket.rate, (limit::Rate{100, Duration::minutes(1)}));
  EXPECT_FALSE(bucket.burst.has_value());
  EXPECT_FALSE(bucket.shadow);
  EXPECT_EQ(bucket.on_change, limit::OnChange::as_is);
  ASSERT_EQ(config.audit.sinks.size(), 1U);
  EXPECT_EQ(config.audit.sinks[0].path, "data/audit.jsonl");
  EXPECT_EQ(config.audit.on_full, OnFull::block);
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
  EXPECT_THAT(paths,
              ::testing::ElementsAre("server.listen", "server.threads", "server.admin.listen",
                                     "limits.store", "limits.calendar_store",
                                     "limits.store_deadline", "limits.on_store_failure",
                                     "limits.batch", "audit.sinks", "audit.on_full"));
}

}  // namespace
}  // namespace pawl::config
