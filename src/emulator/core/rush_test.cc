// Goal: the most orders within a stretch are counted, wherever the stretch begins.
// Method: examples at the edges.
#include "emulator/core/rush.h"

#include <gtest/gtest.h>

namespace pawl::emulator {
namespace {

std::int64_t most(const std::vector<std::int64_t>& milliseconds) {
  Rush rush;
  for (const std::int64_t ms : milliseconds)
    rush.placed.push_back(Instant::from_ns(ms * 1'000'000));
  return rush.most_within(Duration::seconds(1));
}

TEST(Rush, CountsTheFullestStretch) {
  EXPECT_EQ(most({}), 0);
  EXPECT_EQ(most({5}), 1);
  EXPECT_EQ(most({0, 1'000, 2'000}), 1);
  EXPECT_EQ(most({0, 999}), 2);
  EXPECT_EQ(most({2'500, 0, 900, 1'800, 1'850}), 3);
}

}  // namespace
}  // namespace pawl::emulator
