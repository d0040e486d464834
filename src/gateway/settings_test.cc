// Goal: a request is counted against every bucket, under the key of its scope and the rate of its
// tenant. Method: buckets of all scopes, tenants with and without a plan.
#include "gateway/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pawl::gateway {
namespace {

using ::testing::ElementsAre;

class SettingsTest : public ::testing::Test {
 protected:
  SettingsTest() {
    config.limits.buckets = {bucket("mine", config::Scope::tenant),
                             bucket("here", config::Scope::address),
                             bucket("all", config::Scope::everyone)};
    config.plans["pro"] = {{"mine", {50, Duration::seconds(1)}}};
    config.tenants.plans["acme"] = "pro";
    config.tenants.overrides["vip"] = {{"mine", {70, Duration::seconds(1)}}};
  }
  static config::Bucket bucket(std::string name, config::Scope scope) {
    return {.name = std::move(name), .scope = scope, .rate = limit::Rate{5, Duration::seconds(1)}};
  }
  std::vector<std::string> counted(std::string_view tenant) {
    const SettingsPtr settings = make_settings(config);
    std::vector<limit::Count> counts;
    const Caller caller{.tenant = tenant, .tenant_key = "tenant:x", .address_key = "address:y"};
    fill_counts(counts, *settings, caller);
    fill_counts(counts, *settings, caller);  // as for the next request of a connection
    std::vector<std::string> out;
    for (const limit::Count& count : counts) {
      out.push_back(count.policy->name + " " + std::string(count.key.name()) + " " +
                    limit::to_string(count.policy->rule));
    }
    return out;
  }

  config::Config config;
};

TEST_F(SettingsTest, CountsByScope) {
  EXPECT_THAT(counted(""),
              ElementsAre("mine tenant:x 5/1s", "here address:y 5/1s", "all everyone 5/1s"));
}

TEST_F(SettingsTest, GivesATenantTheRateOfItsPlanOrItsOwn) {
  EXPECT_EQ(counted("acme")[0], "mine tenant:x 50/1s");
  EXPECT_EQ(counted("vip")[0], "mine tenant:x 70/1s");
  config.tenants.default_plan = "pro";
  EXPECT_EQ(counted("other")[0], "mine tenant:x 50/1s");
}

TEST_F(SettingsTest, SpeaksTheDialectsThatAreAskedFor) {
  using Standard = limit::HeaderDialects::Standard;
  const auto dialects = [&](std::vector<config::LimitHeader> headers) {
    config.limits.headers = std::move(headers);
    return make_settings(config)->dialects;
  };
  EXPECT_EQ(dialects({}), (limit::HeaderDialects{.standard = Standard::none, .legacy = false}));
  EXPECT_EQ(dialects({config::LimitHeader::legacy, config::LimitHeader::draft6}),
            (limit::HeaderDialects{.standard = Standard::draft6, .legacy = true}));
  EXPECT_EQ(dialects({config::LimitHeader::draft7}),
            (limit::HeaderDialects{.standard = Standard::draft7, .legacy = false}));
  EXPECT_EQ(dialects({config::LimitHeader::ratelimit}),
            (limit::HeaderDialects{.standard = Standard::ratelimit, .legacy = false}));
}

}  // namespace
}  // namespace pawl::gateway
