// Goal: OKX's time is kept whatever happens to ours. Method: tellings by hand.
#include "venue/okx/okx_clock.h"

#include <gtest/gtest.h>

namespace pawl::okx {
namespace {

SteadyInstant steady(int seconds) {
  return SteadyInstant() + Duration::seconds(seconds);
}
Instant wall(int seconds) {
  return Instant() + Duration::seconds(seconds);
}

TEST(OkxClock, KnowsNothingAtFirst) {
  const VenueClock clock;
  EXPECT_FALSE(clock.is_fresh(steady(1)));
  EXPECT_FALSE(clock.now(steady(1)));
}

TEST(OkxClock, GoesOnFromTheMiddleOfTheCallThatToldIt) {
  VenueClock clock;
  clock.told({.venue_time = wall(1'000), .asked = steady(10), .answered = steady(14)});
  EXPECT_EQ(clock.now(steady(12)), wall(1'000));
  EXPECT_EQ(clock.now(steady(20)), wall(1'008));
  EXPECT_TRUE(clock.is_fresh(steady(20)));
}

TEST(OkxClock, IsAskedAnewAfterAWhileAndKeptUntilThen) {
  VenueClock clock;
  clock.told({.venue_time = wall(1'000), .asked = steady(10), .answered = steady(10)});
  EXPECT_TRUE(clock.is_fresh(steady(610)));
  EXPECT_FALSE(clock.is_fresh(steady(611)));
  EXPECT_EQ(clock.now(steady(611)), wall(1'601));
}

TEST(OkxClock, IsAskedAnewWhenItIsDoubted) {
  VenueClock clock;
  clock.told({.venue_time = wall(1'000), .asked = steady(10), .answered = steady(10)});
  clock.doubt();
  EXPECT_FALSE(clock.is_fresh(steady(10)));
  clock.told({.venue_time = wall(2'000), .asked = steady(11), .answered = steady(11)});
  EXPECT_TRUE(clock.is_fresh(steady(11)));
  EXPECT_EQ(clock.now(steady(11)), wall(2'000));
}

}  // namespace
}  // namespace pawl::okx
