// Goal: a lost store is left alone for a bounded while, probed by one at a time, and found again by
// itself. Method: one breaker, moved through time by hand.
#include "core/limit/store_breaker.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace pawl::limit {
namespace {

using Turn = StoreBreaker::Turn;

constexpr SteadyInstant start = SteadyInstant::from_ns(1'000);
constexpr Duration nanosecond = Duration::nanoseconds(1);

TEST(StoreBreaker, AStoreThatAnswersIsAsked) {
  StoreBreaker breaker;
  EXPECT_EQ(breaker.turn(start), Turn::ask);
  breaker.answered(Turn::ask);
  EXPECT_EQ(breaker.turn(start), Turn::ask);
  EXPECT_FALSE(breaker.lost());
}

TEST(StoreBreaker, ItTakesSoManyFailuresInARow) {
  StoreBreaker breaker;
  EXPECT_FALSE(breaker.failed(Turn::ask, start, 3));
  EXPECT_FALSE(breaker.failed(Turn::ask, start, 3));
  breaker.answered(Turn::ask);
  EXPECT_FALSE(breaker.failed(Turn::ask, start, 3)) << "they begin anew";
  EXPECT_FALSE(breaker.failed(Turn::ask, start, 3));
  EXPECT_EQ(breaker.turn(start), Turn::ask);
  EXPECT_TRUE(breaker.failed(Turn::ask, start, 3));
  EXPECT_EQ(breaker.turn(start), Turn::skip);
  ASSERT_EQ(breaker.turn(start + bounds::store_lost_wait_min), Turn::probe);
  breaker.answered(Turn::probe);
  EXPECT_FALSE(breaker.failed(Turn::ask, start, 3)) << "and so they do when it is found again";
}

TEST(StoreBreaker, AfterAFailureItIsLeftAloneAndThenProbedByOne) {
  StoreBreaker breaker;
  EXPECT_TRUE(breaker.failed(Turn::ask, start, 1));
  EXPECT_TRUE(breaker.lost());
  const SteadyInstant probed = start + bounds::store_lost_wait_min;
  EXPECT_EQ(breaker.turn(probed - nanosecond), Turn::skip);
  EXPECT_EQ(breaker.turn(probed), Turn::probe);
  EXPECT_EQ(breaker.turn(probed + Duration::hours(1)), Turn::skip) << "one at a time";
  breaker.answered(Turn::probe);
  EXPECT_FALSE(breaker.lost());
  EXPECT_EQ(breaker.turn(probed), Turn::ask);
}

TEST(StoreBreaker, ProbesThatFailComeLessOften) {
  StoreBreaker breaker;
  EXPECT_TRUE(breaker.failed(Turn::ask, start, 1));
  SteadyInstant now = start + bounds::store_lost_wait_min;
  Duration wait = bounds::store_lost_wait_min;
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(breaker.turn(now), Turn::probe);
    EXPECT_FALSE(breaker.failed(Turn::probe, now, 3)) << "it was lost before";
    wait = std::min(wait * 2, bounds::store_lost_wait_max);
    ASSERT_EQ(breaker.turn(now + wait - nanosecond), Turn::skip);
    now = now + wait;
  }
  ASSERT_EQ(breaker.turn(now), Turn::probe);
  breaker.answered(Turn::probe);
  EXPECT_TRUE(breaker.failed(Turn::ask, now, 1));
  EXPECT_EQ(breaker.turn(now + bounds::store_lost_wait_min), Turn::probe) << "it starts anew";
}

TEST(StoreBreaker, AsksThatWereUnderWayDecideNothing) {
  StoreBreaker breaker;
  EXPECT_TRUE(breaker.failed(Turn::ask, start, 1));
  const SteadyInstant probed = start + bounds::store_lost_wait_min;
  EXPECT_FALSE(breaker.failed(Turn::ask, probed - nanosecond, 1));
  breaker.answered(Turn::ask);
  EXPECT_TRUE(breaker.lost());
  EXPECT_EQ(breaker.turn(probed), Turn::probe) << "the wait was not prolonged";
}

}  // namespace
}  // namespace pawl::limit
