// Goal: simulated time is a clock, and the order of a run is fixed by its schedule.
#include "sim/clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "port/clock_conformance.h"

namespace pawl::sim {
namespace {

TEST(SimClock, Conforms) {
  SimClock clock;
  expect_clock_conforms(clock, [&](Duration d) { clock.run_until(clock.steady_now() + d); });
}

TEST(SimClock, RunsActionsInTheOrderOfTheirTimeThenOfTheirScheduling) {
  SimClock clock;
  std::vector<int> order;
  clock.after(Duration::seconds(2), [&] { order.push_back(3); });
  clock.after(Duration::seconds(1), [&] {
    order.push_back(1);
    clock.after(Duration::seconds(1), [&] { order.push_back(4); });
  });
  clock.after(Duration::seconds(1), [&] { order.push_back(2); });
  clock.after(Duration::hours(1), [&] { order.push_back(5); });
  const SteadyInstant start = clock.steady_now();
  clock.run_until(start + Duration::minutes(1));
  EXPECT_THAT(order, ::testing::ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(clock.steady_now(), start + Duration::minutes(1));
}

}  // namespace
}  // namespace pawl::sim
