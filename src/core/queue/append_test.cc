// Goal: whatever becomes of calls and callers, there is one log, with everything that was
//       acknowledged in it, and nothing twice; and once all is well again everybody gets on.
// Method: a model of the store (append_fixture.h). Every fate of every call of a short run, and
//         every pair of them; beyond that by dice, with collected segments and long sleeps.
#include "core/queue/append.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/queue/append_fixture.h"

namespace pawl::queue {
namespace {

using How = PutAnswered::How;

constexpr Nonce first_nonce = {.high = 7, .low = 40};
constexpr SteadyInstant start = SteadyInstant::from_ns(1'000'000'000);

template <class Kind>
Kind only(const AppendSteps& steps) {
  EXPECT_EQ(steps.steps.size(), 1U);
  if (steps.steps.empty()) return {};
  EXPECT_TRUE(std::holds_alternative<Kind>(steps.steps.back()));
  const auto* kind = std::get_if<Kind>(&steps.steps.back());
  return kind == nullptr ? Kind{} : *kind;
}

// At the end of an empty log, with nothing to do.
class AppendAtRest : public ::testing::Test {
 protected:
  AppendAtRest() {
    last = append.open(now);
    tell(Reopened{});
    tell(GotNothing{});
    tell(LookedBeyond{});
    EXPECT_TRUE(append.resting());
  }
  AppendSteps& tell(const AppendAnswer& answer) {
    const std::uint64_t number = last.number;
    return last = append.answered(number, answer, now);
  }
  Put want() {
    last = append.want(now);
    return only<Put>(last);
  }
  void wait() {
    now = now + only<Wait>(last).wait;
    tell(Waited{});
  }

  SteadyInstant now = start;
  Append append{{.first_nonce = first_nonce}};
  AppendSteps last;
};

TEST_F(AppendAtRest, WhatIsStoredIsApplied) {
  const Put put = want();
  EXPECT_EQ(put.number, 1U);
  EXPECT_TRUE(put.fresh);
  const Apply apply = only<Apply>(tell(PutAnswered{.how = How::stored}));
  EXPECT_EQ(apply.number, 1U);
  EXPECT_TRUE(apply.ours);
  EXPECT_FALSE(append.wanted());
  EXPECT_TRUE(append.resting());
  const Put second = want();
  EXPECT_EQ(second.number, 2U);
  EXPECT_FALSE(second.nonce == put.nonce);
}

TEST_F(AppendAtRest, WhatExistsMayBeOurs) {
  const Put put = want();
  EXPECT_EQ(only<Get>(tell(PutAnswered{.how = How::exists})).number, 1U);
  EXPECT_TRUE(only<Apply>(tell(Got{.nonce = put.nonce})).ours);
}

TEST_F(AppendAtRest, ALostPlaceIsFollowedByTheNext) {
  const Put put = want();
  tell(PutAnswered{.how = How::exists});
  tell(Got{.nonce = {.high = 1}});
  ASSERT_EQ(last.steps.size(), 2U);
  EXPECT_FALSE(std::get<Apply>(last.steps[0]).ours);
  const Put next = std::get<Put>(last.steps[1]);
  EXPECT_EQ(next.number, 2U);
  EXPECT_TRUE(next.fresh);
  EXPECT_FALSE(next.nonce == put.nonce);
  EXPECT_EQ(append.conflicts(), 1U);
}

TEST_F(AppendAtRest, TheSameBytesGoAgainWhileTheyMayLand) {
  const Put put = want();
  EXPECT_TRUE(append.may_have_landed());
  only<Get>(tell(PutAnswered{.how = How::unknown}));
  tell(GotNothing{});
  wait();
  const Put again = only<Put>(last);
  EXPECT_EQ(again.number, put.number);
  EXPECT_EQ(again.nonce, put.nonce);
  EXPECT_FALSE(again.fresh);
  tell(PutAnswered{.how = How::not_applied});
  EXPECT_TRUE(append.may_have_landed());  // by the first one
  wait();
  EXPECT_FALSE(only<Put>(last).fresh);
}

TEST_F(AppendAtRest, WhatNeverLeftHasNotLanded) {
  want();
  tell(PutAnswered{.how = How::not_applied, .retry_after = Duration::seconds(9)});
  EXPECT_FALSE(append.may_have_landed());
  EXPECT_EQ(only<Wait>(last).wait, Duration::seconds(9));
}

TEST_F(AppendAtRest, TroubleIsWaitedOutLongerAndLonger) {
  want();
  Duration before;
  for (int i = 0; i < 6; ++i) {
    tell(PutAnswered{.how = How::not_applied});
    const Duration waits = only<Wait>(last).wait;
    EXPECT_GE(waits, before);
    before = waits;
    wait();
  }
  for (int i = 0; i < 20; ++i) {
    tell(PutAnswered{.how = How::not_applied});
    EXPECT_LE(only<Wait>(last).wait, Duration::seconds(5));
    wait();
  }
}

TEST_F(AppendAtRest, ABatchThatNeedNotBeWrittenLeavesNoTrace) {
  want();
  last = append.withdraw(now);
  EXPECT_TRUE(last.steps.empty());
  EXPECT_TRUE(append.resting());
  EXPECT_FALSE(append.wanted());
  EXPECT_FALSE(append.may_have_landed());
  const Put put = want();
  EXPECT_EQ(put.number, 1U);
  EXPECT_TRUE(put.fresh);
}

TEST_F(AppendAtRest, ABatchThatNeedNotBeWrittenBehindAnothersReadsOn) {
  want();
  tell(PutAnswered{.how = How::exists});
  tell(Got{.nonce = {.high = 1}});
  ASSERT_TRUE(std::holds_alternative<Put>(last.steps.back()));
  last = append.withdraw(now);
  EXPECT_EQ(only<Get>(last).number, 2U);
  EXPECT_FALSE(append.at_end());
  EXPECT_TRUE(tell(GotNothing{}).steps.empty());
  EXPECT_TRUE(append.resting());
  EXPECT_TRUE(append.at_end());
}

TEST_F(AppendAtRest, ALookIsLetGoForABatch) {
  last = append.look(now);
  only<Get>(last);
  const std::uint64_t looked = last.number;
  want();
  EXPECT_TRUE(append.answered(looked, Got{}, now).steps.empty());
  EXPECT_TRUE(only<Apply>(tell(PutAnswered{.how = How::stored})).ours);
}

TEST_F(AppendAtRest, WhoIsNotAloneLooksBeforeItPuts) {
  last = append.look(now);
  tell(Got{.nonce = {.high = 1}});
  tell(GotNothing{});
  ASSERT_TRUE(append.resting());
  const Put second = want();
  EXPECT_EQ(second.number, 2U) << "it has just been seen";
  now = now + Duration::milliseconds(10);
  only<Apply>(tell(PutAnswered{.how = How::stored}));
  now = now + Duration::seconds(1);
  last = append.want(now);
  EXPECT_EQ(only<Get>(last).number, 3U);
  tell(Got{.nonce = {.high = 2}, .before = second.nonce});
  ASSERT_EQ(last.steps.size(), 2U);
  EXPECT_EQ(std::get<Get>(last.steps[1]).number, 4U);
  EXPECT_FALSE(append.may_have_landed());
  tell(GotNothing{});
  EXPECT_EQ(append.conflicts(), 0U);
  if (std::holds_alternative<Wait>(last.steps.back())) wait();  // for its turn
  EXPECT_EQ(only<Put>(last).number, 4U);
}

TEST_F(AppendAtRest, WhoIsNotAloneLetsALookGoOnBeforeItPuts) {
  last = append.look(now);
  tell(Got{.nonce = {.high = 1}});
  tell(GotNothing{});
  now = now + Duration::seconds(1);
  last = append.look(now);
  EXPECT_TRUE(append.want(now).steps.empty());
  EXPECT_EQ(only<Put>(tell(GotNothing{})).number, 2U);
}

TEST_F(AppendAtRest, ADroppedBatchThatLandsIsAnothers) {
  const Put put = want();
  EXPECT_TRUE(append.drop(now).steps.empty());
  EXPECT_TRUE(append.want(now).steps.empty());  // the next one waits for that answer
  only<Get>(tell(PutAnswered{.how = How::stored}));
  tell(Got{.nonce = put.nonce});
  EXPECT_FALSE(std::get<Apply>(last.steps[0]).ours);
  tell(GotNothing{});
  EXPECT_EQ(only<Put>(last).number, 2U);
}

TEST_F(AppendAtRest, WhoHasNotSeenTheEndForLongBelievesNothing) {
  now = now + Duration::minutes(31);
  last = append.want(now);
  only<Reopen>(last);
  tell(Reopened{.sequence = 0});
  only<Get>(last);
  tell(GotNothing{});
  tell(LookedBeyond{});
  EXPECT_EQ(only<Put>(last).number, 1U);
  now = now + Duration::minutes(31);
  only<Reopen>(tell(PutAnswered{.how = How::stored}));
}

TEST_F(AppendAtRest, WhatWasReadTooLongAgoIsNotBelieved) {
  for (const AppendAnswer& answer : {AppendAnswer(Got{}), AppendAnswer(GotNothing{})}) {
    last = append.look(now);
    only<Get>(last);
    now = now + Duration::minutes(31);
    only<Reopen>(tell(answer));
    tell(Reopened{.sequence = 0});
    tell(GotNothing{});
    tell(LookedBeyond{});
    EXPECT_EQ(append.next(), 1U);
  }
}

TEST_F(AppendAtRest, ASegmentIsNotTheEnd) {
  last = append.look(now);
  now = now + Duration::minutes(20);
  tell(Got{});
  EXPECT_EQ(std::get<Get>(last.steps.back()).number, 2U);
  now = now + Duration::minutes(20);
  only<Reopen>(tell(Got{}));
}

TEST_F(AppendAtRest, ABatchIsLostWhenASnapshotMayHaveIt) {
  want();
  now = now + Duration::minutes(31);
  tell(PutAnswered{.how = How::unknown});
  tell(Reopened{.sequence = 5, .newest = 5});
  ASSERT_EQ(last.steps.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<Lost>(last.steps[0]));
  EXPECT_EQ(std::get<Get>(last.steps[1]).number, 6U);
  EXPECT_FALSE(append.wanted());
}

TEST_F(AppendAtRest, ABatchThatNeverLeftOutlivesAReopening) {
  want();
  now = now + Duration::minutes(31);
  tell(PutAnswered{.how = How::not_applied});
  tell(Reopened{.sequence = 5, .newest = 5});
  EXPECT_EQ(only<Get>(last).number, 6U);
  tell(GotNothing{});
  tell(LookedBeyond{});
  EXPECT_EQ(only<Put>(last).number, 6U);
}

TEST_F(AppendAtRest, EachSegmentNamesTheOneBefore) {
  const Put first = want();
  EXPECT_EQ(first.before, Nonce());
  tell(PutAnswered{.how = How::stored});
  const Put second = want();
  EXPECT_EQ(second.before, first.nonce);
  tell(PutAnswered{.how = How::exists});
  tell(Got{.nonce = {.high = 1}, .before = first.nonce});
  EXPECT_EQ(std::get<Put>(last.steps[1]).before, (Nonce{.high = 1}));
}

TEST_F(AppendAtRest, AfterASnapshotItsLastSegmentIsTheOneBefore) {
  now = now + Duration::minutes(31);
  last = append.want(now);
  tell(Reopened{.sequence = 5, .newest = 5, .last = {.high = 9}});
  tell(GotNothing{});
  tell(LookedBeyond{});
  EXPECT_EQ(only<Put>(last).before, (Nonce{.high = 9}));
}

TEST_F(AppendAtRest, ASegmentThatFollowsOnAnotherIsAFork) {
  want();
  tell(PutAnswered{.how = How::stored});
  last = append.look(now);
  EXPECT_EQ(only<Forked>(tell(Got{.nonce = {.high = 1}, .before = {.high = 2}})).number, 2U);
  EXPECT_TRUE(append.want(now).steps.empty());
}

TEST_F(AppendAtRest, AClockThatWasPausedIsFoundOutByTheStores) {
  constexpr Instant noon = Instant::from_ns(1'700'000'000'000'000'000);
  append.heard(noon);
  last = append.look(now);
  tell(GotNothing{});
  want();
  append.heard(noon + Duration::minutes(29));
  EXPECT_TRUE(only<Apply>(tell(PutAnswered{.how = How::stored})).ours);
  want();
  append.heard(noon + Duration::hours(2));
  only<Reopen>(tell(PutAnswered{.how = How::stored}));
}

TEST_F(AppendAtRest, NoStoreKeepsUsWaitingForLong) {
  want();
  tell(PutAnswered{.how = How::not_applied, .retry_after = Duration::hours(24)});
  EXPECT_EQ(only<Wait>(last).wait, Duration::minutes(1));
  wait();
  tell(PutAnswered{.how = How::busy, .retry_after = Duration::hours(24)});
  EXPECT_EQ(only<Wait>(last).wait, Duration::minutes(1));
}

TEST_F(AppendAtRest, AWaitThatTheStoreNamesComesBeforeAllThatIsUnknown) {
  want();
  tell(PutAnswered{.how = How::unknown, .retry_after = Duration::seconds(8)});
  EXPECT_EQ(only<Wait>(last).wait, Duration::seconds(8));
  wait();
  only<Get>(last);
}

TEST_F(AppendAtRest, APlaceThatStaysBusyIsTriedLessAndLessOften) {
  want();
  const SteadyInstant end = now + Duration::seconds(30);
  int puts = 1;
  for (; now < end; ++puts) {
    tell(PutAnswered{.how = How::busy});
    wait();
    only<Put>(last);
  }
  EXPECT_GT(puts, 10);
  EXPECT_LT(puts, 25);
}

TEST_F(AppendAtRest, AStoreThatContradictsItselfIsAskedLessAndLessOften) {
  want();
  const SteadyInstant end = now + Duration::seconds(30);
  int puts = 1;
  for (; now < end; ++puts) {
    tell(PutAnswered{.how = How::exists});
    tell(GotNothing{});
    tell(Reopened{});
    tell(GotNothing{});
    tell(LookedBeyond{});
    wait();
    only<Put>(last);
  }
  EXPECT_GT(puts, 10);
  EXPECT_LT(puts, 25);
}

TEST_F(AppendAtRest, WhoIsGivenUpDoesNotWaitToReopen) {
  now = now + Duration::minutes(31);
  last = append.want(now);
  tell(ReopenFailed{.retry_after = Duration::hours(24)});
  EXPECT_EQ(only<Wait>(last).wait, Duration::minutes(1));
  last = append.drop(now);
  only<Reopen>(last);
}

TEST(Append, SomethingBeyondTheEndIsAHole) {
  Append append({.first_nonce = first_nonce});
  AppendSteps last = append.open(start);
  for (int i = 0; i < 4; ++i) {
    last = append.answered(last.number, Reopened{.sequence = 3, .newest = 3}, start);
    EXPECT_EQ(only<Get>(last).number, 4U);
    last = append.answered(last.number, GotNothing{}, start);
    if (i == 0) {
      EXPECT_FALSE(append.at_end());
      EXPECT_EQ(only<LookBeyond>(last).number, 4U);
      last = append.answered(last.number, LookedBeyond{.found = 6}, start);
      EXPECT_EQ(only<Get>(last).number, 4U);
      last = append.answered(last.number, GotNothing{}, start);
    }
  }
  EXPECT_EQ(only<Missing>(last).number, 4U);
  EXPECT_TRUE(append.want(start).steps.empty());
}

TEST(Append, WhatWasAppendedMeanwhileIsNoHole) {
  Append append({.first_nonce = first_nonce});
  AppendSteps last = append.open(start);
  last = append.answered(last.number, Reopened{}, start);
  last = append.answered(last.number, GotNothing{}, start);
  last = append.answered(last.number, LookedBeyond{.found = 2}, start);
  last = append.answered(last.number, Got{.nonce = {.high = 1}}, start);
  last = append.answered(last.number, Got{.nonce = {.high = 2}, .before = {.high = 1}}, start);
  last = append.answered(last.number, GotNothing{}, start);
  EXPECT_EQ(only<LookBeyond>(last).number, 3U);
  last = append.answered(last.number, LookedBeyond{}, start);
  EXPECT_TRUE(append.resting() && append.at_end());
}

TEST(Append, AHoleBelowASnapshotIsNoEnd) {
  Append append({.first_nonce = first_nonce});
  AppendSteps last = append.open(start);
  for (int i = 0; i < 4; ++i) {
    last = append.answered(last.number, Reopened{.sequence = 3, .newest = 9}, start);
    EXPECT_EQ(only<Get>(last).number, 4U);
    last = append.answered(last.number, GotNothing{}, start);
  }
  EXPECT_EQ(only<Missing>(last).number, 4U);
  EXPECT_TRUE(append.want(start).steps.empty());
}

TEST(Append, WhoWinsAmongOthersYieldsAMoment) {
  int yielded = 0;
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    Append append({.first_nonce = {.high = seed, .low = 1}});
    SteadyInstant now = start;
    AppendSteps last = append.open(now);
    last = append.answered(last.number, Reopened{}, now);
    last = append.answered(last.number, Got{.nonce = {.high = 1000}}, now);
    last = append.answered(last.number, GotNothing{}, now);
    last = append.answered(last.number, LookedBeyond{}, now);
    last = append.want(now);
    now = now + Duration::milliseconds(10);
    last = append.answered(last.number, PutAnswered{.how = How::stored}, now);
    last = append.want(now);
    if (const auto* wait = std::get_if<Wait>(&last.steps.back())) {
      EXPECT_LT(wait->wait, Duration::milliseconds(20));
      ++yielded;
    }
  }
  EXPECT_GT(yielded, 24);
}

// Two appenders with two batches each; the calls with these numbers have these fates.
void run_with(std::uint64_t seed, const std::map<int, Fate>& fates) {
  AppendWorld world(seed);
  world.add(2);
  world.add(2);
  for (int turn = 0; turn < 2000; ++turn) {
    if (world.idle(0) && world.idle(1) && world.calls() > 60) break;
    const auto fate = fates.find(world.calls());
    world.turn(world.roll(2), fate == fates.end() ? Fate::well : fate->second);
  }
  EXPECT_TRUE(world.idle(0) && world.idle(1)) << "somebody does not get on";
  EXPECT_FALSE(world.missing());
  EXPECT_EQ(world.actor(0).replica, world.actor(1).replica);
  world.check();
}

TEST(Append, HoldsWhateverBecomesOfAnyTwoCalls) {
  constexpr int calls = 22;
  constexpr int fates = static_cast<int>(Fate::end);
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    for (int one = 0; one < calls * fates; ++one) {
      for (int two = one; two < calls * fates; ++two) {
        const std::map<int, Fate> both = {{one / fates, static_cast<Fate>(one % fates)},
                                          {two / fates, static_cast<Fate>(two % fates)}};
        run_with(seed, both);
        if (::testing::Test::HasFailure()) {
          FAIL() << "seed " << seed << ": call " << one / fates << " has fate " << one % fates
                 << ", call " << two / fates << " fate " << two % fates;
        }
      }
    }
  }
}

RC_GTEST_PROP(Append, HoldsByDice, (std::uint64_t seed)) {
  AppendWorld world(seed);
  const std::size_t actors = 2 + world.roll(3);
  for (std::size_t i = 0; i < actors; ++i) world.add(4 + static_cast<int>(world.roll(6)));
  const std::uint64_t trouble = 2 + world.roll(20);
  for (int turn = 0; turn < 400; ++turn) {
    const std::size_t who = world.roll(actors);
    const bool well = world.roll(trouble) != 0;
    const auto fate = static_cast<Fate>(world.roll(static_cast<std::uint64_t>(Fate::end)));
    world.turn(who, well ? Fate::well : fate);
    if (world.roll(12) == 0) world.snapshot(world.roll(actors));
    if (world.roll(12) == 0) world.collect();
    if (world.roll(60) == 0)
      world.pass(Duration::minutes(static_cast<std::int64_t>(world.roll(90))));
    if (world.roll(40) == 0) world.drop(world.roll(actors));
  }
  const auto all_idle = [&] {
    for (std::size_t i = 0; i < actors; ++i) {
      if (!world.idle(i)) return false;
    }
    return true;
  };
  for (int turn = 0; turn < 8000 && !all_idle(); ++turn) {
    const std::size_t who = world.roll(actors);
    if (!world.idle(who)) world.turn(who, Fate::well);
  }
  RC_ASSERT(all_idle());
  RC_ASSERT(!world.missing());
  world.check();
  RC_ASSERT(!::testing::Test::HasFailure());
}

}  // namespace
}  // namespace pawl::queue
