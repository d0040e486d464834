// Goal: the calendar is right on every day that pawl can meet.
// Method: every day of 400 years, a whole cycle of the Gregorian calendar, against std::chrono;
//         random instants there and back; the edges of the range.
#include "base/calendar.h"

#include <chrono>
#include <gtest/gtest.h>
#include <limits>
#include <rapidcheck/gtest.h>

namespace pawl {

void PrintTo(const CivilDate& date, std::ostream* out) {
  *out << date.year << "-" << date.month << "-" << date.day;
}

namespace {

constexpr std::int64_t ns_max = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t ns_min = std::numeric_limits<std::int64_t>::min();

CivilDate by_chrono(std::int64_t days) {
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{days}}};
  return {.year = static_cast<int>(date.year()),
          .month = static_cast<std::int32_t>(static_cast<unsigned>(date.month())),
          .day = static_cast<std::int32_t>(static_cast<unsigned>(date.day()))};
}

int weekday_by_chrono(std::int64_t days) {
  const std::chrono::weekday day{std::chrono::sys_days{std::chrono::days{days}}};
  return static_cast<int>(day.iso_encoding());
}

Instant midnight(std::int64_t days) {
  return Instant() + Duration::days(days);
}

constexpr std::int64_t day_1800_01_01 = -62'091;

TEST(Calendar, AgreesWithChronoOnEveryDayOf400Years) {
  ASSERT_EQ(civil_from_days(day_1800_01_01), (CivilDate{1800, 1, 1}));
  Instant monday = midnight(day_1800_01_01 - 2);  // it was a Wednesday
  for (std::int64_t days = day_1800_01_01; days < day_1800_01_01 + 146'097; ++days) {
    const CivilDate date = by_chrono(days);
    ASSERT_EQ(civil_from_days(days), date) << days;
    ASSERT_EQ(days_from_civil(date), days);
    ASSERT_TRUE(exists(date));

    const Instant start = midnight(days);
    const Instant end = midnight(days + 1) - Duration::nanoseconds(1);
    if (weekday_by_chrono(days) == 1) monday = start;
    for (const Instant instant : {start, end}) {
      ASSERT_EQ(to_civil(instant).date, date);
      ASSERT_EQ(weekday(instant), weekday_by_chrono(days)) << days;
      ASSERT_EQ(week_start(instant), monday) << days;
    }
  }
  EXPECT_EQ(civil_from_days(day_1800_01_01 + 146'097), (CivilDate{2200, 1, 1}));
}

RC_GTEST_PROP(Calendar, AgreesWithChronoFarAway, ()) {
  // Within the years ±32767 that std::chrono holds.
  const auto days = *rc::gen::inRange<std::int64_t>(-12'600'000, 11'200'000);
  const auto date = by_chrono(days);
  RC_ASSERT(civil_from_days(days) == date);
  RC_ASSERT(days_from_civil(date) == days);
}

TEST(Calendar, KnowsWhichDatesExist) {
  for (int year : {1899, 1900, 1996, 2000, 2023, 2024, 2100}) {
    for (int month = 0; month <= 13; ++month) {
      for (int day = 0; day <= 32; ++day) {
        const bool by_std =
            std::chrono::year_month_day(std::chrono::year(year),
                                        std::chrono::month(static_cast<unsigned>(month)),
                                        std::chrono::day(static_cast<unsigned>(day)))
                .ok();
        ASSERT_EQ(exists({year, month, day}), by_std) << year << "-" << month << "-" << day;
      }
    }
  }
  EXPECT_FALSE(exists({2024, -1, 1}));
  EXPECT_FALSE(exists({2024, 1, -1}));
  EXPECT_DEATH(days_from_civil({2023, 2, 29}), "");
}

RC_GTEST_PROP(Calendar, GivesBackEveryInstant, (std::int64_t ns)) {
  const auto instant = Instant::from_ns(ns);
  RC_ASSERT(from_civil(to_civil(instant)) == instant);
}

TEST(Calendar, GivesBackTheEndsOfTheRange) {
  EXPECT_EQ(to_civil(Instant::from_ns(ns_max)),
            (CivilTime{{2262, 4, 11}, 23, 47, 16, 854'775'807}));
  EXPECT_EQ(to_civil(Instant::from_ns(ns_min)), (CivilTime{{1677, 9, 21}, 0, 12, 43, 145'224'192}));
  EXPECT_EQ(from_civil(to_civil(Instant::from_ns(ns_max))).ns(), ns_max);
  EXPECT_EQ(from_civil(to_civil(Instant::from_ns(ns_min))).ns(), ns_min);
}

TEST(Calendar, SaturatesOutsideTheRange) {
  EXPECT_EQ(from_civil({{2262, 4, 11}, 23, 47, 16, 854'775'808}).ns(), ns_max);
  EXPECT_EQ(from_civil({{9999, 12, 31}, 23, 59, 59, 0}).ns(), ns_max);
  EXPECT_EQ(from_civil({{1677, 9, 21}, 0, 12, 43, 145'224'191}).ns(), ns_min);
  EXPECT_EQ(from_civil({{-2'000'000'000, 1, 1}, 0, 0, 0, 0}).ns(), ns_min);
  EXPECT_EQ(week_start(Instant::from_ns(ns_min)).ns(), ns_min);
}

TEST(Calendar, TakesNoTimeOfDayThatDoesNotExist) {
  EXPECT_DEATH(from_civil({{2024, 1, 1}, 24, 0, 0, 0}), "");
  EXPECT_DEATH(from_civil({{2024, 1, 1}, 0, 60, 0, 0}), "");
  EXPECT_DEATH(from_civil({{2024, 1, 1}, 0, 0, 60, 0}), "");
  EXPECT_DEATH(from_civil({{2024, 1, 1}, 0, 0, 0, 1'000'000'000}), "");
  EXPECT_DEATH(from_civil({{2024, 1, 1}, 0, 0, 0, -1}), "");
}

TEST(Calendar, StartsTheWeekOnMonday) {
  const auto at = [](const char* text) { return parse_instant(text).value(); };
  const Instant monday = at("2026-01-19T00:00:00Z");
  EXPECT_EQ(week_start(at("2026-01-25T23:59:59.999999999Z")), monday);
  EXPECT_EQ(week_start(monday), monday);
  EXPECT_EQ(week_start(monday - Duration::nanoseconds(1)), monday - Duration::days(7));
  EXPECT_EQ(week_start(Instant()), at("1969-12-29T00:00:00Z"));
}

}  // namespace
}  // namespace pawl
