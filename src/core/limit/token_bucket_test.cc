// Goal: the bucket admits exactly what its rate and burst say, tells the truth about waiting, and
//       neither a refusal nor a clock can spoil it.
// Method: pinned walks with a hand-moved clock; random walks of buckets of every size against a
//         count of tokens in exact integers; the arithmetic without division against division.
#include "core/limit/token_bucket.h"

#include <gtest/gtest.h>

#include "core/limit/limit_fixture.h"

namespace pawl::limit {
namespace {

__extension__ using Wide = __int128;

TokenBucket per_second(std::int64_t count, std::int64_t burst) {
  return {Rate{.count = count, .period = Duration::seconds(1)}, burst};
}

TEST(TokenBucket, ARestedKeyHasBurstPlusOne) {
  const TokenBucket bucket = per_second(1, 2);
  Kept kept;
  EXPECT_TRUE(ask(bucket, kept, 1, start).allowed);
  EXPECT_TRUE(ask(bucket, kept, 1, start).allowed);
  EXPECT_TRUE(ask(bucket, kept, 1, start).allowed);
  EXPECT_FALSE(ask(bucket, kept, 1, start).allowed);
}

TEST(TokenBucket, WithoutBurstTheSecondWaitsForTheWholeInterval) {
  const TokenBucket bucket = per_second(1, 0);
  Kept kept;
  EXPECT_TRUE(ask(bucket, kept, 1, start).allowed);
  const Verdict refused = ask(bucket, kept, 1, later(start, Duration::milliseconds(400)));
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.retry_after, Duration::milliseconds(600));
  EXPECT_FALSE(ask(bucket, kept, 1, later(start, Duration::nanoseconds(999'999'999))).allowed);
  EXPECT_TRUE(ask(bucket, kept, 1, later(start, Duration::seconds(1))).allowed);
}

TEST(TokenBucket, SaysWhatRemainsAndWhenMoreComes) {
  const TokenBucket bucket = per_second(10, 4);
  Kept kept;
  const Verdict first = ask(bucket, kept, 1, start);
  EXPECT_EQ(first.limit, 10);
  EXPECT_EQ(first.remaining, 4);
  EXPECT_EQ(first.more_after, Duration::milliseconds(100));
  EXPECT_EQ(first.full_after, Duration::milliseconds(100));
  EXPECT_EQ(first.before, Cell());
  const Cell before = kept.state.cell;
  const Verdict all = ask(bucket, kept, 4, later(start, Duration::milliseconds(50)));
  EXPECT_TRUE(all.allowed);
  EXPECT_EQ(all.remaining, 0);
  EXPECT_EQ(all.more_after, Duration::milliseconds(50));
  EXPECT_EQ(all.full_after, Duration::milliseconds(450));
  EXPECT_EQ(all.before, before);
}

TEST(TokenBucket, TheIntervalIsRoundedUpSoThatThePaceIsNeverPassed) {
  EXPECT_EQ(per_second(3, 0).interval, Duration::nanoseconds(333'333'334));
  EXPECT_EQ(per_second(4, 0).interval, Duration::nanoseconds(250'000'000));
  EXPECT_EQ(per_second(1'000'000'000, 0).interval, nanosecond);
}

TEST(TokenBucket, ACostAboveTheCapacityIsNeverAllowed) {
  const TokenBucket bucket = per_second(1, 2);
  Kept kept;
  EXPECT_TRUE(look(bucket, kept.state, 3, start).allowed);
  const Verdict verdict = ask(bucket, kept, 4, start);
  EXPECT_FALSE(verdict.allowed);
  EXPECT_EQ(verdict.retry_after, Duration::max());
  EXPECT_EQ(verdict.remaining, 3);
}

TEST(TokenBucket, TakingMoreThanThereIsLeavesAnEmptyBucketAndNoDebt) {
  const TokenBucket bucket = per_second(1, 2);
  Kept kept;
  take(bucket, kept.state, 1000, start);
  EXPECT_EQ(look(bucket, kept.state, 0, start).remaining, 0);
  EXPECT_EQ(look(bucket, kept.state, 1, start).retry_after, Duration::seconds(1));
}

TEST(TokenBucket, GivingBackStopsAtAFullBucket) {
  const TokenBucket bucket = per_second(1, 9);
  Kept kept;
  take(bucket, kept.state, 7, start);
  give_back(bucket, kept.state, use_of(3, start), start);
  EXPECT_EQ(look(bucket, kept.state, 0, start).remaining, 6);
  give_back(bucket, kept.state, use_of(5, start), start);
  EXPECT_EQ(look(bucket, kept.state, 0, start).remaining, 10);
  EXPECT_EQ(look(bucket, kept.state, 0, start).full_after, Duration());
  EXPECT_EQ(kept.state.cell.a, start.moment.ns());
}

// 4 of 10 taken at the start: two seconds later the bucket has earned 2 of them by itself.
TEST(TokenBucket, WhatTimeHasPaidOffDoesNotComeBackAgain) {
  const TokenBucket bucket = per_second(1, 9);
  Kept kept;
  take(bucket, kept.state, 4, start);
  const Now now = later(start, Duration::seconds(2));
  take(bucket, kept.state, 5, now);
  Kept late = kept;
  give_back(bucket, kept.state, use_of(4, start), now);
  EXPECT_EQ(look(bucket, kept.state, 0, now).remaining, 5);
  give_back(bucket, late.state, use_of(4, start), later(start, Duration::seconds(5)));
  EXPECT_EQ(look(bucket, late.state, 0, later(start, Duration::seconds(5))).remaining, 6);
  // A clock that went back has paid nothing off.
  Kept ahead;
  take(bucket, ahead.state, 4, now);
  give_back(bucket, ahead.state, use_of(4, now), start);
  EXPECT_EQ(look(bucket, ahead.state, 0, start).remaining, 8);
}

// Every refusal is decided on what the one before has left, so it must not begin the wait anew.
TEST(TokenBucket, AClockThatWentBackKeepsNobodyOutForLongerThanAnEmptyBucket) {
  const TokenBucket bucket = per_second(1, 1);
  Kept kept;
  EXPECT_TRUE(ask(bucket, kept, 1, later(start, year * 10)).allowed);
  for (int half_seconds = 0; half_seconds < 4; ++half_seconds) {
    const Duration passed = Duration::milliseconds(500) * half_seconds;
    const Verdict refused = ask(bucket, kept, 2, later(start, passed));
    EXPECT_FALSE(refused.allowed);
    EXPECT_EQ(refused.retry_after, Duration::seconds(2) - passed);
  }
  EXPECT_TRUE(ask(bucket, kept, 2, later(start, Duration::seconds(2))).allowed);
}

TEST(TokenBucket, ALeapForwardGivesNoMoreThanAFullBucket) {
  const TokenBucket bucket = per_second(1, 1);
  Kept kept;
  EXPECT_TRUE(ask(bucket, kept, 1, start).allowed);
  const Now leapt = later(start, year * 10);
  EXPECT_TRUE(ask(bucket, kept, 1, leapt).allowed);
  EXPECT_TRUE(ask(bucket, kept, 1, leapt).allowed);
  EXPECT_FALSE(ask(bucket, kept, 1, leapt).allowed);
}

// Counts in units of one token's nanosecond: exact in integers.
struct Oracle {
  Wide interval;
  Wide capacity;
  Wide level = capacity * interval;

  void pass(Duration time) { level = std::min(capacity * interval, level + time.ns()); }
  bool take(std::int64_t cost) {
    if (level < cost * interval) return false;
    level -= cost * interval;
    return true;
  }
  Duration wait_for(std::int64_t cost) const {
    if (cost > capacity) return Duration::max();
    return Duration::nanoseconds(
        static_cast<std::int64_t>(std::max<Wide>(0, cost * interval - level)));
  }
};

TEST(TokenBucket, AgreesWithACountOfTokensOnEveryStepOfRandomWalks) {
  for_seeds(2000, [](Chance& chance) {
    const TokenBucket bucket = any_bucket(chance);
    Oracle oracle{.interval = bucket.interval.ns(), .capacity = bucket.capacity()};
    Kept kept;
    Now now = start;
    for (int step = 0; step < 50 && !testing::Test::HasFailure(); ++step) {
      const Duration pause = any_pause(chance, bucket, now);
      now = later(now, pause);
      oracle.pass(pause);
      const std::int64_t cost = any_cost(chance, bucket.capacity()) + chance.between(-1, 1);
      const Duration wait = oracle.wait_for(cost);
      const Verdict verdict = ask(bucket, kept, cost, now);
      EXPECT_EQ(verdict.retry_after, wait);
      EXPECT_EQ(verdict.allowed, oracle.take(cost));
      EXPECT_EQ(verdict.remaining, static_cast<std::int64_t>(oracle.level / oracle.interval));
      EXPECT_EQ(verdict.full_after.ns(),
                static_cast<std::int64_t>(oracle.capacity * oracle.interval - oracle.level));
      if (chance.one_in(5)) {
        const std::int64_t back = any_cost(chance, bucket.capacity());
        give_back(bucket, kept.state, use_of(back, now), now);
        oracle.level = std::min(oracle.capacity * oracle.interval,
                                oracle.level + Wide{back} * oracle.interval);
      }
    }
  });
}

TEST(TokenBucket, EveryVerdictIsTrueToTheTokenAndTheNanosecond) {
  for_seeds(1000, [](Chance& chance) { walk_and_check(any_bucket(chance), chance, 30); });
}

// What is missing, in tokens, is reckoned with a product of doubles. Long intervals and many tokens
// make the largest errors, next to whole multiples of the interval.
TEST(TokenBucket, WhatRemainsIsThatOfPlainDivision) {
  for_seeds(20'000, [](Chance& chance) {
    const TokenBucket bucket = any_bucket(chance);
    const std::int64_t interval = bucket.interval.ns();
    const std::int64_t most = interval * bucket.capacity();
    for (int i = 0; i < 20; ++i) {
      const std::int64_t tokens = any_cost(chance, bucket.capacity());
      const std::int64_t near = tokens * interval + chance.between(-2, 2);
      const std::int64_t missing =
          std::clamp<std::int64_t>(chance.one_in(4) ? chance.between(0, most) : near, 0, most);
      const State state{.cell = {.a = (start.moment + Duration::nanoseconds(missing)).ns()}};
      const std::int64_t expected =
          bucket.capacity() - missing / interval - (missing % interval > 0 ? 1 : 0);
      ASSERT_EQ(look(bucket, state, 0, start).remaining, expected)
          << "missing " << missing << " interval " << interval;
    }
  });
}

TEST(TokenBucket, TheLargestBucketsAreExactAtTheirEnds) {
  struct Case {
    Rate rate;
    std::int64_t burst;
  };
  const Duration longest = bounds::limit_period_max;
  for (const Case& each :
       {Case{{1'000'000'000, Duration::seconds(1)}, 1'000'000'000}, Case{{1, longest}, 9},
        Case{{1, longest}, 0}, Case{{100'000'000, longest}, 999'999'999},
        Case{{3, Duration::days(7)}, 1567}, Case{{1, nanosecond}, 0}}) {
    const TokenBucket bucket(each.rate, each.burst);
    ASSERT_LE(bucket.interval * bucket.capacity(), bounds::limit_refill_max);
    Kept kept;
    EXPECT_EQ(ask(bucket, kept, bucket.capacity() - 1, start).remaining, 1);
    EXPECT_EQ(ask(bucket, kept, 1, start).remaining, 0);
    EXPECT_EQ(look(bucket, kept.state, 1, start).retry_after, bucket.interval);
    const Duration refill = bucket.interval * bucket.capacity();
    EXPECT_EQ(look(bucket, kept.state, bucket.capacity(), start).retry_after, refill);
    const Verdict nearly = look(bucket, kept.state, 0, later(start, refill - nanosecond));
    EXPECT_EQ(nearly.remaining, bucket.capacity() - 1);
    EXPECT_EQ(look(bucket, kept.state, 0, later(start, refill)).remaining, bucket.capacity());
  }
}

}  // namespace
}  // namespace pawl::limit
