// Goal: no event floods the log, and every line held back is in exactly one count.
// Method: a second driven by hand; then random traffic where written and counted must add up.
#include "log/repeats.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/bounds.h"

namespace pawl::log {
namespace {

constexpr int many = bounds::log_repeats_a_second_max;
constexpr Duration second = Duration::seconds(1);
const SteadyInstant start = SteadyInstant::from_ns(5'000'000'000);

// How many of `count` calls at `now` are written.
int written_of(Repeats& repeats, int count, SteadyInstant now, Level level = Level::error) {
  int written = 0;
  for (int i = 0; i < count; ++i) written += repeats.decide(level, "store_down", now).write ? 1 : 0;
  return written;
}

TEST(Repeats, WritesUpToTheBoundWithinASecond) {
  Repeats repeats;
  EXPECT_EQ(written_of(repeats, many + 1, start), many);
  EXPECT_EQ(written_of(repeats, 1, start + second - Duration::nanoseconds(1)), 0);
}

TEST(Repeats, WritesAgainWhenTheSecondIsOverAndTellsTheCount) {
  Repeats repeats;
  written_of(repeats, many + 3, start);
  const Repeats::Verdict verdict = repeats.decide(Level::error, "store_down", start + second);
  EXPECT_TRUE(verdict.write);
  EXPECT_EQ(verdict.repeats_suppressed, 3u);
  EXPECT_EQ(repeats.decide(Level::error, "store_down", start + second).repeats_suppressed, 0u);
  EXPECT_EQ(written_of(repeats, many, start + second), many - 2);
}

TEST(Repeats, CountsEachLevelAndEachEventByItself) {
  Repeats repeats;
  written_of(repeats, many + 1, start);
  EXPECT_EQ(written_of(repeats, 1, start, Level::warn), 1);
  EXPECT_TRUE(repeats.decide(Level::error, "upstream_down", start).write);
}

TEST(Repeats, KnowsAnEventByItsTextNotByItsAddress) {
  static constexpr char copy[] = "store_down";
  Repeats repeats;
  written_of(repeats, many, start);
  EXPECT_FALSE(repeats.decide(Level::error, copy, start).write);
}

TEST(Repeats, ExpiresOnlyCountsWhoseSecondIsOver) {
  Repeats repeats;
  written_of(repeats, many + 2, start);
  written_of(repeats, many + 4, start + Duration::milliseconds(500), Level::warn);
  EXPECT_TRUE(repeats.expire(start + second - Duration::nanoseconds(1)).empty());

  const auto over = repeats.expire(start + second);
  ASSERT_EQ(over.size(), 1u);
  EXPECT_EQ(over[0].level, Level::error);
  EXPECT_EQ(over[0].event.text(), "store_down");
  EXPECT_EQ(over[0].count, 2u);
  EXPECT_TRUE(repeats.expire(start + second).empty());
}

TEST(Repeats, DrainsEveryCountOnce) {
  Repeats repeats;
  written_of(repeats, many + 2, start);
  written_of(repeats, many + 4, start, Level::warn);
  const auto counts = repeats.drain();
  ASSERT_EQ(counts.size(), 2u);
  EXPECT_EQ(counts[0].count, 4u);
  EXPECT_EQ(counts[1].count, 2u);
  EXPECT_TRUE(repeats.drain().empty());
}

TEST(Repeats, StaysClosedForTheRestOfASecondThatWasDrained) {
  Repeats repeats;
  written_of(repeats, many + 2, start);
  (void)repeats.drain();
  EXPECT_EQ(written_of(repeats, 1, start), 0);
  EXPECT_EQ(repeats.drain().size(), 1u);
}

RC_GTEST_PROP(Repeats, LosesNoLineWithoutItsCount, ()) {
  Repeats repeats;
  SteadyInstant now = start;
  std::uint64_t called = 0;
  std::uint64_t accounted = 0;
  const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 1'200));
  for (const int step : steps) {
    now = now + Duration::milliseconds(step % 400);
    for (int i = 0; i < step / 20; ++i, ++called) {
      const auto verdict =
          repeats.decide(step % 2 == 0 ? Level::info : Level::error, "store_down", now);
      accounted += (verdict.write ? 1 : 0) + verdict.repeats_suppressed;
    }
    if (step % 7 == 0) {
      for (const auto& suppressed : repeats.expire(now)) accounted += suppressed.count;
    }
  }
  for (const auto& suppressed : repeats.drain()) accounted += suppressed.count;
  RC_ASSERT(accounted == called);
}

}  // namespace
}  // namespace pawl::log
