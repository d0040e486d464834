// Goal: the bucket admits exactly what its rate and burst say, tells the truth about waiting, and
// is untouched by a refusal. Method: pinned walks with a hand-moved clock, then random walks
// against a plain token-count oracle in exact rational arithmetic.
#include "core/limit/gcra.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <vector>

namespace pawl::limit {
namespace {

constexpr SteadyInstant start = SteadyInstant::from_ns(1'000'000'000'000);

TokenBucket per_second(std::int64_t count, std::int64_t burst) {
  return {.rate = {.count = count, .period = Duration::seconds(1)}, .burst = burst};
}

TEST(Gcra, ARestedKeyHasBurstPlusOne) {
  const TokenBucket bucket = per_second(1, 2);
  Cell cell;
  EXPECT_TRUE(decide(bucket, cell, 1, start).allowed);
  EXPECT_TRUE(decide(bucket, cell, 1, start).allowed);
  EXPECT_TRUE(decide(bucket, cell, 1, start).allowed);
  EXPECT_FALSE(decide(bucket, cell, 1, start).allowed);
}

TEST(Gcra, WithoutBurstTheSecondWaitsForTheWholeInterval) {
  const TokenBucket bucket = per_second(1, 0);
  Cell cell;
  EXPECT_TRUE(decide(bucket, cell, 1, start).allowed);
  const Verdict refused = decide(bucket, cell, 1, start + Duration::milliseconds(400));
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.retry_after, Duration::milliseconds(600));
  EXPECT_FALSE(decide(bucket, cell, 1, start + Duration::nanoseconds(999'999'999)).allowed);
  EXPECT_TRUE(decide(bucket, cell, 1, start + Duration::seconds(1)).allowed);
}

TEST(Gcra, SaysWhatRemainsAndWhenMoreComes) {
  const TokenBucket bucket = per_second(10, 4);
  Cell cell;
  const Verdict first = decide(bucket, cell, 1, start);
  EXPECT_EQ(first.limit, 10);
  EXPECT_EQ(first.remaining, 4);
  EXPECT_EQ(first.more_after, Duration::milliseconds(100));
  EXPECT_EQ(first.full_after, Duration::milliseconds(100));
  const Verdict all = decide(bucket, cell, 4, start + Duration::milliseconds(50));
  EXPECT_TRUE(all.allowed);
  EXPECT_EQ(all.remaining, 0);
  EXPECT_EQ(all.more_after, Duration::milliseconds(50));
  EXPECT_EQ(all.full_after, Duration::milliseconds(450));
}

TEST(Gcra, ACostAboveTheCapacityIsNeverAllowed) {
  const TokenBucket bucket = per_second(1, 2);
  Cell cell;
  const Verdict verdict = decide(bucket, cell, 4, start);
  EXPECT_FALSE(verdict.allowed);
  EXPECT_EQ(verdict.retry_after, Duration::max());
  EXPECT_EQ(verdict.remaining, 3);
}

TEST(Gcra, AClockThatWentBackKeepsNobodyOutForLongerThanAnEmptyBucket) {
  const TokenBucket bucket = per_second(1, 0);
  Cell cell;
  EXPECT_TRUE(decide(bucket, cell, 1, start + Duration::days(3650)).allowed);
  const Verdict refused = decide(bucket, cell, 1, start);
  EXPECT_FALSE(refused.allowed);
  EXPECT_LE(refused.retry_after, Duration::seconds(1));
}

TEST(Gcra, ALeapForwardGivesNoMoreThanAFullBucket) {
  const TokenBucket bucket = per_second(1, 1);
  Cell cell;
  EXPECT_TRUE(decide(bucket, cell, 1, start).allowed);
  const SteadyInstant later = start + Duration::days(3650);
  EXPECT_TRUE(decide(bucket, cell, 1, later).allowed);
  EXPECT_TRUE(decide(bucket, cell, 1, later).allowed);
  EXPECT_FALSE(decide(bucket, cell, 1, later).allowed);
}

TEST(Gcra, IsFullExactlyWhenAllTokensAreBack) {
  const TokenBucket bucket = per_second(1, 3);
  Cell cell;
  EXPECT_TRUE(is_full(cell, start));
  EXPECT_TRUE(decide(bucket, cell, 1, start).allowed);
  EXPECT_FALSE(is_full(cell, start + Duration::nanoseconds(999'999'999)));
  EXPECT_TRUE(is_full(cell, start + Duration::seconds(1)));
}

RC_GTEST_PROP(Gcra, ARefusalAndAPeekLeaveTheCellAsItWas, ()) {
  const TokenBucket bucket = per_second(*rc::gen::inRange(1, 1000), *rc::gen::inRange(0, 50));
  Cell cell{.full_at = start + Duration::nanoseconds(*rc::gen::inRange<std::int64_t>(0, 1 << 30))};
  const Cell before = cell;
  const Verdict verdict = decide(bucket, cell, *rc::gen::inRange(0, 100), start);
  if (!verdict.allowed) RC_ASSERT(cell == before);
  cell = before;
  RC_ASSERT(decide(bucket, cell, 0, start).allowed);
  RC_ASSERT(cell == before);
}

// The oracle counts tokens in units of 1/interval of a token, which is exact in integers.
struct Oracle {
  std::int64_t interval;
  std::int64_t capacity;
  std::int64_t level = capacity * interval;
  SteadyInstant last = start;

  bool take(std::int64_t cost, SteadyInstant now) {
    level = std::min(capacity * interval, level + (now - last).ns());
    last = now;
    if (level < cost * interval) return false;
    level -= cost * interval;
    return true;
  }
};

RC_GTEST_PROP(Gcra, AgreesWithATokenCountOnEveryStepOfARandomWalk, ()) {
  const TokenBucket bucket = per_second(*rc::gen::inRange(1, 50), *rc::gen::inRange(0, 10));
  Oracle oracle{.interval = bucket.token_interval().ns(), .capacity = bucket.capacity()};
  Cell cell;
  SteadyInstant now = start;
  for (int step = 0; step < 200; ++step) {
    now = now + Duration::nanoseconds(*rc::gen::inRange<std::int64_t>(0, 200'000'000));
    const auto cost = *rc::gen::inRange<std::int64_t>(0, bucket.capacity() + 2);
    const Verdict verdict = decide(bucket, cell, cost, now);
    RC_ASSERT(verdict.allowed == oracle.take(cost, now));
    RC_ASSERT(verdict.remaining == oracle.level / oracle.interval);
  }
}

RC_GTEST_PROP(Gcra, TheWaitItNamesIsExact, ()) {
  const TokenBucket bucket = per_second(*rc::gen::inRange(1, 50), *rc::gen::inRange(0, 5));
  Cell cell;
  while (decide(bucket, cell, 1, start).allowed) {
  }
  const auto cost = *rc::gen::inRange<std::int64_t>(1, bucket.capacity() + 1);
  const Duration wait = decide(bucket, cell, cost, start).retry_after;
  Cell early = cell;
  RC_ASSERT(!decide(bucket, early, cost, start + wait - Duration::nanoseconds(1)).allowed);
  RC_ASSERT(decide(bucket, cell, cost, start + wait).allowed);
}

}  // namespace
}  // namespace pawl::limit
