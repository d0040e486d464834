// Goal: usage adds up whatever the algorithm, near begins at exactly 80 %, and a window is one for
//       everybody who looks. Method: pinned cases; random rules, used at random, seen from two
//       sides.
#include "core/limit/usage.h"

#include <gtest/gtest.h>

#include "core/limit/decide.h"
#include "core/limit/limit_fixture.h"

namespace pawl::limit {
namespace {

constexpr Duration minute = Duration::minutes(1);

Answer asked(const Policy& policy, Kept& kept, std::int64_t cost, Now now) {
  const Member member{.policy = &policy, .state = &kept.state};
  return decide({&member, 1}, use_of(cost, now), now);
}

TEST(Usage, TellsWhatWasUsedOfEveryKindOfLimit) {
  const Rate rate{.count = 10, .period = minute};
  for (const Rule& rule :
       {Rule(SlidingWindow{rate}), Rule(SlidingLog{rate}), Rule(TokenBucket(rate, 9)),
        Rule(Concurrency{.slots = 10, .lease = minute}),
        Rule(Calendar{.count = 10, .rule = {.unit = CalendarUnit::day}})}) {
    const Policy policy("p", rule);
    Kept kept;
    const Usage before = usage_of(policy, asked(policy, kept, 0, start).verdicts[0]);
    EXPECT_EQ(before, (Usage{.limit = 10, .used = 0, .remaining = 10})) << to_string(rule);
    const Usage after = usage_of(policy, asked(policy, kept, 7, start).verdicts[0]);
    EXPECT_EQ(after.used, 7) << to_string(rule);
    EXPECT_EQ(after.remaining, 3);
    EXPECT_GT(after.reset_seconds, 0);
    EXPECT_FALSE(after.near) << to_string(rule);
    EXPECT_TRUE(usage_of(policy, asked(policy, kept, 1, start).verdicts[0]).near);
    EXPECT_TRUE(usage_of(policy, asked(policy, kept, 5, start).verdicts[0]).near) << "refused";
  }
}

TEST(Usage, OfWhatIsClosedIsAll) {
  const Policy policy("p", SlidingWindow{{.count = 10, .period = minute}});
  Kept kept;
  kept.state.closed_until = start.moment + minute;
  const Usage usage = usage_of(policy, asked(policy, kept, 0, start).verdicts[0]);
  EXPECT_EQ(usage, (Usage{.limit = 10, .used = 10, .reset_seconds = 60, .near = true}));
}

TEST(Usage, AddsUpAndIsNearFromEightyPercentOn) {
  for_seeds(3'000, [](Chance& chance) {
    const Policy policy("p", any_rule(chance));
    Kept kept;
    Now now = start;
    for (int i = 0; i < 10; ++i) {
      now = later(now, any_pause(chance, policy.rule, now));
      const std::int64_t cost = chance.any_size(0, capacity_of(policy.rule));
      const Usage usage = usage_of(policy, asked(policy, kept, cost, now).verdicts[0]);
      EXPECT_EQ(usage.limit, capacity_of(policy.rule));
      EXPECT_EQ(usage.used + usage.remaining, usage.limit);
      EXPECT_GE(usage.used, 0);
      EXPECT_GE(usage.remaining, 0);
      EXPECT_EQ(usage.near, usage.used * 10 >= usage.limit * 8);
      EXPECT_EQ(usage.reset_seconds == 0, usage.used == 0);
    }
  });
}

TEST(UsageWindow, HoldsTheInstantAndAllOthersOfIt) {
  for_seeds(3'000, [](Chance& chance) {
    const Rule rule = any_rule(chance);
    const Instant now = start.wall + chance.duration(Duration::days(-365), Duration::days(365));
    const Instant begin = window_start(rule, now);
    EXPECT_LE(begin, now);
    EXPECT_EQ(window_start(rule, begin), begin);
    EXPECT_LT(window_start(rule, begin - nanosecond), begin);
    EXPECT_EQ(
        window_start(rule, begin + Duration::nanoseconds(chance.between(0, (now - begin).ns()))),
        begin);
  });
}

TEST(UsageWindow, IsAsLongAsTheLimitIsStatedOver) {
  const Instant noon = parse_instant("2026-11-15T12:00:30Z").value();
  const auto begin = [&](const Rule& rule) { return to_string(window_start(rule, noon)); };
  const Rate rate{.count = 10, .period = minute};
  EXPECT_EQ(begin(SlidingWindow{rate}), "2026-11-15T12:00:00.000Z");
  EXPECT_EQ(begin(SlidingLog{rate}), "2026-11-15T12:00:00.000Z");
  EXPECT_EQ(begin(TokenBucket(rate, 0)), "2026-11-15T12:00:00.000Z");
  EXPECT_EQ(begin(Concurrency{.slots = 1, .lease = Duration::hours(1)}),
            "2026-11-15T12:00:00.000Z");
  EXPECT_EQ(begin(Calendar{.count = 1, .rule = {.unit = CalendarUnit::month}}),
            "2026-11-01T00:00:00.000Z");
}

TEST(NearId, IsOneForOneOccasion) {
  const Policy policy("global", SlidingWindow{{.count = 10, .period = minute}});
  const Policy larger("global", SlidingWindow{{.count = 20, .period = minute}});
  const Policy other("login", SlidingWindow{{.count = 10, .period = minute}});
  const std::string id = near_id("acme", policy, start.wall);
  EXPECT_EQ(id, "455f8c2a80992d90b1a5234c6750818c") << "an id outlives the program that made it";
  EXPECT_NE(near_id("acm", policy, start.wall), id);
  EXPECT_NE(near_id("acme", larger, start.wall), id);
  EXPECT_NE(near_id("acme", other, start.wall), id);
  EXPECT_NE(near_id("acme", policy, start.wall + minute), id);
}

}  // namespace
}  // namespace pawl::limit
