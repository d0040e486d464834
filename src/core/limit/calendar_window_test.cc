// Goal: a calendar window is what a person with a calendar and a clock on the wall would say, and
//       windows tile time whatever the clocks do.
// Method: pinned windows of real places; every window from 1970 to 2100 counted; random rules in
//         random zones, however wild, walked in both directions.
#include "core/limit/calendar_window.h"

#include <chrono>
#include <gtest/gtest.h>
#include <limits>
#include <rapidcheck/gtest.h>
#include <string>
#include <vector>

namespace pawl::limit {

void PrintTo(const Window& window, std::ostream* out) {
  *out << to_string(window.start) << " to " << to_string(window.end);
}

namespace {

constexpr Duration moment = Duration::nanoseconds(1);
constexpr Instant lowest = Instant::from_ns(std::numeric_limits<std::int64_t>::min());

Instant at(const std::string& text) {
  return parse_instant(text).value();
}

CivilTime local(const std::string& text) {
  return to_civil(at(text + "Z"));
}

Window window(const std::string& start, const std::string& end) {
  return {at(start), at(end)};
}

// Both ends belong where they should.
void expect_window(const CalendarRule& rule, const std::string& start, const std::string& end) {
  const Window expected = window(start, end);
  EXPECT_EQ(window_at(rule, expected.start), expected);
  EXPECT_EQ(window_at(rule, expected.end - moment), expected);
  EXPECT_NE(window_at(rule, expected.start - moment), expected);
  EXPECT_NE(window_at(rule, expected.end), expected);
}

Instant last_sunday(int year, int month, int hour) {
  const Instant last_day = from_civil({{year, month, 31}, hour, 0, 0, 0});
  return last_day - Duration::days(weekday(last_day) % 7);
}

// Central European Time by the rule of today, as if it had always held.
Zone zurich() {
  std::vector<ZoneChange> changes;
  for (int year = 1970; year <= 2100; ++year) {
    changes.push_back({last_sunday(year, 3, 1), Duration::hours(2)});
    changes.push_back({last_sunday(year, 10, 1), Duration::hours(1)});
  }
  return Zone("Europe/Zurich", Duration::hours(1), changes);
}

Zone kolkata() {
  return Zone("Asia/Kolkata", Duration::minutes(330));
}

// Clocks were put back at one minute past midnight: the sixth ended, and came back for 59 minutes.
Zone st_johns() {
  return Zone("America/St_Johns", Duration::minutes(-150),
              {{at("2010-11-07T02:31:00Z"), Duration::minutes(-210)}});
}

Zone apia() {
  return Zone("Pacific/Apia", Duration::hours(-10),
              {{at("2011-12-30T10:00:00Z"), Duration::hours(14)}});
}

Zone lord_howe() {
  return Zone("Australia/Lord_Howe", Duration::hours(11),
              {{at("2025-04-05T15:00:00Z"), Duration::minutes(630)},
               {at("2025-10-04T15:30:00Z"), Duration::hours(11)}});
}

CalendarRule utc(CalendarUnit unit) {
  return {.unit = unit, .zone = Zone::utc()};
}

CalendarRule monthly_from(const std::string& anchor) {
  return {.unit = CalendarUnit::month, .zone = Zone::utc(), .anchor = local(anchor)};
}

TEST(CalendarWindow, IsTheCalendarsOwnInUtc) {
  const Instant now = at("2026-05-13T10:20:30.5Z");  // a Wednesday
  EXPECT_EQ(window_at(utc(CalendarUnit::minute), now),
            window("2026-05-13T10:20:00Z", "2026-05-13T10:21:00Z"));
  EXPECT_EQ(window_at(utc(CalendarUnit::hour), now),
            window("2026-05-13T10:00:00Z", "2026-05-13T11:00:00Z"));
  EXPECT_EQ(window_at(utc(CalendarUnit::day), now),
            window("2026-05-13T00:00:00Z", "2026-05-14T00:00:00Z"));
  EXPECT_EQ(window_at(utc(CalendarUnit::week), now),
            window("2026-05-11T00:00:00Z", "2026-05-18T00:00:00Z"));
  EXPECT_EQ(window_at(utc(CalendarUnit::month), now),
            window("2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z"));
  EXPECT_EQ(window_at(utc(CalendarUnit::year), now),
            window("2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"));
}

TEST(CalendarWindow, IsAMonthInUtcUnlessToldOtherwise) {
  EXPECT_EQ(window_at({}, at("2024-02-29T12:00:00Z")),
            window("2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z"));
}

TEST(CalendarWindow, OfAWeekRunsFromMondayAcrossNewYear) {
  expect_window(utc(CalendarUnit::week), "2020-12-28T00:00:00Z", "2021-01-04T00:00:00Z");
  expect_window(utc(CalendarUnit::week), "1969-12-29T00:00:00Z", "1970-01-05T00:00:00Z");
}

TEST(CalendarWindow, IsThatOfTheZone) {
  const Zone zone = zurich();
  expect_window({.unit = CalendarUnit::day, .zone = zone}, "2026-01-14T23:00:00Z",
                "2026-01-15T23:00:00Z");
  expect_window({.unit = CalendarUnit::month, .zone = zone}, "2026-02-28T23:00:00Z",
                "2026-03-31T22:00:00Z");
  expect_window({.unit = CalendarUnit::year, .zone = zone}, "2025-12-31T23:00:00Z",
                "2026-12-31T23:00:00Z");
  expect_window({.unit = CalendarUnit::hour, .zone = kolkata()}, "2026-01-15T06:30:00Z",
                "2026-01-15T07:30:00Z");
  expect_window({.unit = CalendarUnit::day, .zone = kolkata()}, "2026-01-14T18:30:00Z",
                "2026-01-15T18:30:00Z");
}

TEST(CalendarWindow, OfADayIsShorterOrLongerWhenClocksChange) {
  const CalendarRule rule = {.unit = CalendarUnit::day, .zone = zurich()};
  expect_window(rule, "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z");  // 23 hours
  expect_window(rule, "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z");  // 25 hours
  expect_window({.unit = CalendarUnit::week, .zone = zurich()}, "2026-03-22T23:00:00Z",
                "2026-03-29T22:00:00Z");
}

TEST(CalendarWindow, OfASkippedDayDoesNotExist) {
  const CalendarRule rule = {.unit = CalendarUnit::day, .zone = apia()};
  expect_window(rule, "2011-12-29T10:00:00Z", "2011-12-30T10:00:00Z");  // the 29th
  expect_window(rule, "2011-12-30T10:00:00Z", "2011-12-31T10:00:00Z");  // the 31st
}

TEST(CalendarWindow, ThatHasEndedDoesNotComeBackWithTheClocks) {
  const CalendarRule rule = {.unit = CalendarUnit::day, .zone = st_johns()};
  expect_window(rule, "2010-11-06T02:30:00Z", "2010-11-07T02:30:00Z");
  expect_window(rule, "2010-11-07T02:30:00Z", "2010-11-08T03:30:00Z");
  EXPECT_EQ(rule.zone.to_local(at("2010-11-07T03:00:00Z")), local("2010-11-06T23:30:00"));
  EXPECT_EQ(window_at(rule, at("2010-11-07T03:00:00Z")),
            window("2010-11-07T02:30:00Z", "2010-11-08T03:30:00Z"));
}

TEST(CalendarWindow, OfAnHourKeepsItsLengthWhenTheHourComesTwice) {
  const CalendarRule rule = {.unit = CalendarUnit::hour, .zone = zurich()};
  expect_window(rule, "2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z");
  expect_window(rule, "2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z");
  expect_window({.unit = CalendarUnit::minute, .zone = zurich()}, "2026-10-25T00:59:00Z",
                "2026-10-25T01:00:00Z");
}

TEST(CalendarWindow, OfAnHourEndsWhenClocksChangeInItsMiddle) {
  const CalendarRule rule = {.unit = CalendarUnit::hour, .zone = lord_howe()};
  expect_window(rule, "2025-04-05T14:00:00Z", "2025-04-05T15:00:00Z");
  expect_window(rule, "2025-04-05T15:00:00Z", "2025-04-05T15:30:00Z");  // from half past one
  expect_window(rule, "2025-04-05T15:30:00Z", "2025-04-05T16:30:00Z");
  expect_window(rule, "2025-10-04T15:30:00Z", "2025-10-04T16:00:00Z");  // from half past two
}

TEST(CalendarWindow, OfAMonthBeginsOnTheLastDayWhenTheAnchorsDayIsMissing) {
  const CalendarRule rule = monthly_from("2026-01-31T00:00:00");
  expect_window(rule, "2026-01-31T00:00:00Z", "2026-02-28T00:00:00Z");
  expect_window(rule, "2026-02-28T00:00:00Z", "2026-03-31T00:00:00Z");
  expect_window(rule, "2026-03-31T00:00:00Z", "2026-04-30T00:00:00Z");
  expect_window(rule, "2026-04-30T00:00:00Z", "2026-05-31T00:00:00Z");
  expect_window(rule, "2028-01-31T00:00:00Z", "2028-02-29T00:00:00Z");
  expect_window(rule, "2025-12-31T00:00:00Z", "2026-01-31T00:00:00Z");  // before the anchor
  expect_window(rule, "2024-11-30T00:00:00Z", "2024-12-31T00:00:00Z");
}

TEST(CalendarWindow, FollowsTheAnchorsTimeOfDay) {
  expect_window(monthly_from("2026-01-15T09:30:00"), "2026-06-15T09:30:00Z",
                "2026-07-15T09:30:00Z");
  CalendarRule rule = {
      .unit = CalendarUnit::day, .zone = zurich(), .anchor = local("2001-01-01T02:30:00")};
  expect_window(rule, "2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z");  // half past two is skipped
  expect_window(rule, "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z");
  expect_window(rule, "2026-10-24T00:30:00Z", "2026-10-25T00:30:00Z");  // and comes twice
  expect_window(rule, "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z");
  rule.unit = CalendarUnit::hour;
  expect_window(rule, "2026-01-01T10:30:00Z", "2026-01-01T11:30:00Z");
  rule.anchor = local("2001-01-01T02:30:15.5");
  rule.unit = CalendarUnit::minute;
  expect_window(rule, "2026-01-01T10:30:15.5Z", "2026-01-01T10:31:15.5Z");
}

TEST(CalendarWindow, FollowsTheAnchorsDate) {
  CalendarRule rule = monthly_from("2024-02-29T00:00:00");  // a Thursday
  rule.unit = CalendarUnit::week;
  expect_window(rule, "2026-05-07T00:00:00Z", "2026-05-14T00:00:00Z");
  expect_window(rule, "2020-12-31T00:00:00Z", "2021-01-07T00:00:00Z");
  rule.unit = CalendarUnit::year;
  expect_window(rule, "2024-02-29T00:00:00Z", "2025-02-28T00:00:00Z");
  expect_window(rule, "2027-02-28T00:00:00Z", "2028-02-29T00:00:00Z");
  expect_window(rule, "2019-02-28T00:00:00Z", "2020-02-29T00:00:00Z");
}

// An anchor far away is as good as a near one.
TEST(CalendarWindow, TakesAnAnchorOfAnyYear) {
  for (const int year : {1, 1677, 1969, 2262, 9999}) {
    CalendarRule rule = monthly_from("2026-01-31T06:00:00");
    rule.anchor.date.year = year;
    expect_window(rule, "2026-04-30T06:00:00Z", "2026-05-31T06:00:00Z");
  }
}

int windows_until_2101(const CalendarRule& rule) {
  const Instant start = rule.zone.to_instant({{1970, 1, 1}, 0, 0, 0, 0});
  const Instant end = rule.zone.to_instant({{2101, 1, 1}, 0, 0, 0, 0});
  int count = 0;
  for (Window w = window_at(rule, start); w.start < end; w = window_at(rule, w.end)) {
    ++count;
    const CivilTime shown = rule.zone.to_local(w.start);
    EXPECT_EQ(from_civil(shown).ns() % Duration::days(1).ns(), 0) << to_string(w.start);
    const bool fits = rule.unit == CalendarUnit::day ||
                      (rule.unit == CalendarUnit::week && weekday(from_civil(shown)) == 1) ||
                      (rule.unit == CalendarUnit::month && shown.date.day == 1) ||
                      (rule.unit == CalendarUnit::year && shown.date.month + shown.date.day == 2);
    EXPECT_TRUE(fits) << to_string(rule.unit) << " from " << to_string(w.start);
  }
  return count;
}

TEST(CalendarWindow, IsThereForEveryDateFrom1970To2100) {
  for (const Zone& zone : {Zone::utc(), zurich(), kolkata()}) {
    EXPECT_EQ(windows_until_2101({.unit = CalendarUnit::day, .zone = zone}), 47'847);
    EXPECT_EQ(windows_until_2101({.unit = CalendarUnit::week, .zone = zone}), 6'836);
    EXPECT_EQ(windows_until_2101({.unit = CalendarUnit::month, .zone = zone}), 131 * 12);
    EXPECT_EQ(windows_until_2101({.unit = CalendarUnit::year, .zone = zone}), 131);
  }
}

TEST(CalendarWindow, IsThereForEveryInstant) {
  for (const CalendarUnit unit : {CalendarUnit::minute, CalendarUnit::week, CalendarUnit::year}) {
    const CalendarRule rule = {.unit = unit, .zone = kolkata()};
    const Window last = window_at(rule, Instant::max());
    EXPECT_EQ(last.end, Instant::max());
    EXPECT_EQ(window_at(rule, last.start), last);
    EXPECT_EQ(window_at(rule, last.start - moment).end, last.start);
    const Window first = window_at(rule, lowest);
    EXPECT_EQ(first.start, lowest);
    EXPECT_EQ(window_at(rule, first.end - moment), first);
    EXPECT_EQ(window_at(rule, first.end).start, first.end);
  }
}

TEST(CalendarWindow, NamesItsUnits) {
  EXPECT_EQ(to_string(CalendarUnit::minute), "minute");
  EXPECT_EQ(to_string(CalendarUnit::hour), "hour");
  EXPECT_EQ(to_string(CalendarUnit::day), "day");
  EXPECT_EQ(to_string(CalendarUnit::week), "week");
  EXPECT_EQ(to_string(CalendarUnit::month), "month");
  EXPECT_EQ(to_string(CalendarUnit::year), "year");
  for (int i = 0; i < 6; ++i) {
    const auto unit = static_cast<CalendarUnit>(i);
    EXPECT_EQ(calendar_unit(to_string(unit)), unit);
  }
  for (const std::string_view name : {"", "Day", "days", "eon"}) {
    EXPECT_EQ(calendar_unit(name), std::nullopt) << name;
  }
}

RC_GTEST_PROP(CalendarWindow, AgreesWithChronoInUtc, ()) {
  const Instant now =
      Instant() + Duration::seconds(*rc::gen::inRange<std::int64_t>(-8'000'000'000, 8'000'000'000));
  const std::chrono::sys_seconds time{std::chrono::seconds(now.ns() / 1'000'000'000)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::sys_days first = date.year() / date.month() / 1;
  const std::chrono::sys_days next = (date.year() / date.month() + std::chrono::months(1)) / 1;
  const auto midnight = [](std::chrono::sys_days d) {
    return Instant() + Duration::days(d.time_since_epoch().count());
  };
  RC_ASSERT(window_at(utc(CalendarUnit::month), now) == (Window{midnight(first), midnight(next)}));
  RC_ASSERT(window_at(utc(CalendarUnit::week), now).start == week_start(now));
}

CivilTime any_anchor() {
  const std::int64_t seconds = *rc::gen::inRange<std::int64_t>(-8'000'000'000, 8'000'000'000);
  return to_civil(Instant() + Duration::seconds(seconds));
}

// Clocks that change every few hours or days, by anything up to a day.
Zone any_zone(Instant around) {
  const auto offset = [] { return Duration::seconds(*rc::gen::inRange(-86'399, 86'400)); };
  std::vector<ZoneChange> changes;
  Instant last = around - Duration::days(10);
  for (int i = *rc::gen::inRange(0, 20); i > 0; --i) {
    last = last + Duration::seconds(*rc::gen::inRange(1, 200'000));
    changes.push_back({last, offset()});
  }
  return Zone("any", offset(), changes);
}

RC_GTEST_PROP(CalendarWindow, TilesTime, ()) {
  const Instant now =
      Instant() + Duration::seconds(*rc::gen::inRange<std::int64_t>(-8'000'000'000, 8'000'000'000));
  const CalendarRule rule = {.unit = static_cast<CalendarUnit>(*rc::gen::inRange(0, 6)),
                             .zone = any_zone(now),
                             .anchor = any_anchor()};
  const Window found = window_at(rule, now);
  RC_ASSERT(found.start <= now);
  RC_ASSERT(now < found.end);
  RC_ASSERT(window_at(rule, found.start) == found);
  RC_ASSERT(window_at(rule, found.end - moment) == found);

  // Every change of the clocks nearby is an instant at which a tile might be missing.
  Window walked = found;
  for (int i = 0; i < 20; ++i) {
    const Window next = window_at(rule, walked.end);
    RC_ASSERT(next.start == walked.end);
    RC_ASSERT(next.start < next.end);
    RC_ASSERT(window_at(rule, next.start - moment) == walked);
    const Instant change = rule.zone.span_at(walked.start).until;
    if (change < walked.end) {
      RC_ASSERT(window_at(rule, change) == walked);
      RC_ASSERT(window_at(rule, change - moment) == walked);
    }
    walked = next;
  }
}

}  // namespace
}  // namespace pawl::limit
