// Goal: the machine's clocks behave as the port promises. Method: the conformance suite, waiting
//       for real.
#include "adapter/system/system_clock.h"

#include <gtest/gtest.h>

#include "port/clock_conformance.h"

namespace pawl {
namespace {

TEST(SystemClock, Conforms) {
  SystemClock clock;
  expect_clock_conforms(clock, [&](Duration d) {
    const SteadyInstant until = clock.steady_now() + d;
    while (clock.steady_now() < until) {
    }
  });
}

}  // namespace
}  // namespace pawl
