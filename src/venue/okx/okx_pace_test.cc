// Goal: reading calls never pass the limit, and leave as soon as it allows. Method: calls at any
// moments against a count over every window.
#include "venue/okx/okx_pace.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <vector>

namespace pawl::okx {
namespace {

SteadyInstant steady(int milliseconds) {
  return SteadyInstant() + Duration::milliseconds(milliseconds);
}

TEST(OkxPace, LetsAsManyOutAtOnceAsTheLimitAllows) {
  ReadPace pace;
  for (int i = 0; i < 20; ++i) EXPECT_EQ(pace.take(ReadKind::archive, steady(0)), Duration());
  EXPECT_EQ(pace.take(ReadKind::archive, steady(500)), Duration::milliseconds(1'500));
  EXPECT_EQ(pace.take(ReadKind::history, steady(500)), Duration()) << "has a limit of its own";
  EXPECT_EQ(pace.take(ReadKind::archive, steady(2'000)), Duration());
}

TEST(OkxPace, ARefusalHoldsItsKindBackForAWindow) {
  ReadPace pace;
  pace.refused(ReadKind::order, steady(100));
  EXPECT_EQ(pace.take(ReadKind::order, steady(600)), Duration::milliseconds(1'500));
  EXPECT_EQ(pace.take(ReadKind::pending, steady(600)), Duration());
  EXPECT_EQ(pace.take(ReadKind::order, steady(2'100)), Duration());
}

TEST(OkxPace, TellsWhenTooManyWait) {
  ReadPace pace;
  int allowed = 0;
  while (pace.take(ReadKind::config, steady(0))) ++allowed;
  EXPECT_EQ(allowed, 1'005);
  EXPECT_FALSE(pace.take(ReadKind::config, steady(1)));
  EXPECT_TRUE(pace.take(ReadKind::config, steady(2'000))) << "some have left";
}

RC_GTEST_PROP(OkxPace, NoTwoSecondsHaveMoreThanTheLimit, ()) {
  ReadPace pace;
  int now = 0;
  std::vector<int> left;
  for (const int wait : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 700))) {
    now += wait;
    const auto held = pace.take(ReadKind::config, steady(now));
    RC_ASSERT(held.has_value());
    left.push_back(now + static_cast<int>(held->ns() / 1'000'000));
  }
  RC_ASSERT(std::ranges::is_sorted(left));
  for (std::size_t i = 5; i < left.size(); ++i) RC_ASSERT(left[i] - left[i - 5] >= 2'000);
}

}  // namespace
}  // namespace pawl::okx
