// Goal: two stores are one: all or none across both, and stricter at the worst when one fails.
// Method: the conformance suite on two memory stores, at once and answering late; then each store
// lost at each step, with the counts of both looked at afterwards.
#include "runtime/split_counter_store.h"

#include <gtest/gtest.h>

#include "port/counter_store_conformance.h"
#include "runtime/counter_store_fixture.h"
#include "runtime/fallback_counter_store.h"

namespace pawl {
namespace {

struct Split {
  ManualClock clock;
  MemoryCounterStore calendar_memory{clock};
  MemoryCounterStore others_memory{clock};
  TroubledStore calendar{calendar_memory};
  TroubledStore others{others_memory};
  SplitCounterStore store{clock, {.calendar = calendar, .others = others}};

  limit::Policy monthly{"monthly", limit::Calendar{5, {.unit = limit::CalendarUnit::month}}};
  limit::Policy pace{"pace", limit::TokenBucket({1, Duration::hours(1)}, 9)};
  Count month{&monthly, "t"};
  Count hour{&pace, "t"};
  Count set[2] = {month, hour};

  std::int64_t left(const Count& count) {
    return checked(store, {&count, 1}, 0).value().bound().remaining;
  }
};

const Error lost(Code::unavailable, Outcome::not_applied, "lost");

TEST(SplitCounterStore, Conforms) {
  Split split;
  expect_counter_store_conforms({.store = split.store,
                                 .advance = [&](Duration d) { split.clock.advance(d); },
                                 .now = [&] { return now_of(split.clock); }});
}

TEST(SplitCounterStore, ConformsWhenItsStoresAnswerLate) {
  Split split;
  split.calendar.late = split.others.late = true;
  expect_counter_store_conforms({.store = split.store,
                                 .advance = [&](Duration d) { split.clock.advance(d); },
                                 .now = [&] { return now_of(split.clock); },
                                 .threads = 1,
                                 .pump =
                                     [&] {
                                       while (split.calendar.waiting() + split.others.waiting() >
                                              0) {
                                         split.calendar.pump();
                                         split.others.pump();
                                       }
                                     }});
}

TEST(SplitCounterStore, WhatLivesInOneStoreGoesStraightThere) {
  Split split;
  ASSERT_TRUE(checked(split.store, {&split.hour, 1}).has_value());
  EXPECT_EQ(split.calendar.calls, 0);
  EXPECT_EQ(split.others.calls, 1);
  ASSERT_TRUE(checked(split.store, {&split.month, 1}).has_value());
  EXPECT_EQ(split.calendar.calls, 1);
  EXPECT_EQ(split.others.calls, 1);
}

TEST(SplitCounterStore, WhomThePaceRefusesCostsTheCalendarNothing) {
  Split split;
  ASSERT_TRUE(checked(split.store, {&split.hour, 1}, 10)->allowed);
  EXPECT_FALSE(checked(split.store, split.set)->allowed);
  EXPECT_EQ(split.calendar.cost, 0) << "a look";
  EXPECT_EQ(split.left(split.month), 5);
}

TEST(SplitCounterStore, ARefusalByTheCalendarGivesBackWhatWasReserved) {
  Split split;
  ASSERT_TRUE(checked(split.store, split.set, 5)->allowed);
  const limit::Answer refused = checked(split.store, split.set).value();
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.binding, 0);
  EXPECT_TRUE(refused.verdicts[1].allowed);
  EXPECT_EQ(refused.verdicts[1].remaining, 5);
  EXPECT_EQ(split.left(split.hour), 5);
}

TEST(SplitCounterStore, AStoreThatIsLostMidwayLeavesNothingCharged) {
  Split split;
  split.calendar.error = lost;
  EXPECT_EQ(checked(split.store, split.set).error(), lost);
  EXPECT_EQ(reserved(split.store, split.set).error(), lost);
  EXPECT_FALSE(split.store.health().has_value());
  split.calendar.error.reset();
  EXPECT_EQ(split.left(split.hour), 10);
  EXPECT_EQ(split.left(split.month), 5);
  split.others.error = lost;
  EXPECT_EQ(checked(split.store, split.set).error(), lost);
  EXPECT_FALSE(split.store.health().has_value());
  split.others.error.reset();
  EXPECT_TRUE(split.store.health().has_value());
  EXPECT_EQ(split.left(split.month), 5);
}

// What is not told any more is what a process that died midway leaves behind.
TEST(SplitCounterStore, AProcessThatDiesMidwayLeavesItChargedAtTheWorst) {
  Split split;
  split.calendar.late = true;
  split.store.check(split.set, 1, [](const auto&) { FAIL() << "the calendar never answered"; });
  EXPECT_EQ(split.calendar.waiting(), 1u);
  EXPECT_EQ(checked(split.others_memory, {&split.hour, 1}, 0)->bound().remaining, 9);
  EXPECT_EQ(checked(split.calendar_memory, {&split.month, 1}, 0)->bound().remaining, 4);
}

TEST(SplitCounterStore, AReservationAcrossBothIsSettledInBoth) {
  Split split;
  const Reservation first = reserved(split.store, split.set, 3).value();
  EXPECT_EQ(split.left(split.month), 2);
  EXPECT_EQ(split.left(split.hour), 7);
  EXPECT_TRUE(settled(split.store, split.set, first.id, Settlement::Kind::commit).has_value());
  EXPECT_EQ(split.left(split.month), 4);
  EXPECT_EQ(split.left(split.hour), 9);
  EXPECT_EQ(settled(split.store, split.set, first.id, Settlement::Kind::cancel).error().code,
            Code::not_found);
  const Reservation second = reserved(split.store, split.set, 3).value();
  split.clock.advance(Duration::seconds(61));
  EXPECT_EQ(settled(split.store, split.set, second.id, Settlement::Kind::cancel).error().code,
            Code::not_found);
  EXPECT_EQ(split.left(split.month), 1) << "not settled in time, it stays charged";
}

TEST(SplitCounterStore, AShadowWithoutRoomIsAskedAndNeverCharged) {
  Split split;
  limit::Policy shadow = split.monthly;
  shadow.options.shadow = true;
  const Count set[] = {{&shadow, "t"}, split.hour};
  ASSERT_TRUE(checked(split.calendar_memory, {&split.month, 1}, 5)->allowed);
  ASSERT_TRUE(checked(split.store, {&split.hour, 1}, 10)->allowed);
  const limit::Answer refused = checked(split.store, set).value();
  EXPECT_FALSE(refused.allowed);
  EXPECT_FALSE(refused.verdicts[0].allowed);
  EXPECT_GT(refused.verdicts[0].retry_after, Duration::hours(1));
  EXPECT_EQ(refused.binding, 1) << "a shadow refuses nobody";

  // Room comes between the look, which found none, and the ask.
  split.calendar.late = true;
  std::optional<limit::Answer> answer;
  split.store.check(set, 1, [&](auto told) { answer = told.value(); });
  ASSERT_EQ(split.calendar.waiting(), 1u);
  split.clock.advance(Duration::hours(24 * 40));
  while (split.calendar.waiting() > 0) split.calendar.pump();
  ASSERT_TRUE(answer.has_value());
  EXPECT_FALSE(answer->allowed);
  EXPECT_EQ(checked(split.calendar_memory, {&split.month, 1}, 0)->bound().remaining, 5);
}

TEST(SplitCounterStore, WhomThePaceRefusesCostsAFullShadowNothing) {
  Split split;
  limit::Policy shadow = split.monthly;
  shadow.options.shadow = true;
  const Count set[] = {{&shadow, "t"}, split.hour};
  ASSERT_TRUE(checked(split.calendar_memory, {&split.month, 1}, 5)->allowed);
  ASSERT_TRUE(checked(split.store, {&split.hour, 1}, 10)->allowed);
  const int calls = split.calendar.calls;
  EXPECT_FALSE(checked(split.store, set)->allowed);
  EXPECT_EQ(split.calendar.calls, calls + 2) << "a look and a refusal; nothing to cancel";
}

TEST(SplitCounterStore, AShadowAmongTheOthersIsChargedAsTheyAre) {
  Split split;
  const limit::Policy shadow{
      "shadow", limit::TokenBucket({1, Duration::hours(1)}, 1), {.shadow = true}};
  const Count watched{&shadow, "t"};
  const Count set[] = {split.month, watched};
  EXPECT_TRUE(checked(split.store, set)->allowed);
  EXPECT_EQ(split.left(watched), 1);
  EXPECT_TRUE(checked(split.store, set, 3)->allowed);
  EXPECT_EQ(split.left(watched), 1) << "no room for three";
  EXPECT_FALSE(checked(split.store, set, 3)->allowed);
  EXPECT_FALSE(checked(split.store, set, 2)->allowed);
  EXPECT_EQ(split.left(watched), 1) << "a refused ask leaves it as it was";
  EXPECT_EQ(split.left(split.month), 1);
}

TEST(SplitCounterStore, ReservationsThatWereAllowedUncountedDoNotMeet) {
  Split split;
  FallbackCounterStore fallback({.when_lost = WhenLost::allow},
                                {split.clock, split.others, split.others_memory});
  SplitCounterStore store(split.clock, {.calendar = split.calendar, .others = fallback});
  split.others.error = lost;
  const Reservation first = reserved(store, split.set, 2).value();
  const Reservation second = reserved(store, split.set, 3).value();
  EXPECT_EQ(split.left(split.month), 0);
  EXPECT_TRUE(settled(store, split.set, first.id, Settlement::Kind::cancel).has_value());
  EXPECT_EQ(split.left(split.month), 2);
  EXPECT_EQ(settled(store, split.set, first.id, Settlement::Kind::cancel).error().code,
            Code::not_found);
  EXPECT_TRUE(settled(store, split.set, second.id, Settlement::Kind::cancel).has_value());
  EXPECT_EQ(split.left(split.month), 5);
}

TEST(SplitCounterStore, TooManyReservationsAreRefusedUntilSomeRunOut) {
  Split split;
  const limit::Policy many{"many", limit::TokenBucket({1'000'000, Duration::seconds(1)}, 999'999)};
  const limit::Policy year{"year", limit::Calendar{1'000'000, {.unit = limit::CalendarUnit::year}}};
  const Count set[] = {{&year, "t"}, {&many, "t"}};
  for (std::size_t i = 0; i < bounds::limit_reservations_max; ++i) {
    ASSERT_TRUE(reserved(split.store, set).has_value());
  }
  const int calls = split.others.calls;
  EXPECT_EQ(reserved(split.store, set).error().code, Code::unavailable);
  EXPECT_EQ(split.others.calls, calls) << "nobody is charged";
  split.clock.advance(Duration::minutes(2));
  EXPECT_TRUE(reserved(split.store, set).has_value());
}

}  // namespace
}  // namespace pawl
