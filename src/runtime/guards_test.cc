// Goal: who fails is left alone under its own name, and everybody hears of the changes.
// Method: names moved through time by hand.
#include "runtime/guards.h"

#include <gtest/gtest.h>

#include "base/bounds.h"

namespace pawl {
namespace {

using Turn = Guards::Turn;

constexpr SteadyInstant start = SteadyInstant::from_ns(1'000);
constexpr retry::BreakerRule twice = {
    .failures = 2, .wait_min = Duration::seconds(1), .wait_max = Duration::seconds(60)};

TEST(Guards, EachNameHasABreakerOfItsOwnAndItsChangesAreTold) {
  Guards guards({}, twice);
  EXPECT_FALSE(guards.heard("a", Turn::ask, false, start));
  const auto opened = guards.heard("a", Turn::ask, false, start);
  ASSERT_TRUE(opened.has_value());
  EXPECT_EQ(opened->state, audit::BreakerState::open);
  EXPECT_EQ(opened->wait, Duration::seconds(1));
  EXPECT_EQ(guards.turn("a", start), Turn::skip);
  EXPECT_EQ(guards.until_probe("a", start), Duration::seconds(1));
  EXPECT_EQ(guards.turn("b", start), Turn::ask);
  EXPECT_EQ(guards.until_probe("b", start), Duration());

  const SteadyInstant later = start + Duration::seconds(1);
  EXPECT_EQ(guards.turn("a", later), Turn::probe);
  const auto again = guards.heard("a", Turn::probe, false, later);
  ASSERT_TRUE(again.has_value()) << "a probe that failed opens it for longer";
  EXPECT_EQ(again->wait, Duration::seconds(2));
  EXPECT_EQ(guards.turn("a", later + Duration::seconds(2)), Turn::probe);
  const auto closed = guards.heard("a", Turn::probe, true, later + Duration::seconds(2));
  ASSERT_TRUE(closed.has_value());
  EXPECT_EQ(closed->state, audit::BreakerState::closed);
  EXPECT_EQ(guards.turn("a", later), Turn::ask);
}

TEST(Guards, BeyondItsBoundANameHasNoBreaker) {
  Guards guards({}, {.failures = 1});
  for (std::size_t i = 0; i < bounds::retry_breakers_max; ++i) {
    EXPECT_TRUE(guards.heard(std::to_string(i), Turn::ask, false, start));
  }
  EXPECT_FALSE(guards.heard("one more", Turn::ask, false, start));
  EXPECT_EQ(guards.turn("one more", start), Turn::ask);
}

TEST(Guards, RetriesAreAShareOfWhatWasEarned) {
  Guards guards({.ratio_milli = 500, .min_per_second = 0}, {});
  EXPECT_FALSE(guards.spend(start));
  guards.earn();
  guards.earn();
  EXPECT_TRUE(guards.spend(start));
  EXPECT_FALSE(guards.spend(start));
}

}  // namespace
}  // namespace pawl
