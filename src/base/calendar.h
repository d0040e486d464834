// The UTC calendar: pure arithmetic between an Instant and its year, month, day, time of day and week.
// Proleptic Gregorian, no leap seconds, weeks from Monday.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pawl/time.h"

namespace pawl {

struct CivilDate {
  std::int32_t year;
  std::int32_t month;  // 1 … 12
  std::int32_t day;    // 1 … 31
  bool operator==(const CivilDate&) const = default;
};

struct CivilTime {
  CivilDate date;
  std::int32_t hour;
  std::int32_t minute;
  std::int32_t second;
  std::int32_t nanosecond;
  bool operator==(const CivilTime&) const = default;
};

// Days since 1970-01-01; the date must exist.
std::int64_t days_from_civil(const CivilDate& date);
CivilDate civil_from_days(std::int64_t days);
bool exists(const CivilDate& date);

CivilTime to_civil(Instant instant);
Instant from_civil(const CivilTime& time);

// 1 = Monday … 7 = Sunday.
int weekday(Instant instant);
// Monday 00:00:00 UTC of the instant's week.
Instant week_start(Instant instant);

// "Sun, 06 Nov 1994 08:49:37 GMT": the form HTTP asks for.
std::string http_date(Instant instant);
Result<Instant> parse_http_date(std::string_view text);

}  // namespace pawl
