// Goal: a request is counted against every bucket that matches it, under the key of its scope and
// the rate of its tenant. Method: buckets of all scopes, tenants with and without a plan.
#include "gateway/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pawl::gateway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SettingsTest : public ::testing::Test {
 protected:
  SettingsTest() {
    config.limits.buckets = {
        bucket("mine", config::Scope::tenant), bucket("key", config::Scope::api_key),
        bucket("here", config::Scope::address), bucket("all", config::Scope::everyone)};
    config.plans["pro"] = {{"mine", {50, Duration::seconds(1)}}};
    config.plans["max"] = {{"mine", {90, Duration::seconds(1)}}};
    config.tenants.plans["acme"] = "pro";
    config.tenants.overrides["vip"] = {{"mine", {70, Duration::seconds(1)}}};
    head.method = "GET";
    head.target = "/v1/things?a=b";
  }
  static config::Bucket bucket(std::string name, config::Scope scope) {
    return {.name = std::move(name), .scope = scope, .rate = limit::Rate{5, Duration::seconds(1)}};
  }
  static config::Upstream upstream(std::string host, std::uint16_t port, bool tls) {
    return {.host = std::move(host), .port = port, .tls = tls};
  }
  std::vector<std::string> counted(std::string_view name, std::string_view key_plan = "") {
    const SettingsPtr settings = make_settings(config, live);
    std::vector<limit::Count> counts;
    const request::Tenant tenant{.name = std::string(name),
                                 .plan = std::string(key_plan),
                                 .limit_key = "tenant:x",
                                 .api_key_key = "key:y",
                                 .address_key = "address:z"};
    fill_counts(counts, *settings, tenant, head);
    fill_counts(counts, *settings, tenant, head);  // as for the next request of a connection
    std::vector<std::string> out;
    for (const limit::Count& count : counts) {
      out.push_back(count.policy->name + " " + std::string(count.key.name()) + " " +
                    limit::to_string(count.policy->rule));
    }
    return out;
  }

  config::Config config;
  LivePlans live;
  http::RequestHead head;
};

TEST_F(SettingsTest, CountsByScope) {
  EXPECT_THAT(counted(""), ElementsAre("mine tenant:x 5/1s", "key key:y 5/1s",
                                       "here address:z 5/1s", "all everyone 5/1s"));
}

TEST_F(SettingsTest, CountsWhatMatches) {
  config.limits.buckets[0].match.path = request::PathPattern::parse("/v1/**").value();
  config.limits.buckets[1].match.methods = {"POST"};
  config.limits.buckets[2].match.path = request::PathPattern::parse("/v2/**").value();
  config.limits.buckets[3].match.header = request::HeaderMatch{.name = "X-Kind", .value = ""};
  EXPECT_THAT(counted("acme"), ElementsAre("mine tenant:x 50/1s"));
  head.method = "POST";
  head.target = "/v2/a";
  EXPECT_THAT(counted(""), ElementsAre("key key:y 5/1s", "here address:z 5/1s"));
  head.method = "GET";
  head.target = "/";
  EXPECT_THAT(counted(""), IsEmpty());
}

TEST_F(SettingsTest, GivesATenantTheRateOfItsPlanOrItsOwn) {
  EXPECT_EQ(counted("acme")[0], "mine tenant:x 50/1s");
  EXPECT_EQ(counted("vip")[0], "mine tenant:x 70/1s");
  config.tenants.default_plan = "pro";
  EXPECT_EQ(counted("other")[0], "mine tenant:x 50/1s");
}

TEST_F(SettingsTest, APlanCountsForMoreTheLaterItWasGiven) {
  EXPECT_EQ(counted("other", "max")[0], "mine tenant:x 90/1s");
  EXPECT_EQ(counted("acme", "max")[0], "mine tenant:x 50/1s") << "named in tenants.plans";
  live["acme"] = "free";
  live["other"] = "pro";
  EXPECT_EQ(counted("acme", "max")[0], "mine tenant:x 5/1s");
  EXPECT_EQ(counted("other", "max")[0], "mine tenant:x 50/1s");
  live["vip"] = "pro";
  EXPECT_EQ(counted("vip", "max")[0], "mine tenant:x 70/1s") << "its own rate";
}

TEST_F(SettingsTest, TellsALivePlanThatIsGone) {
  live["acme"] = "pro";
  EXPECT_TRUE(check_live_plans(config, live));
  live["other"] = "gold";
  const Result<void> checked = check_live_plans(config, live);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, Code::invalid);
  EXPECT_THAT(checked.error().message, HasSubstr("'other'"));
  EXPECT_THAT(checked.error().message, HasSubstr("'gold'"));
}

TEST_F(SettingsTest, KnowsEveryTenantThatIsNamed) {
  live["zoe"] = "pro";
  config.tenants.api_keys = {{.sha256 = std::string(64, 'a'), .tenant = "keyed", .plan = "pro"},
                             {.sha256 = std::string(64, 'b'), .tenant = "keyed", .plan = "max"},
                             {.sha256 = std::string(64, 'c'), .tenant = "acme", .plan = ""}};
  const SettingsPtr settings = make_settings(config, live);
  EXPECT_THAT(settings->tenant_names, ElementsAre("acme", "keyed", "vip", "zoe"));
  EXPECT_EQ(settings->tenants.api_keys.all().size(), 3U);
  EXPECT_EQ(settings->tenants.api_keys.all()[0].tenant, "keyed");
  EXPECT_EQ(settings->key_plan_of.at("keyed"), "pro");
  EXPECT_FALSE(settings->key_plan_of.contains("acme"));
}

TEST_F(SettingsTest, NamesUpstreamsAsAHostFieldDoes) {
  config.server.upstreams = {upstream("a.example", 80, false), upstream("b.example", 443, true),
                             upstream("c.example", 443, false), upstream("::1", 9000, true)};
  std::vector<std::string> hosts;
  const SettingsPtr settings = make_settings(config);
  for (const Upstream& each : settings->upstreams) {
    hosts.push_back((each.tls ? "tls " : "") + each.host);
    EXPECT_EQ(each.target.host.find('['), std::string::npos);
  }
  EXPECT_THAT(hosts, ElementsAre("a.example", "tls b.example", "c.example:443", "tls [::1]:9000"));
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
