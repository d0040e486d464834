// What every Clock must do. `pass` lets some time go by: a hand-moved clock is moved, a real one
// waits.
#pragma once

#include <functional>
#include <gtest/gtest.h>

#include "pawl/clock.h"

namespace pawl {

inline void expect_clock_conforms(Clock& clock, const std::function<void(Duration)>& pass) {
  const SteadyInstant steady = clock.steady_now();
  const Instant wall = clock.wall_now();
  EXPECT_GE(clock.steady_now(), steady) << "steady time went back";
  EXPECT_GT(wall, Instant::from_ns(1'600'000'000'000'000'000)) << "wall time before 2020";

  const Duration step = Duration::milliseconds(5);
  pass(step);
  EXPECT_GE(clock.steady_now() - steady, step) << "steady time stood still";
  EXPECT_GT(clock.wall_now(), wall) << "wall time stood still";

  SteadyInstant last = clock.steady_now();
  for (int i = 0; i < 1000; ++i) {
    const SteadyInstant next = clock.steady_now();
    ASSERT_GE(next, last) << "steady time went back";
    last = next;
  }
}

}  // namespace pawl
