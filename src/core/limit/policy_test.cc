// Goal: a policy is told apart by its rule, and says what it is in words people use.
// Method: texts and numbers of every kind of rule by hand; shapes of many random rules compared.
#include "core/limit/policy.h"

#include <gtest/gtest.h>
#include <map>

#include "core/limit/limit_fixture.h"

namespace pawl::limit {
namespace {

const Rate hundred_a_minute = {.count = 100, .period = Duration::minutes(1)};

TEST(Policy, ARuleReadsAsPeopleWouldSayIt) {
  EXPECT_EQ(to_string(Rule(TokenBucket(hundred_a_minute, 0))), "100/1m");
  EXPECT_EQ(to_string(Rule(TokenBucket(hundred_a_minute, 20))), "100/1m burst 20");
  EXPECT_EQ(to_string(Rule(SlidingWindow{hundred_a_minute})), "100/1m");
  EXPECT_EQ(to_string(Rule(SlidingLog{hundred_a_minute})), "100/1m exactly");
  EXPECT_EQ(to_string(Rule(Concurrency{3, Duration::seconds(90)})), "3 at once, each for 90s");
  EXPECT_EQ(to_string(Rule(Calendar{1000, {.unit = CalendarUnit::month}})), "1000 a month in UTC");
  const CivilTime anchor = to_civil(parse_instant("2026-01-31T09:30:00Z").value());
  EXPECT_EQ(to_string(Rule(
                Calendar{5, {.unit = CalendarUnit::week, .zone = zurich(), .anchor = anchor}})),
            "5 a week in Europe/Zurich from 2026-01-31T09:30:00.000");
}

TEST(Policy, ARuleKnowsItsAlgorithmAndItsNumbers) {
  struct Case {
    Rule rule;
    std::string_view algorithm;
    std::int64_t capacity;
    Duration period;
    bool marks;
  };
  for (const Case& each :
       {Case{TokenBucket(hundred_a_minute, 20), "token_bucket", 21, Duration::minutes(1), false},
        Case{SlidingWindow{hundred_a_minute}, "sliding_window", 100, Duration::minutes(1), false},
        Case{SlidingLog{hundred_a_minute}, "sliding_log", 100, Duration::minutes(1), true},
        Case{Concurrency{3, Duration::seconds(90)}, "concurrency", 3, Duration(), true},
        Case{Calendar{7, {.unit = CalendarUnit::month}}, "calendar", 7, Duration::days(28),
             false}}) {
    EXPECT_EQ(algorithm_of(each.rule), each.algorithm);
    EXPECT_EQ(capacity_of(each.rule), each.capacity) << each.algorithm;
    const Instant february = parse_instant("2026-02-14T00:00:00Z").value();
    EXPECT_EQ(period_of(each.rule, february), each.period) << each.algorithm;
    EXPECT_EQ(keeps_marks(each.rule), each.marks) << each.algorithm;
  }
}

// The token bucket and the sliding window read alike, and keep states that mean different things.
TEST(Policy, RulesOfTwoAlgorithmsHaveTwoShapesHoweverTheyRead) {
  const Rule bucket = TokenBucket(hundred_a_minute, 0);
  const Rule window = SlidingWindow{hundred_a_minute};
  EXPECT_EQ(to_string(bucket), to_string(window));
  EXPECT_NE(Policy("a", bucket).shape, Policy("a", window).shape);
}

TEST(Policy, TheShapeIsThatOfTheRuleAlone) {
  const Rule rule = TokenBucket(hundred_a_minute, 20);
  const Policy policy("a", rule);
  EXPECT_EQ(policy.shape, Policy("a", rule).shape);
  EXPECT_EQ(policy.shape, Policy("b", rule).shape);
  const PolicyOptions options = {.shadow = true, .on_change = OnChange::reset};
  EXPECT_EQ(policy.shape, Policy("a", rule, options).shape);
  EXPECT_NE(policy.shape, Policy("a", TokenBucket(hundred_a_minute, 21)).shape);
  EXPECT_EQ(policy, Policy("a", rule));
  EXPECT_NE(policy, Policy("b", rule));
  EXPECT_NE(policy, Policy("a", rule, options));
}

TEST(Policy, PoliciesOfOneNameShareTheirCounts) {
  const Policy policy("a", SlidingWindow{hundred_a_minute});
  EXPECT_EQ(policy.id, Policy("a", TokenBucket(hundred_a_minute, 20)).id);
  EXPECT_NE(policy.id, Policy("b", SlidingWindow{hundred_a_minute}).id);
}

TEST(Policy, EveryDetailOfARuleChangesItsShape) {
  const CivilTime anchor = to_civil(parse_instant("2026-01-31T09:30:00Z").value());
  const Rate hundred_an_hour = {.count = 100, .period = Duration::hours(1)};
  std::map<std::uint32_t, std::string> shapes;
  for (const Rule& rule :
       {Rule(TokenBucket(hundred_a_minute, 0)), Rule(TokenBucket(hundred_a_minute, 1)),
        Rule(TokenBucket(hundred_an_hour, 0)), Rule(SlidingWindow{hundred_a_minute}),
        Rule(SlidingWindow{hundred_an_hour}), Rule(SlidingLog{hundred_a_minute}),
        Rule(SlidingLog{hundred_an_hour}), Rule(Concurrency{3, Duration::seconds(60)}),
        Rule(Concurrency{4, Duration::seconds(60)}), Rule(Concurrency{3, Duration::seconds(61)}),
        Rule(Calendar{3, {.unit = CalendarUnit::day}}),
        Rule(Calendar{4, {.unit = CalendarUnit::day}}),
        Rule(Calendar{3, {.unit = CalendarUnit::week}}),
        Rule(Calendar{3, {.unit = CalendarUnit::day, .zone = zurich()}}),
        Rule(Calendar{3, {.unit = CalendarUnit::day, .zone = Zone::utc(), .anchor = anchor}})}) {
    const auto [known, is_new] = shapes.emplace(Policy("a", rule).shape, to_string(rule));
    EXPECT_TRUE(is_new) << known->second << " and " << to_string(rule);
  }
}

TEST(Policy, ShapesOfRandomRulesMeetNoMoreThanChanceWouldHaveIt) {
  Chance chance(1);
  std::map<std::uint32_t, Rule> rules;
  for (int i = 0; i < 2000; ++i) {
    const Rule rule = any_rule(chance);
    const auto known = rules.emplace(Policy("a", rule).shape, rule).first;
    EXPECT_EQ(known->second, rule);
  }
}

}  // namespace
}  // namespace pawl::limit
