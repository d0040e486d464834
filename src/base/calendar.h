// The UTC calendar: pure arithmetic between an Instant and its year, month, day, time of day and
// week. Proleptic Gregorian, no leap seconds, weeks from Monday. A date or time of day that does
// not exist must not be handed in; what parses a text refuses it first.
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
// The nearest end of the range for a time that no Instant holds.
Instant from_civil(const CivilTime& time);

// 1 = Monday … 7 = Sunday.
int weekday(Instant instant);
// Monday 00:00:00 UTC of the instant's week.
Instant week_start(Instant instant);

// "Sun, 06 Nov 1994 08:49:37 GMT": the form HTTP asks for.
std::string http_date(Instant instant);
// That form, and the two old ones RFC 9110 still asks a recipient to read ("Sunday, 06-Nov-94
// 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"). A two-digit year means one of 1970 … 2069.
Result<Instant> parse_http_date(std::string_view text);

}  // namespace pawl
