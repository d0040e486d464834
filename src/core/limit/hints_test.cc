// Goal: refused callers are told to come back one by one and never too early. Method: pinned walks
// of callers at a hand-moved clock; then random walks of a random rule against what is promised.
#include "core/limit/hints.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/bounds.h"

namespace pawl::limit {
namespace {

constexpr Moment start = Moment::from_ns(1'000'000'000'000);
constexpr Turns every_second{.slot = Duration::seconds(1), .reach = Duration::seconds(3)};

Refusal refused(Duration retry_after, Moment now = start) {
  return {.now = now, .retry_after = retry_after, .key_hash = 0};
}

TEST(Hints, TellTheNthCallerWhenTheNthSlotComes) {
  Moment last;
  EXPECT_EQ(hint(last, every_second, refused(Duration::milliseconds(400))),
            Duration::milliseconds(400));
  EXPECT_EQ(hint(last, every_second, refused(Duration::milliseconds(400))),
            Duration::milliseconds(1'400));
  // A little later the same slots are a little nearer.
  EXPECT_EQ(hint(last, every_second,
                 refused(Duration::milliseconds(300), start + Duration::milliseconds(100))),
            Duration::milliseconds(2'300));
  EXPECT_EQ(last, start + Duration::milliseconds(2'400));
}

TEST(Hints, GoOnBehindTheTurnsThatAreStillToCome) {
  Moment last;
  for (int i = 0; i < 3; ++i) hint(last, every_second, refused(Duration::milliseconds(400)));
  // The first has come and was served; two turns are open.
  EXPECT_EQ(hint(last, every_second,
                 refused(Duration::milliseconds(900), start + Duration::milliseconds(500))),
            Duration::milliseconds(2'900));
}

TEST(Hints, BeginAnewWhenAllTurnsHavePassed) {
  Moment last;
  for (int i = 0; i < 3; ++i) hint(last, every_second, refused(Duration::milliseconds(400)));
  const Moment later = start + Duration::milliseconds(2'500);
  EXPECT_EQ(hint(last, every_second, refused(Duration::milliseconds(900), later)),
            Duration::milliseconds(900));
}

TEST(Hints, BeginAnewWhereTheyWouldReachTooFar) {
  Moment last;
  Duration told;
  for (int i = 0; i < 4; ++i) told = hint(last, every_second, refused(Duration::milliseconds(400)));
  EXPECT_EQ(told, Duration::milliseconds(3'400));
  EXPECT_EQ(hint(last, every_second, refused(Duration::milliseconds(400))),
            Duration::milliseconds(400));
  // So a clock that went back leaves nobody waiting for its old time.
  last = start + Duration::days(3650);
  EXPECT_EQ(hint(last, every_second, refused(Duration::milliseconds(400))),
            Duration::milliseconds(400));
}

TEST(Hints, StayNeverWhereItIsNever) {
  Moment last = start;
  EXPECT_EQ(hint(last, every_second, refused(Duration::max())), Duration::max());
  EXPECT_EQ(last, start);
}

TEST(Hints, SpreadKeysUpwardByUpToAnEighthOfTheWait) {
  const auto told = [](Duration wait, std::uint64_t hash) {
    Moment last;
    return hint(last, {}, {.now = start, .retry_after = wait, .key_hash = hash});
  };
  EXPECT_EQ(told(Duration::seconds(80), 0), Duration::seconds(80));
  EXPECT_EQ(told(Duration::seconds(80), std::uint64_t{1} << 63), Duration::seconds(85));
  EXPECT_GT(told(Duration::seconds(80), ~std::uint64_t{0}), Duration::milliseconds(89'999));
  EXPECT_LT(told(Duration::seconds(80), ~std::uint64_t{0}), Duration::seconds(90));
  EXPECT_EQ(told(Duration::days(20), std::uint64_t{1} << 63),
            Duration::days(20) + Duration::seconds(30));
}

TEST(Hints, KnowTheSlotsOfEveryRule) {
  const Rate rate{.count = 4, .period = Duration::minutes(2)};
  const Turns even{.slot = Duration::seconds(30), .reach = Duration::minutes(2)};
  EXPECT_EQ(turns_of(SlidingWindow{rate}), even);
  EXPECT_EQ(turns_of(SlidingLog{rate}), even);
  EXPECT_EQ(turns_of(Concurrency{.slots = 4, .lease = Duration::minutes(2)}), even);
  EXPECT_EQ(turns_of(TokenBucket(rate, 0)), even);
  EXPECT_EQ(turns_of(TokenBucket(rate, 9)),
            (Turns{.slot = Duration::seconds(30), .reach = Duration::minutes(5)}));
  // All that a calendar window has comes at its start.
  EXPECT_EQ(turns_of(Calendar{.count = 4, .rule = {}}), Turns());
  // Few slots have turns for a minute all the same.
  EXPECT_EQ(turns_of(SlidingWindow{{.count = 1, .period = Duration::seconds(1)}}),
            (Turns{.slot = Duration::seconds(1), .reach = Duration::minutes(1)}));
}

RC_GTEST_PROP(Hints, AreNeverEarlyAndNeverBeyondTheirReach, ()) {
  const Turns turns{
      .slot = Duration::nanoseconds(*rc::gen::inRange<std::int64_t>(0, 5'000'000'000)),
      .reach = Duration::nanoseconds(*rc::gen::inRange<std::int64_t>(0, 90'000'000'000))};
  Moment last = Moment::from_ns(*rc::gen::arbitrary<std::int64_t>());
  Moment now = start;
  for (int i = 0; i < 50; ++i) {
    now = now + Duration::milliseconds(*rc::gen::inRange(-2'000, 3'000));
    const Refusal refusal{.now = now,
                          .retry_after = Duration::milliseconds(*rc::gen::inRange(1, 900'000)),
                          .key_hash = *rc::gen::arbitrary<std::uint64_t>()};
    const Duration told = hint(last, turns, refusal);
    const Duration turn = refusal.retry_after + turns.reach;
    RC_ASSERT(told >= refusal.retry_after);
    RC_ASSERT(told <= turn + std::min(turn / 8, bounds::limit_hint_spread_max));
  }
}

}  // namespace
}  // namespace pawl::limit
