// Goal: a caller comes under the rate that was meant for it, and a table that cannot be meant is
// refused with words that help. Method: a small table of each kind; each algorithm's reading of a
// rate; every error's text.
#include "core/limit/plans.h"

#include <gtest/gtest.h>

namespace pawl::limit {
namespace {

Rate a_minute(std::int64_t count) {
  return {.count = count, .period = Duration::minutes(1)};
}

const Policy global{
    "global", SlidingWindow{a_minute(50)}, {.shadow = true, .on_change = OnChange::proportional}};
const Policy login{"login", TokenBucket(a_minute(10), 4)};

PlanTable table() {
  return {.buckets = {global, login},
          .plans = {{"free", {{"login", a_minute(5)}}},
                    {"pro", {{"global", a_minute(1000)}, {"login", a_minute(20)}}}},
          .tenants = {{"acme", {{"global", a_minute(7777)}}}},
          .default_plan = "free"};
}

std::string error_of(PlanTable table) {
  const Result<Plans> plans = Plans::make(std::move(table));
  return plans ? "none" : plans.error().message;
}

TEST(Plans, TakeTheTenantsRateBeforeThePlansBeforeTheBuckets) {
  const Plans plans = Plans::make(table()).value();
  const Plan& free = *plans.find("free").value();
  const Plan& pro = *plans.find("pro").value();
  EXPECT_EQ(plans.resolve(0, free, "someone"), global);
  EXPECT_EQ(plans.resolve(1, free, "someone").rule, Rule(TokenBucket(a_minute(5), 4)));
  EXPECT_EQ(plans.resolve(0, pro, "someone").rule, Rule(SlidingWindow{a_minute(1000)}));
  EXPECT_EQ(plans.resolve(0, pro, "acme").rule, Rule(SlidingWindow{a_minute(7777)}));
  EXPECT_EQ(plans.resolve(0, free, "acme").rule, Rule(SlidingWindow{a_minute(7777)}));
  EXPECT_EQ(plans.resolve(1, pro, "acme").rule, Rule(TokenBucket(a_minute(20), 4)));
  EXPECT_EQ(&plans.default_plan(), &free);
  EXPECT_EQ(free.name, "free");
}

TEST(Plans, KeepTheNameOfTheBucketSoThatItsCountsAreKept) {
  const Plans plans = Plans::make(table()).value();
  const Policy& pro = plans.resolve(0, *plans.find("pro").value(), "someone");
  EXPECT_EQ(pro.name, global.name);
  EXPECT_EQ(pro.options, global.options);
  EXPECT_NE(pro.shape, global.shape);
}

TEST(Plans, GivePoliciesThatStayWhereTheyAre) {
  Plans made = Plans::make(table()).value();
  const Policy* before = &made.resolve(1, made.default_plan(), "someone");
  const Plans moved = std::move(made);
  EXPECT_EQ(&moved.resolve(1, moved.default_plan(), "someone"), before);
  EXPECT_EQ(&moved.resolve(1, *moved.find("free").value(), "other"), before);
}

TEST(Plans, WithoutAnyTheDefaultPlanChangesNothing) {
  const Plans plans = Plans::make({.buckets = {global}, .default_plan = "free"}).value();
  EXPECT_EQ(plans.resolve(0, plans.default_plan(), "someone"), global);
  EXPECT_TRUE(plans.find("free").has_value());
  EXPECT_FALSE(plans.find("pro").has_value());
}

TEST(Plans, RefuseAPlanThatDoesNotExist) {
  const Plans plans = Plans::make(table()).value();
  const Result<const Plan*> unknown = plans.find("gold");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error(), Error(Code::invalid, Outcome::not_applied,
                                   "plan 'gold' does not exist; there are: free, pro"));
  PlanTable lost = table();
  lost.default_plan = "gold";
  EXPECT_EQ(error_of(std::move(lost)),
            "default plan: plan 'gold' does not exist; there are: free, pro");
}

TEST(Plans, RefuseABucketThatDoesNotExist) {
  PlanTable wrong = table();
  wrong.plans["pro"]["uploads"] = a_minute(1);
  EXPECT_EQ(error_of(std::move(wrong)),
            "plan 'pro': bucket 'uploads' does not exist; there are: global, login");
  wrong = table();
  wrong.tenants["acme"]["uploads"] = a_minute(1);
  EXPECT_EQ(error_of(std::move(wrong)),
            "tenant 'acme': bucket 'uploads' does not exist; there are: global, login");
}

TEST(Plans, SayWhichRateDoesNotFitWhere) {
  PlanTable wrong = table();
  wrong.plans["pro"]["login"] = {.count = 1, .period = Duration::days(366)};
  wrong.buckets[1] = Policy("login", TokenBucket(a_minute(10), 10));
  EXPECT_EQ(error_of(std::move(wrong)),
            "plan 'pro': bucket 'login': the rate '1/366d' does not fit; allowed: one that earns a "
            "burst of 10 within 3660d");
}

Result<Rule> changed(Rule rule, Rate rate) {
  const Result<Policy> policy = with_rate(Policy("bucket", std::move(rule)), rate);
  if (!policy) return std::unexpected(policy.error());
  return policy->rule;
}

TEST(WithRate, MeansTheSameThingToEveryAlgorithm) {
  const Rate rate{.count = 7, .period = Duration::seconds(90)};
  EXPECT_EQ(changed(TokenBucket(a_minute(1), 3), rate).value(), Rule(TokenBucket(rate, 3)));
  EXPECT_EQ(changed(SlidingWindow{a_minute(1)}, rate).value(), Rule(SlidingWindow{rate}));
  EXPECT_EQ(changed(SlidingLog{a_minute(1)}, rate).value(), Rule(SlidingLog{rate}));
  EXPECT_EQ(changed(Concurrency{.slots = 1, .lease = Duration::minutes(1)}, rate).value(),
            Rule(Concurrency{.slots = 7, .lease = Duration::seconds(90)}));
}

TEST(WithRate, TakesOnlyTheCountForACalendarLimitOfThatLength) {
  const auto at = [](CalendarUnit unit, Duration period) {
    return changed(Calendar{.count = 1, .rule = {.unit = unit}}, {.count = 7, .period = period});
  };
  EXPECT_EQ(at(CalendarUnit::month, Duration::days(30)).value(),
            Rule(Calendar{.count = 7, .rule = {.unit = CalendarUnit::month}}));
  EXPECT_TRUE(at(CalendarUnit::minute, Duration::minutes(1)).has_value());
  EXPECT_TRUE(at(CalendarUnit::hour, Duration::hours(1)).has_value());
  EXPECT_TRUE(at(CalendarUnit::day, Duration::hours(24)).has_value());
  EXPECT_TRUE(at(CalendarUnit::week, Duration::days(7)).has_value());
  EXPECT_TRUE(at(CalendarUnit::year, Duration::days(365)).has_value());
  EXPECT_FALSE(at(CalendarUnit::day, Duration::hours(25)).has_value());
  EXPECT_FALSE(at(CalendarUnit::month, Duration::days(27)).has_value());
  EXPECT_EQ(at(CalendarUnit::month, Duration::minutes(1)).error().message,
            "the rate '7/1m' does not fit; allowed: a count a month, as 7/31d");
}

TEST(WithRate, KeepsTheBoundsOfAnAlgorithm) {
  EXPECT_EQ(changed(SlidingLog{a_minute(1)}, a_minute(10'001)).error().message,
            "the rate '10001/1m' does not fit; allowed: up to 10000 for a sliding log");
  EXPECT_EQ(changed(Concurrency(), a_minute(10'001)).error().message,
            "the rate '10001/1m' does not fit; allowed: up to 10000 at once");
  const Rate brief{.count = 1, .period = Duration::milliseconds(10)};
  EXPECT_EQ(changed(Concurrency(), brief).error().message,
            "the rate '1/10ms' does not fit; allowed: a lease from 1s to 1d");
  EXPECT_TRUE(changed(SlidingLog{a_minute(1)}, a_minute(10'000)).has_value());
  EXPECT_TRUE(changed(Concurrency(), a_minute(10'000)).has_value());
}

}  // namespace
}  // namespace pawl::limit
