// Goal: a window takes its limit in any stretch of its length, and no more.
// Method: by hand at the edges; at random against a count over all that was taken.
#include "emulator/core/windows.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <vector>

namespace pawl::emulator {
namespace {

Instant at(std::int64_t ms) {
  return Instant::from_ns(ms * 1'000'000);
}

TEST(Windows, TakeTheLimitAndThenNothingUntilTheFirstIsOver) {
  Windows windows(2, Duration::seconds(1));
  EXPECT_TRUE(windows.take("k", at(0)));
  EXPECT_TRUE(windows.take("k", at(400)));
  EXPECT_FALSE(windows.take("k", at(999)));
  EXPECT_EQ(windows.look("k", at(999)).reset, Duration::milliseconds(1));
  EXPECT_TRUE(windows.take("k", at(1'000)));
  EXPECT_FALSE(windows.take("k", at(1'399)));
}

TEST(Windows, KeysAreApart) {
  Windows windows(1, Duration::seconds(1));
  EXPECT_TRUE(windows.take("a", at(0)));
  EXPECT_TRUE(windows.take("b", at(0)));
  EXPECT_FALSE(windows.take("a", at(0)));
}

TEST(Windows, TakeAllOfACostOrNothing) {
  Windows windows(5, Duration::seconds(1));
  EXPECT_TRUE(windows.take("k", at(0), 3));
  EXPECT_FALSE(windows.take("k", at(0), 3));
  EXPECT_TRUE(windows.take("k", at(0), 2));
}

TEST(Windows, AClockThatGoesBackLocksNobodyOut) {
  Windows windows(1, Duration::seconds(1));
  EXPECT_TRUE(windows.take("k", at(100'000)));
  EXPECT_TRUE(windows.take("k", at(5)));
}

RC_GTEST_PROP(Windows, NeverTakeMoreThanTheLimitInAnyStretch, (std::vector<std::uint8_t> steps)) {
  constexpr std::size_t limit = 3;
  Windows windows(limit, Duration::milliseconds(100));
  std::vector<Instant> taken;
  std::int64_t now = 0;
  for (const std::uint8_t step : steps) {
    now += step;
    if (!windows.take("k", at(now))) continue;
    taken.push_back(at(now));
    if (taken.size() > limit) {
      RC_ASSERT(taken.back() - taken[taken.size() - 1 - limit] >= Duration::milliseconds(100));
    }
  }
}

}  // namespace
}  // namespace pawl::emulator
