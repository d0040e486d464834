// Goal: never more than the limit in one window of the calendar, as people in the zone see it, and
//       a wall clock that is set wrong neither hands out twice nor keeps anybody out for long.
// Method: pinned windows in a zone with summer time; random walks against a count a window.
#include "core/limit/calendar.h"

#include <gtest/gtest.h>
#include <map>

#include "core/limit/limit_fixture.h"

namespace pawl::limit {
namespace {

Now at(const char* text) {
  return {.moment = start.moment, .wall = parse_instant(text).value()};
}

CivilTime local(const std::string& text) {
  return to_civil(parse_instant(text + "Z").value());
}

Calendar hundred_a(CalendarUnit unit) {
  return {.count = 100, .rule = {.unit = unit}};
}

TEST(CalendarLimit, CountsInTheMonth) {
  const Calendar month = hundred_a(CalendarUnit::month);
  Kept kept;
  const Verdict first = ask(month, kept, 60, at("2026-01-15T12:00:00Z"));
  EXPECT_TRUE(first.allowed);
  EXPECT_EQ(first.limit, 100);
  EXPECT_EQ(first.remaining, 40);
  EXPECT_EQ(first.before, Cell());
  EXPECT_EQ(first.more_after, Duration::days(16) + Duration::hours(12));
  EXPECT_EQ(first.full_after, first.more_after);
  EXPECT_TRUE(ask(month, kept, 40, at("2026-01-31T23:59:59Z")).allowed);
  const Verdict refused = ask(month, kept, 1, at("2026-01-31T23:59:59Z"));
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.retry_after, Duration::seconds(1));
  EXPECT_TRUE(ask(month, kept, 100, at("2026-02-01T00:00:00Z")).allowed);
  EXPECT_EQ(look(month, kept.state, 101, at("2026-02-01T00:00:00Z")).retry_after, Duration::max());
}

TEST(CalendarLimit, WeeksBeginOnMonday) {
  const Calendar week = hundred_a(CalendarUnit::week);
  Kept kept;
  EXPECT_TRUE(ask(week, kept, 100, at("2026-01-05T00:00:00Z")).allowed);
  const Verdict refused = ask(week, kept, 1, at("2026-01-11T23:59:59Z"));
  EXPECT_EQ(refused.retry_after, Duration::seconds(1));
  EXPECT_TRUE(ask(week, kept, 100, at("2026-01-12T00:00:00Z")).allowed);
}

// In Zurich 29 March has 23 hours and 25 October has 25.
TEST(CalendarLimit, ADayIsAsLongAsTheZoneMakesIt) {
  const Calendar day = {.count = 100, .rule = {.unit = CalendarUnit::day, .zone = zurich()}};
  Kept kept;
  EXPECT_TRUE(ask(day, kept, 100, at("2026-03-28T23:00:00Z")).allowed);
  EXPECT_EQ(look(day, kept.state, 1, at("2026-03-28T23:00:00Z")).retry_after, Duration::hours(23));
  EXPECT_FALSE(ask(day, kept, 1, at("2026-03-29T21:59:59Z")).allowed);
  EXPECT_TRUE(ask(day, kept, 100, at("2026-03-29T22:00:00Z")).allowed);
  EXPECT_TRUE(ask(day, kept, 100, at("2026-10-24T22:00:00Z")).allowed);
  EXPECT_EQ(look(day, kept.state, 1, at("2026-10-24T22:00:00Z")).retry_after, Duration::hours(25));
}

TEST(CalendarLimit, AnAnchorMakesMonthsAnniversaries) {
  const Calendar month = {
      .count = 100,
      .rule = {
          .unit = CalendarUnit::month, .zone = zurich(), .anchor = local("2026-01-31T09:00:00")}};
  Kept kept;
  EXPECT_TRUE(ask(month, kept, 100, at("2026-01-31T08:00:00Z")).allowed);
  EXPECT_FALSE(ask(month, kept, 1, at("2026-02-28T07:59:59Z")).allowed);
  EXPECT_TRUE(ask(month, kept, 100, at("2026-02-28T08:00:00Z")).allowed);
  EXPECT_FALSE(ask(month, kept, 1, at("2026-03-31T06:59:59Z")).allowed);
  EXPECT_TRUE(ask(month, kept, 1, at("2026-03-31T07:00:00Z")).allowed);
}

TEST(CalendarLimit, GivesBackNoMoreThanWasUsed) {
  const Calendar day = hundred_a(CalendarUnit::day);
  const Now now = at("2026-01-15T12:00:00Z");
  Kept kept;
  take(day, kept.state, 30, now);
  give_back(day, kept.state, use_of(10, now), now);
  EXPECT_EQ(look(day, kept.state, 0, now).remaining, 80);
  give_back(day, kept.state, use_of(50, now), now);
  EXPECT_EQ(look(day, kept.state, 0, now).remaining, 100);
  EXPECT_EQ(look(day, kept.state, 0, now).full_after, Duration());
}

TEST(CalendarLimit, OnlyWhatWasTakenInThisWindowComesBack) {
  const Calendar day = hundred_a(CalendarUnit::day);
  Kept kept;
  take(day, kept.state, 30, at("2026-01-15T23:59:59Z"));
  const Now next_day = at("2026-01-16T00:00:00Z");
  take(day, kept.state, 20, next_day);
  give_back(day, kept.state, use_of(30, at("2026-01-15T23:59:59Z")), next_day);
  EXPECT_EQ(look(day, kept.state, 0, next_day).remaining, 80);
  give_back(day, kept.state, use_of(15, next_day), next_day);
  EXPECT_EQ(look(day, kept.state, 0, next_day).remaining, 95);
}

TEST(CalendarLimit, WhatIsTakenBeyondTheLimitCountsUntilTheWindowEnds) {
  const Calendar day = hundred_a(CalendarUnit::day);
  const Now now = at("2026-01-15T12:00:00Z");
  Kept kept;
  take(day, kept.state, 250, now);
  EXPECT_EQ(look(day, kept.state, 0, now).remaining, 0);
  give_back(day, kept.state, use_of(149, now), now);
  EXPECT_EQ(look(day, kept.state, 0, now).remaining, 0);
  EXPECT_TRUE(ask(day, kept, 100, at("2026-01-16T00:00:00Z")).allowed);
  kept.state.cell.b = bounds::limit_used_max;
  take(day, kept.state, 1, at("2026-01-16T00:00:00Z"));
  EXPECT_EQ(kept.state.cell.b, bounds::limit_used_max);
}

// Also the case of two machines that share a store, one of which is a little behind.
TEST(CalendarLimit, AStepBackAcrossTheWindowsStartChangesNothing) {
  const Calendar month = hundred_a(CalendarUnit::month);
  Kept kept;
  EXPECT_TRUE(ask(month, kept, 100, at("2026-01-31T23:00:00Z")).allowed);
  for (int turn = 1; turn <= 25; ++turn) {
    EXPECT_EQ(ask(month, kept, 2, at("2026-02-01T00:00:00.100Z")).remaining, 102 - 4 * turn);
    EXPECT_EQ(ask(month, kept, 2, at("2026-01-31T23:59:00Z")).remaining, 100 - 4 * turn);
  }
  const Verdict refused = ask(month, kept, 1, at("2026-01-31T23:59:00Z"));
  EXPECT_EQ(refused.retry_after, Duration::days(28) + Duration::minutes(1));
  EXPECT_FALSE(ask(month, kept, 1, at("2026-02-28T23:59:59Z")).allowed);
  EXPECT_TRUE(ask(month, kept, 100, at("2026-03-01T00:00:00Z")).allowed);
}

TEST(CalendarLimit, AClockThatGoesBackTakesTheCountAlongUntilTheWindowItLandsInEnds) {
  const Calendar month = hundred_a(CalendarUnit::month);
  Kept kept;
  EXPECT_TRUE(ask(month, kept, 100, at("2036-05-15T00:00:00Z")).allowed);
  for (const char* when :
       {"2026-01-15T00:00:00Z", "2026-01-20T00:00:00Z", "2026-01-31T23:59:59Z"}) {
    const Verdict refused = ask(month, kept, 1, at(when));
    EXPECT_FALSE(refused.allowed);
    EXPECT_EQ(at(when).wall + refused.retry_after, at("2026-02-01T00:00:00Z").wall);
  }
  EXPECT_TRUE(ask(month, kept, 100, at("2026-02-01T00:00:00Z")).allowed);
}

TEST(CalendarLimit, GoingBackFurtherThanAStepIsNoStep) {
  const Calendar month = hundred_a(CalendarUnit::month);
  Kept kept;
  EXPECT_TRUE(ask(month, kept, 60, at("2026-02-01T00:00:00Z")).allowed);
  EXPECT_EQ(ask(month, kept, 20, at("2026-01-31T23:58:59.999Z")).remaining, 20);
  EXPECT_EQ(look(month, kept.state, 30, at("2026-01-31T23:58:59Z")).retry_after,
            Duration::seconds(61));
}

TEST(CalendarLimit, EveryVerdictIsTrueToTheUseAndTheNanosecond) {
  for_seeds(250, [](Chance& chance) { walk_and_check(any_calendar(chance), chance, 30); });
}

TEST(CalendarLimit, AgreesWithACountAWindow) {
  for_seeds(400, [](Chance& chance) {
    const Calendar calendar = any_calendar(chance);
    std::map<std::int64_t, std::int64_t> used;  // by the window's start
    Kept kept;
    Now now = start;
    for (int step = 0; step < 60 && !testing::Test::HasFailure(); ++step) {
      now = later(now, any_pause(chance, calendar, now));
      std::int64_t& count = used[window_at(calendar.rule, now.wall).start.ns()];
      const std::int64_t cost = any_cost(chance, calendar.count);
      EXPECT_EQ(ask(calendar, kept, cost, now).allowed, count + cost <= calendar.count);
      if (count + cost <= calendar.count) count += cost;
      EXPECT_EQ(look(calendar, kept.state, 0, now).remaining, calendar.count - count);
    }
  });
}

}  // namespace
}  // namespace pawl::limit
