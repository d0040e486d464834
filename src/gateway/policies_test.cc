// Goal: what is in force is told with what it refused. Method: settings of two buckets, decisions
// counted by hand.
#include "gateway/policies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "log/capture_sink.h"
#include "runtime/manual_clock.h"

namespace pawl::gateway {
namespace {

using ::testing::HasSubstr;

class PoliciesTest : public ::testing::Test {
 protected:
  PoliciesTest() {
    config.limits.buckets = {{.name = "calls",
                              .match = {.path = request::PathPattern::parse("/orders/**").value(),
                                        .methods = {"POST", "PUT"}},
                              .scope = config::Scope::tenant,
                              .rate = limit::Rate{5, Duration::seconds(1)}},
                             {.name = "shy",
                              .scope = config::Scope::everyone,
                              .rate = limit::Rate{1, Duration::seconds(1)},
                              .shadow = true}};
    config.plans["pro"] = {{"calls", {50, Duration::minutes(1)}}};
    config.tenants.upgrades = {{"free", "pro"}};
    settings = make_settings(config);
  }
  // Both said no; the one in shadow does not count for the answer.
  void refuse_both() {
    std::vector<limit::Count> counts;
    limit::Answer answer;
    answer.allowed = false;
    for (const limit::Policy* policy : settings->plans.default_plan().policies) {
      counts.push_back({.policy = policy, .key = "x"});
      limit::Verdict verdict;
      verdict.allowed = false;
      answer.verdicts.add(verdict);
    }
    telemetry.count_limit(counts, answer);
  }

  config::Config config;
  SettingsPtr settings;
  metrics::Registry registry;
  ManualClock clock;
  log::CaptureSink lines;
  log::Output output{clock, lines, {}};
  Telemetry telemetry{registry, log::Logger(output)};
};

TEST_F(PoliciesTest, TellLimitsWithWhatTheyRefused) {
  const std::vector<std::string> names = {"calls", "shy"};
  telemetry.use_buckets(names);
  refuse_both();
  refuse_both();
  const std::string told = json::print(limits_json(*settings, telemetry));
  EXPECT_THAT(told, HasSubstr(R"("match":"POST, PUT /orders/**")"));
  EXPECT_THAT(told, HasSubstr(R"("name":"calls","refusals":2,"rule":"5/1s","scope":"tenant",)"
                              R"("shadow":false,"shadow_refusals":0)"));
  EXPECT_THAT(told, HasSubstr(R"("match":"/**","name":"shy","refusals":0,"rule":"1/1s",)"
                              R"("scope":"everyone","shadow":true,"shadow_refusals":2)"));
  EXPECT_THAT(registry.text(),
              HasSubstr(R"(pawl_limit_refusals_total{bucket="shy",mode="shadow"} 2)"));
}

TEST_F(PoliciesTest, CountNothingForABucketThatNobodyNamed) {
  refuse_both();
  EXPECT_THAT(json::print(limits_json(*settings, telemetry)), HasSubstr(R"("refusals":0)"));
}

TEST_F(PoliciesTest, TellPlansAndWhatIsOfferedNext) {
  EXPECT_EQ(json::print(plans_json(config)),
            R"([{"next_plan":"pro","plan":"free","rates":[]},)"
            R"({"next_plan":null,"plan":"pro","rates":[{"bucket":"calls","rate":"50/1m"}]}])");
}

}  // namespace
}  // namespace pawl::gateway
