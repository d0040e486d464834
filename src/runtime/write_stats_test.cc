// Goal: every end is counted, and the latest that were not executed are remembered, up to the
// bound. Method: one of each; then more than the bound.
#include "runtime/write_stats.h"

#include <gtest/gtest.h>

#include "base/bounds.h"

namespace pawl {
namespace {

WriteStats::Hit hit(WriteStats::What what, std::string key = "k") {
  return {.at = Instant(), .what = what, .tenant = "acme", .operation = "POST /a", .key = key};
}

TEST(WriteStats, CountsEachEndAndRemembersThoseNotExecuted) {
  WriteStats stats;
  for (std::size_t i = 0; i < request::write_events; ++i) {
    stats.note(hit(static_cast<WriteStats::What>(i)));
  }
  for (std::size_t i = 0; i < request::write_events; ++i) {
    EXPECT_EQ(stats.count(static_cast<WriteStats::What>(i)), 1u);
  }
  const auto recent = stats.recent(100);
  ASSERT_EQ(recent.size(), request::write_events - 1);
  EXPECT_EQ(recent.front().what, WriteStats::What::missing_key) << "the newest first";
  EXPECT_EQ(stats.recent(2).size(), 2u);
}

TEST(WriteStats, ForgetsTheOldestAboveItsBound) {
  WriteStats stats;
  for (std::size_t i = 0; i <= bounds::write_hits_max; ++i) {
    stats.note(hit(WriteStats::What::replayed, std::to_string(i)));
  }
  const auto recent = stats.recent(bounds::write_hits_max + 1);
  ASSERT_EQ(recent.size(), bounds::write_hits_max);
  EXPECT_EQ(recent.back().key, "1");
  EXPECT_EQ(stats.count(WriteStats::What::replayed), bounds::write_hits_max + 1);
}

}  // namespace
}  // namespace pawl
