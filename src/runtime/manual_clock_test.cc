// Goal: the hand-moved clock is a clock, and its two timelines are independent.
#include "runtime/manual_clock.h"

#include <gtest/gtest.h>

#include "port/clock_conformance.h"

namespace pawl {
namespace {

TEST(ManualClock, Conforms) {
  ManualClock clock;
  expect_clock_conforms(clock, [&](Duration d) { clock.advance(d); });
}

TEST(ManualClock, ASetWallClockLeavesSteadyTimeAlone) {
  ManualClock clock;
  const SteadyInstant before = clock.steady_now();
  clock.set_wall(Instant::from_ns(5));
  EXPECT_EQ(clock.wall_now(), Instant::from_ns(5));
  EXPECT_EQ(clock.steady_now(), before);
}

}  // namespace
}  // namespace pawl
