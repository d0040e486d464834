#include "base/calendar.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/assert.h"

namespace pawl {
namespace {

constexpr std::int64_t ns_a_second = 1'000'000'000;
constexpr std::int64_t seconds_a_day = 86'400;
constexpr std::int64_t ns_a_day = seconds_a_day * ns_a_second;

constexpr std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}
constexpr std::int64_t floor_remainder(std::int64_t a, std::int64_t b) {
  return a % b + (a % b < 0 ? b : 0);
}

bool is_leap(std::int64_t year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

// Inside, a year begins on 1 March: then a leap day is the year's last, and the months before it
// keep their places.
constexpr std::array<int, 12> days_before_month = {0,   31,  61,  92,  122, 153,
                                                   184, 214, 245, 275, 306, 337};

constexpr std::int64_t days_before_year(std::int64_t year) {
  return 365 * year + floor_divide(year, 4) - floor_divide(year, 100) + floor_divide(year, 400);
}

constexpr std::int64_t days_a_year = 365;
constexpr std::int64_t days_4_years = 4 * days_a_year + 1;
constexpr std::int64_t days_100_years = 25 * days_4_years - 1;
constexpr std::int64_t days_400_years = 4 * days_100_years + 1;
// From 1 March of the year 0 to 1 January 1970.
constexpr std::int64_t epoch = days_before_year(1969) + days_before_month[10];

bool exists_time(const CivilTime& time) {
  return time.hour >= 0 && time.hour < 24 && time.minute >= 0 && time.minute < 60 &&
         time.second >= 0 && time.second < 60 && time.nanosecond >= 0 &&
         time.nanosecond < ns_a_second;
}

std::int64_t seconds_since_epoch(const CivilTime& time) {
  return days_from_civil(time.date) * seconds_a_day + time.hour * 3600 + time.minute * 60 +
         time.second;
}

Instant saturated(std::int64_t seconds, std::int64_t nanoseconds) {
  const __int128 ns = static_cast<__int128>(seconds) * ns_a_second + nanoseconds;
  constexpr auto lowest = std::numeric_limits<std::int64_t>::min();
  constexpr auto highest = std::numeric_limits<std::int64_t>::max();
  if (ns < lowest) return Instant::from_ns(lowest);
  if (ns > highest) return Instant::from_ns(highest);
  return Instant::from_ns(static_cast<std::int64_t>(ns));
}

std::int64_t day_of(Instant instant) {
  return floor_divide(instant.ns(), ns_a_day);
}

}  // namespace

bool exists(const CivilDate& date) {
  constexpr std::array<int, 12> days = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (date.month < 1 || date.month > 12 || date.day < 1) return false;
  const bool leap_month = date.month == 2 && is_leap(date.year);
  return date.day <= days[static_cast<std::size_t>(date.month - 1)] + (leap_month ? 1 : 0);
}

std::int64_t days_from_civil(const CivilDate& date) {
  PAWL_ASSERT(exists(date));
  const bool before_march = date.month <= 2;
  const auto month = static_cast<std::size_t>(before_march ? date.month + 9 : date.month - 3);
  const std::int64_t year = std::int64_t{date.year} - (before_march ? 1 : 0);
  return days_before_year(year) + days_before_month[month] + date.day - 1 - epoch;
}

CivilDate civil_from_days(std::int64_t days) {
  constexpr std::int64_t days_max = std::int64_t{1} << 39;  // about ±1.5 × 10⁹ years: fits the year
  PAWL_ASSERT(days >= -days_max && days <= days_max);
  const std::int64_t since_year_0 = days + epoch;
  const std::int64_t cycle = floor_divide(since_year_0, days_400_years);
  std::int64_t left = floor_remainder(since_year_0, days_400_years);
  // The leap day at the end of a cycle belongs to its last century and year, not to a fifth one.
  const std::int64_t century = std::min<std::int64_t>(left / days_100_years, 3);
  left -= century * days_100_years;
  const std::int64_t four = left / days_4_years;
  left -= four * days_4_years;
  const std::int64_t one = std::min<std::int64_t>(left / days_a_year, 3);
  left -= one * days_a_year;

  std::size_t month = days_before_month.size() - 1;
  while (days_before_month[month] > left) --month;
  const bool before_march = month >= 10;
  const std::int64_t year = 400 * cycle + 100 * century + 4 * four + one + (before_march ? 1 : 0);
  return {.year = static_cast<std::int32_t>(year),
          .month = static_cast<std::int32_t>(before_march ? month - 9 : month + 3),
          .day = static_cast<std::int32_t>(left - days_before_month[month] + 1)};
}

CivilTime to_civil(Instant instant) {
  const std::int64_t day = day_of(instant);
  const std::int64_t ns = floor_remainder(instant.ns(), ns_a_day);
  const auto second = static_cast<std::int32_t>(ns / ns_a_second);
  return {.date = civil_from_days(day),
          .hour = second / 3600,
          .minute = second / 60 % 60,
          .second = second % 60,
          .nanosecond = static_cast<std::int32_t>(ns % ns_a_second)};
}

Instant from_civil(const CivilTime& time) {
  PAWL_ASSERT(exists_time(time));
  return saturated(seconds_since_epoch(time), time.nanosecond);
}

int weekday(Instant instant) {
  // Day 0, 1 January 1970, was a Thursday.
  return static_cast<int>(floor_remainder(day_of(instant) + 3, 7)) + 1;
}

Instant week_start(Instant instant) {
  return saturated((day_of(instant) - weekday(instant) + 1) * seconds_a_day, 0);
}

}  // namespace pawl
