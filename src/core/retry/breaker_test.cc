// Goal: whoever fails is left alone for a bounded while, probed by one at a time, and found again
// by itself. Method: one breaker, moved through time by hand.
#include "core/retry/breaker.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bounds.h"

namespace pawl::retry {
namespace {

using Turn = Breaker::Turn;

constexpr SteadyInstant start = SteadyInstant::from_ns(1'000);
constexpr Duration nanosecond = Duration::nanoseconds(1);
constexpr BreakerRule first_failure = {
    .failures = 1, .wait_min = Duration::milliseconds(100), .wait_max = Duration::seconds(5)};
constexpr SteadyInstant probed = start + first_failure.wait_min;

Breaker opened() {
  Breaker breaker;
  EXPECT_TRUE(breaker.failed(first_failure, Turn::ask, start));
  return breaker;
}

TEST(Breaker, WhoAnswersIsAsked) {
  Breaker breaker;
  EXPECT_EQ(breaker.turn(first_failure, start), Turn::ask);
  EXPECT_FALSE(breaker.answered(Turn::ask));
  EXPECT_EQ(breaker.turn(first_failure, start), Turn::ask);
  EXPECT_FALSE(breaker.open());
}

TEST(Breaker, ItOpensAfterFailuresInARowAndNotBefore) {
  constexpr BreakerRule rule;
  Breaker breaker;
  for (int i = 0; i < rule.failures - 1; ++i) EXPECT_FALSE(breaker.failed(rule, Turn::ask, start));
  EXPECT_FALSE(breaker.answered(Turn::ask)) << "so the row begins anew";
  for (int i = 0; i < rule.failures - 1; ++i) EXPECT_FALSE(breaker.failed(rule, Turn::ask, start));
  EXPECT_FALSE(breaker.open());
  EXPECT_EQ(breaker.turn(rule, start), Turn::ask);
  EXPECT_TRUE(breaker.failed(rule, Turn::ask, start));
  EXPECT_TRUE(breaker.open());
  EXPECT_EQ(breaker.next_probe(), start + rule.wait_min);
}

TEST(Breaker, AfterItOpenedItIsLeftAloneAndThenProbedByOne) {
  Breaker breaker = opened();
  EXPECT_TRUE(breaker.open());
  EXPECT_EQ(breaker.turn(first_failure, probed - nanosecond), Turn::skip);
  EXPECT_EQ(breaker.turn(first_failure, probed), Turn::probe);
  EXPECT_EQ(breaker.turn(first_failure, probed), Turn::skip) << "one at a time";
  EXPECT_EQ(breaker.turn(first_failure, probed + first_failure.wait_min - nanosecond), Turn::skip);
  EXPECT_TRUE(breaker.answered(Turn::probe));
  EXPECT_FALSE(breaker.open());
  EXPECT_EQ(breaker.turn(first_failure, probed), Turn::ask);
}

TEST(Breaker, ProbesThatFailComeLessOften) {
  Breaker breaker = opened();
  SteadyInstant now = probed;
  Duration wait = first_failure.wait_min;
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(breaker.turn(first_failure, now), Turn::probe);
    EXPECT_FALSE(breaker.failed(first_failure, Turn::probe, now)) << "it was open before";
    wait = std::min(wait * 2, first_failure.wait_max);
    ASSERT_EQ(breaker.turn(first_failure, now + wait - nanosecond), Turn::skip);
    now = now + wait;
  }
  EXPECT_EQ(wait, first_failure.wait_max);
  ASSERT_EQ(breaker.turn(first_failure, now), Turn::probe);
  EXPECT_TRUE(breaker.answered(Turn::probe));
  EXPECT_TRUE(breaker.failed(first_failure, Turn::ask, now));
  EXPECT_EQ(breaker.turn(first_failure, now + first_failure.wait_min), Turn::probe)
      << "it starts anew";
}

TEST(Breaker, AsksThatEndWhileItIsOpenDecideNothing) {
  Breaker breaker = opened();
  EXPECT_FALSE(breaker.failed(first_failure, Turn::ask, probed - nanosecond));
  EXPECT_FALSE(breaker.answered(Turn::ask));
  EXPECT_TRUE(breaker.open());
  EXPECT_EQ(breaker.turn(first_failure, probed), Turn::probe) << "the wait was not prolonged";
}

TEST(Breaker, AProbeThatIsNeverHeardOfCountsAsFailed) {
  Breaker breaker = opened();
  ASSERT_EQ(breaker.turn(first_failure, probed), Turn::probe);
  const SteadyInstant next = probed + first_failure.wait_min;
  ASSERT_EQ(breaker.turn(first_failure, next), Turn::probe);
  EXPECT_EQ(breaker.next_probe(), next + first_failure.wait_min * 2) << "the wait doubled";
}

TEST(Breaker, AProbeThatFailsLateIsNoNews) {
  Breaker breaker = opened();
  ASSERT_EQ(breaker.turn(first_failure, probed), Turn::probe);
  const SteadyInstant next = probed + first_failure.wait_min;
  ASSERT_EQ(breaker.turn(first_failure, next), Turn::probe);
  EXPECT_FALSE(breaker.failed(first_failure, Turn::probe, next));
  const Breaker before = breaker;
  EXPECT_FALSE(breaker.failed(first_failure, Turn::probe, next + nanosecond)) << "the other one";
  EXPECT_EQ(breaker, before);
}

TEST(Breaker, AProbeThatIsAnsweredLateClosesIt) {
  Breaker breaker = opened();
  ASSERT_EQ(breaker.turn(first_failure, probed), Turn::probe);
  const SteadyInstant next = probed + first_failure.wait_min;
  ASSERT_EQ(breaker.turn(first_failure, next), Turn::probe);
  EXPECT_TRUE(breaker.answered(Turn::probe));
  EXPECT_FALSE(breaker.failed(first_failure, Turn::probe, next)) << "the other one";
  EXPECT_FALSE(breaker.open());
  EXPECT_FALSE(breaker.answered(Turn::probe)) << "it was closed before";
}

TEST(Breaker, ARuleIsWithinItsBounds) {
  EXPECT_TRUE(check(BreakerRule()));
  const auto said = [](const BreakerRule& bad) {
    const Result<void> checked = check(bad);
    return checked ? "" : checked.error().message;
  };
  EXPECT_THAT(said({.failures = 0}), ::testing::HasSubstr("not 0"));
  EXPECT_NE(said({.failures = bounds::retry_breaker_failures_max + 1}), "");
  EXPECT_NE(said({.wait_min = {}}), "");
  EXPECT_THAT(said({.wait_min = Duration::seconds(5), .wait_max = Duration::seconds(4)}),
              ::testing::HasSubstr("from 5s to 4s"));
  EXPECT_NE(said({.wait_max = bounds::retry_breaker_wait_max + Duration::nanoseconds(1)}), "");
}

}  // namespace
}  // namespace pawl::retry
