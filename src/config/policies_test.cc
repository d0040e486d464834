// Goal: each bucket becomes the policy it describes, and plans and tenants change its rate alone.
// Method: a bucket of every algorithm; one tenant of each kind.
#include "config/policies.h"

#include <gtest/gtest.h>

namespace pawl::config {
namespace {

const limit::Rate rate{100, Duration::minutes(1)};

TEST(Policies, MakeTheRuleOfEachAlgorithm) {
  const auto rule = [](Bucket bucket) { return policy_of(bucket).rule; };
  EXPECT_EQ(rule({.algorithm = Algorithm::sliding_window, .rate = rate}),
            limit::Rule(limit::SlidingWindow{rate}));
  EXPECT_EQ(rule({.algorithm = Algorithm::sliding_log, .rate = rate}),
            limit::Rule(limit::SlidingLog{rate}));
  EXPECT_EQ(rule({.algorithm = Algorithm::token_bucket, .rate = rate, .burst = 7}),
            limit::Rule(limit::TokenBucket(rate, 7)));
  EXPECT_EQ(rule({.algorithm = Algorithm::token_bucket, .rate = rate}),
            limit::Rule(limit::TokenBucket(rate, 0)));
  EXPECT_EQ(rule({.algorithm = Algorithm::concurrency, .slots = 3}),
            limit::Rule(limit::Concurrency{.slots = 3, .lease = Duration::seconds(60)}));
  EXPECT_EQ(rule({.algorithm = Algorithm::concurrency, .slots = 3, .lease = Duration::hours(1)}),
            limit::Rule(limit::Concurrency{.slots = 3, .lease = Duration::hours(1)}));
  EXPECT_EQ(rule({.algorithm = Algorithm::calendar, .limit = 5, .every = limit::CalendarUnit::day}),
            limit::Rule(limit::Calendar{.count = 5, .rule = {.unit = limit::CalendarUnit::day}}));
}

TEST(Policies, GiveACalendarItsZoneAndAnchor) {
  const Zone zone("Europe/Zurich", Duration::hours(1));
  const CivilTime anchor{
      .date = {2026, 1, 31}, .hour = 6, .minute = 0, .second = 0, .nanosecond = 0};
  const Bucket bucket{.name = "month",
                      .algorithm = Algorithm::calendar,
                      .limit = 5,
                      .every = limit::CalendarUnit::month,
                      .zone = "Europe/Zurich",
                      .anchor = anchor,
                      .zone_rules = zone};
  const limit::Rule expected = limit::Calendar{
      .count = 5, .rule = {.unit = limit::CalendarUnit::month, .zone = zone, .anchor = anchor}};
  EXPECT_EQ(policy_of(bucket).rule, expected);
}

TEST(Policies, KeepNameAndOptions) {
  const limit::Policy policy = policy_of(
      {.name = "a", .rate = rate, .shadow = true, .on_change = limit::OnChange::proportional});
  EXPECT_EQ(policy.name, "a");
  EXPECT_TRUE(policy.options.shadow);
  EXPECT_EQ(policy.options.on_change, limit::OnChange::proportional);
}

TEST(Policies, PutTheTenantBeforeThePlanAndThePlanBeforeTheBucket) {
  Config config;
  const limit::Rate of_plan{1000, Duration::minutes(1)};
  const limit::Rate of_tenant{500, Duration::minutes(1)};
  config.plans["pro"] = {{"global", of_plan}};
  config.tenants.overrides["acme"] = {{"global", of_tenant}};
  const Result<limit::Plans> plans = plans_of(config);
  ASSERT_TRUE(plans.has_value()) << plans.error().message;
  const auto resolved = [&](const limit::Plan& plan, std::string_view tenant) {
    return std::get<limit::SlidingWindow>(plans->resolve(0, plan, tenant).rule).rate;
  };
  EXPECT_EQ(resolved(plans->default_plan(), "other"), rate) << "free is there, and changes nothing";
  EXPECT_EQ(resolved(*plans->find("pro").value(), "other"), of_plan);
  EXPECT_EQ(resolved(*plans->find("pro").value(), "acme"), of_tenant);
  EXPECT_EQ(resolved(plans->default_plan(), "acme"), of_tenant);
}

}  // namespace
}  // namespace pawl::config
