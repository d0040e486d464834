// Goal: a schedule fires when its five fields say so, once, whatever is done to the clocks.
// Method: known calendars by hand, the changes of Zurich and New York among them; random crons in
//         random zones against a walk through every minute; texts that are almost right.
#include "core/queue/cron.h"

#include <gtest/gtest.h>
#include <limits>
#include <rapidcheck/gtest.h>

namespace pawl::queue {
namespace {

Instant at(const std::string& text) {
  return parse_instant(text).value();
}

Zone zurich() {
  return Zone("Europe/Zurich", Duration::hours(1),
              {{at("2026-03-29T01:00:00Z"), Duration::hours(2)},
               {at("2026-10-25T01:00:00Z"), Duration::hours(1)}});
}

Zone new_york() {
  return Zone("America/New_York", Duration::hours(-5),
              {{at("2026-03-08T07:00:00Z"), Duration::hours(-4)},
               {at("2026-11-01T06:00:00Z"), Duration::hours(-5)}});
}

Cron cron_of(std::string_view text) {
  return parse_cron(text).value();
}

std::string next(std::string_view cron, const std::string& after, const Zone& zone = Zone::utc()) {
  const auto found = next_after(cron_of(cron), zone, at(after));
  return found ? to_string(*found) : "never";
}

// So many, one after the other, without seconds.
std::vector<std::string> firings(std::string_view cron, const Zone& zone, const std::string& after,
                                 int count) {
  std::vector<std::string> found;
  Instant last = at(after);
  for (int i = 0; i < count; ++i) {
    last = next_after(cron_of(cron), zone, last).value();
    found.push_back(to_string(last).substr(5, 11));
  }
  return found;
}

std::string error_of(std::string_view text) {
  const auto parsed = parse_cron(text);
  return parsed ? "" : parsed.error().message;
}

using Texts = std::vector<std::string>;

TEST(Cron, FiresAtTheNextMinuteThatFits) {
  EXPECT_EQ(next("* * * * *", "2026-01-27T12:00:00Z"), "2026-01-27T12:01:00.000Z");
  EXPECT_EQ(next("* * * * *", "2026-01-27T12:00:59.999999999Z"), "2026-01-27T12:01:00.000Z");
  EXPECT_EQ(next("0 0 * * *", "2026-12-31T23:59:59Z"), "2027-01-01T00:00:00.000Z");
  EXPECT_EQ(next("*/15 9-17 * * 1-5", "2026-01-23T17:45:00Z"), "2026-01-26T09:00:00.000Z");
  EXPECT_EQ(next("5,35 8-18/5 * * *", "2026-01-27T08:35:00Z"), "2026-01-27T13:05:00.000Z");
  EXPECT_EQ(next("0 12 1 jan,JUL *", "2026-01-27T00:00:00Z"), "2026-07-01T12:00:00.000Z");
  EXPECT_EQ(next("30 6 * * Sun", "2026-01-27T00:00:00Z"), "2026-02-01T06:30:00.000Z");
  EXPECT_EQ(next("0 0 31 * *", "2026-04-01T00:00:00Z"), "2026-05-31T00:00:00.000Z");
  EXPECT_EQ(next("0 0 1 1 *", "1969-12-31T23:59:59Z"), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(next("0 0 * * 3", "1900-01-01T00:00:00Z"), "1900-01-03T00:00:00.000Z");
}

TEST(Cron, SundayIsZeroAndSeven) {
  EXPECT_EQ(cron_of("0 0 * * 7"), cron_of("0 0 * * 0"));
  EXPECT_EQ(cron_of("0 0 * * 5-7"), cron_of("0 0 * * fri,sat,sun"));
  EXPECT_EQ(cron_of("0 0 * * fri-mon"), cron_of("0 0 * * 0,1,5,6"));
  EXPECT_EQ(cron_of("0 0 * * sat-sun"), cron_of("0 0 * * 6,0"));
  EXPECT_EQ(cron_of("0 0 * * 0-7"), cron_of("0 0 * * 0-6"));
}

TEST(Cron, ADayOfTheMonthOrAWeekdayIsEnoughWhenBothAreNamed) {
  EXPECT_EQ(firings("0 0 13 * 5", Zone::utc(), "2026-03-01T00:00:00Z", 4),
            (Texts{"03-06T00:00", "03-13T00:00", "03-20T00:00", "03-27T00:00"}));
  EXPECT_EQ(firings("0 0 14 * 5", Zone::utc(), "2026-03-10T00:00:00Z", 3),
            (Texts{"03-13T00:00", "03-14T00:00", "03-20T00:00"}));
  // A field that begins with a star names nothing, even with a step: both must fit.
  EXPECT_EQ(firings("0 0 */2 * 5", Zone::utc(), "2026-03-01T00:00:00Z", 3),
            (Texts{"03-13T00:00", "03-27T00:00", "04-03T00:00"}));
}

TEST(Cron, HasNamesForTheUsualOnes) {
  EXPECT_EQ(cron_of("@hourly"), cron_of("0 * * * *"));
  EXPECT_EQ(cron_of("@daily"), cron_of("0 0 * * *"));
  EXPECT_EQ(cron_of("@midnight"), cron_of("@daily"));
  EXPECT_EQ(cron_of("@weekly"), cron_of("0 0 * * 0"));
  EXPECT_EQ(cron_of("@monthly"), cron_of("0 0 1 * *"));
  EXPECT_EQ(cron_of("@yearly"), cron_of("0 0 1 1 *"));
  EXPECT_EQ(cron_of("@annually"), cron_of("@yearly"));
  EXPECT_EQ(cron_of("\t0  0\t1 1 * "), cron_of("@yearly"));
}

TEST(Cron, WaitsForALeapDay) {
  EXPECT_EQ(next("0 0 29 2 *", "2026-01-01T00:00:00Z"), "2028-02-29T00:00:00.000Z");
  EXPECT_EQ(next("0 0 29 2 *", "2096-03-01T00:00:00Z"), "2104-02-29T00:00:00.000Z");
  // On a Thursday, over 2100, which has none: the longest wait of all.
  EXPECT_EQ(next("0 0 29 2 */8", "2032-02-29T00:00:00Z"), "2060-02-29T00:00:00.000Z");
  const auto thursday = next_after(
      {.minutes = 1, .hours = 1, .days = std::uint64_t{1} << 29, .months = 4, .weekdays = 16},
      Zone::utc(), at("2080-03-01T00:00:00Z"));
  EXPECT_EQ(to_string(thursday.value()), "2120-02-29T00:00:00.000Z");
}

TEST(Cron, WhatNeverComesDoesNotParse) {
  EXPECT_EQ(error_of("0 0 30 2 *"), "day of the month: '30' never comes in the months of '2'");
  EXPECT_EQ(error_of("0 0 31 feb,4,jun *"),
            "day of the month: '31' never comes in the months of 'feb,4,jun'");
  EXPECT_EQ(error_of("0 0 30 2 1"), "");  // on Mondays it does
}

TEST(Cron, EndsWhereTimeDoes) {
  EXPECT_EQ(next_after(cron_of("* * * * *"), Zone::utc(), Instant::max()), std::nullopt);
  EXPECT_EQ(next_after(cron_of("@yearly"), zurich(), at("2262-01-01T00:00:00Z")), std::nullopt);
  const auto lowest = Instant::from_ns(std::numeric_limits<std::int64_t>::min());
  EXPECT_GT(next_after(cron_of("0 3 * * *"), new_york(), lowest), lowest);
  EXPECT_GT(next_after(cron_of("@hourly"), zurich(), lowest), lowest);
}

TEST(Cron, FollowsTheClocksOfItsPlace) {
  EXPECT_EQ(firings("0 9 * * *", zurich(), "2026-03-28T00:00:00Z", 3),
            (Texts{"03-28T08:00", "03-29T07:00", "03-30T07:00"}));
  EXPECT_EQ(firings("30 9 * * 1-5", new_york(), "2026-10-30T12:00:00Z", 3),
            (Texts{"10-30T13:30", "11-02T14:30", "11-03T14:30"}));
}

TEST(Cron, ATimeThatIsSkippedFiresAtTheJump) {
  EXPECT_EQ(firings("30 2 * * *", zurich(), "2026-03-28T00:00:00Z", 3),
            (Texts{"03-28T01:30", "03-29T01:00", "03-30T00:30"}));
  EXPECT_EQ(firings("30 2 * * *", new_york(), "2026-03-07T00:00:00Z", 3),
            (Texts{"03-07T07:30", "03-08T07:00", "03-09T06:30"}));
  // Once, however many were skipped, and with the one that the jump leads to.
  EXPECT_EQ(firings("*/20 2,3 * * *", zurich(), "2026-03-29T00:00:00Z", 4),
            (Texts{"03-29T01:00", "03-29T01:20", "03-29T01:40", "03-30T00:00"}));
}

TEST(Cron, ATimeThatComesTwiceFiresOnce) {
  EXPECT_EQ(firings("30 2 * * *", zurich(), "2026-10-24T00:00:00Z", 3),
            (Texts{"10-24T00:30", "10-25T00:30", "10-26T01:30"}));
  EXPECT_EQ(firings("30 1 * * *", new_york(), "2026-10-31T00:00:00Z", 3),
            (Texts{"10-31T05:30", "11-01T05:30", "11-02T06:30"}));
  EXPECT_EQ(firings("*/30 2,3 * * *", zurich(), "2026-10-25T00:00:00Z", 3),
            (Texts{"10-25T00:30", "10-25T02:00", "10-25T02:30"}));
  // Asked in the middle of the second time.
  EXPECT_EQ(next("45 2 * * *", "2026-10-25T01:10:00Z", zurich()), "2026-10-26T01:45:00.000Z");
}

TEST(Cron, OneOfEveryHourGoesByTheHoursThatPass) {
  EXPECT_EQ(firings("30 * * * *", zurich(), "2026-03-29T00:00:00Z", 3),
            (Texts{"03-29T00:30", "03-29T01:30", "03-29T02:30"}));
  EXPECT_EQ(firings("30 * * * *", zurich(), "2026-10-25T00:00:00Z", 4),
            (Texts{"10-25T00:30", "10-25T01:30", "10-25T02:30", "10-25T03:30"}));
  EXPECT_EQ(firings("*/30 * * * *", new_york(), "2026-11-01T05:00:00Z", 4),
            (Texts{"11-01T05:30", "11-01T06:00", "11-01T06:30", "11-01T07:00"}));
}

TEST(Cron, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(error_of("60 * * * *"), "minute: '60' is not one of 0 … 59");
  EXPECT_EQ(error_of("0 24 * * *"), "hour: '24' is not one of 0 … 23");
  EXPECT_EQ(error_of("0 0 0 * *"), "day of the month: '0' is not one of 1 … 31");
  EXPECT_EQ(error_of("0 0 1 13 *"), "month: '13' is not one of 1 … 12 or jan … dec");
  EXPECT_EQ(error_of("0 0 * * 8"), "weekday: '8' is not one of 0 … 7 or sun … sat");
  EXPECT_EQ(error_of("0 0 * * monday"), "weekday: 'monday' is not one of 0 … 7 or sun … sat");
  EXPECT_EQ(error_of("jan * * * *"), "minute: 'jan' is not one of 0 … 59");
  EXPECT_EQ(error_of("1,,2 * * * *"), "minute: '1,,2' has an empty entry");
  EXPECT_EQ(error_of("1, * * * *"), "minute: '1,' has an empty entry");
  EXPECT_EQ(error_of("5-1 * * * *"), "minute: '5-1' ends before it begins");
  EXPECT_EQ(error_of("*/0 * * * *"),
            "minute: '*/0' has no step: a whole number from 1 follows the '/'");
  EXPECT_EQ(error_of("*/ * * * *"),
            "minute: '*/' has no step: a whole number from 1 follows the '/'");
  EXPECT_EQ(error_of("5/15 * * * *"), "minute: '5/15' has a step and no range: write 5-59/15");
  for (const char* text : {"-1 * * * *", "1- * * * *", "+1 * * * *", "1-2-3 * * * *",
                           "*/2/2 * * * *", "*-5 * * * *", "*/-1 * * * *", "1.5 * * * *",
                           "99999999999 * * * *", "*/99999999999 * * * *", "? * * * *"}) {
    EXPECT_TRUE(error_of(text).starts_with("minute: ")) << text;
  }
  const std::string ending =
      " fields: write five (minute, hour, day of the month, month, weekday), or one of @hourly, "
      "@daily, @weekly, @monthly, @yearly";
  EXPECT_EQ(error_of(""), "'' has 0" + ending);
  EXPECT_EQ(error_of("* * * *"), "'* * * *' has 4" + ending);
  EXPECT_EQ(error_of("0 0 * * * *"), "'0 0 * * * *' has 6" + ending);
  EXPECT_EQ(error_of("@reboot"), "'@reboot' has 1" + ending);
}

// The text of a field: a star, a step, a list of numbers and ranges.
std::string any_field(int least, int most) {
  const auto number = [&] { return *rc::gen::inRange(least, most + 1); };
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      return "*";
    case 1:
      return "*/" + std::to_string(*rc::gen::inRange(1, most + 2));
    case 2:
      return std::to_string(number());
    default: {
      const int first = number();
      const int last = *rc::gen::inRange(first, most + 1);
      return std::to_string(number()) + "," + std::to_string(first) + "-" + std::to_string(last);
    }
  }
}

// Changes some hours apart, by up to some hours.
Zone any_zone() {
  const auto quarters = [](int least, int most) {
    return Duration::minutes(15) * *rc::gen::inRange(least, most + 1);
  };
  std::vector<ZoneChange> changes;
  Instant last = at("2026-02-26T00:00:00Z");
  const int count = *rc::gen::inRange(0, 4);
  for (int i = 0; i < count; ++i) {
    last = last + quarters(1, 200);
    changes.push_back({last, quarters(-20, 20)});
  }
  return Zone("any", quarters(-20, 20), std::move(changes));
}

bool fits(const Cron& cron, Instant local) {
  const auto has = [](std::uint64_t bits, int value) { return (bits >> value & 1) != 0; };
  const CivilTime shown = to_civil(local);
  const bool date = has(cron.days, shown.date.day);
  const bool weekday = has(cron.weekdays, pawl::weekday(local) % 7);
  return has(cron.minutes, shown.minute) && has(cron.hours, shown.hour) &&
         has(cron.months, shown.date.month) &&
         (cron.either_day ? date || weekday : date && weekday);
}

// Minute by minute: a time fires when the clocks first show it or a later one; for a cron of every
// hour, whenever they show it.
std::optional<Instant> found_by_walking(const Cron& cron, const Zone& zone, Instant after,
                                        Instant until) {
  const bool every_hour = cron.hours == 0xFF'FFFF;
  const Instant start = at("2026-02-20T00:00:00Z");
  Instant seen = from_civil(zone.to_local(start));
  for (Instant now = start + Duration::minutes(1); now <= until; now = now + Duration::minutes(1)) {
    const Instant shown = from_civil(zone.to_local(now));
    bool fires = every_hour && fits(cron, shown);
    for (; seen < shown; seen = seen + Duration::minutes(1)) {
      fires = fires || (!every_hour && fits(cron, seen + Duration::minutes(1)));
    }
    if (fires && now > after) return now;
  }
  return {};
}

RC_GTEST_PROP(Cron, FiresWhenAWalkThroughEveryMinuteFindsIt, ()) {
  const std::string text = any_field(0, 59) + " " + any_field(0, 23) + " " + any_field(1, 31) +
                           " " + any_field(1, 12) + " " + any_field(0, 7);
  const auto cron = parse_cron(text);
  RC_PRE(cron.has_value());
  const Zone zone = any_zone();
  const Instant after = at("2026-02-26T00:00:00Z") +
                        Duration::seconds(*rc::gen::inRange<std::int64_t>(0, 6 * 86'400));
  const Instant until = at("2026-03-10T00:00:00Z");
  const auto found = next_after(*cron, zone, after);
  const auto walked = found_by_walking(*cron, zone, after, until);
  RC_LOG() << text << " after " << to_string(after);
  if (walked) {
    RC_ASSERT(found == walked);
  } else {
    RC_ASSERT((!found || *found > until));
  }
}

}  // namespace
}  // namespace pawl::queue
