// Calendar windows: the minute, hour, day, week, month or year an instant lies in, as the clocks of
// a zone show it.
//
// Why:      a quota is sold by the day of a place and by the month of a bill, not by 86 400 s.
// Anchor:   a local date and time at which some window begins; all others follow from it, before
//           and after. The default begins years on 1 January, months on the first, weeks on Monday
//           and days at midnight. A bill's date makes them anniversaries: months begin on its day
//           and at its time of day, weeks on its weekday. Where a month has no such day, its window
//           begins on the last day it has: after 31 January come 28 February and 31 March.
// Contract: windows tile time: each ends where the next begins, and none is empty. From the day up
//           they begin where Zone::to_instant() puts their local start, so that a day has 23 or 25
//           hours when clocks change, and a day the calendar skips has no window. Minutes and hours
//           keep their length instead, since the hour that comes twice is two hours; a change of
//           offset in the middle of one ends it.
//           Pure: no allocation, no clock. It reads the wall clock's time, so whoever keeps a count
//           must bear that `now` goes back.
// Bounds:   about 280 years around 1970 have their windows; what lies beyond is one window a side.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/calendar.h"
#include "base/zone.h"
#include "pawl/time.h"

namespace pawl::limit {

enum class CalendarUnit : std::uint8_t { minute, hour, day, week, month, year };
std::string_view to_string(CalendarUnit unit);
std::optional<CalendarUnit> calendar_unit(std::string_view name);

struct CalendarRule {
  CalendarUnit unit = CalendarUnit::month;
  Zone zone = Zone::utc();
  // Must exist. The default is a Monday, the first of a month and of a year, at midnight.
  CivilTime anchor = {.date = {2001, 1, 1}, .hour = 0, .minute = 0, .second = 0, .nanosecond = 0};

  bool operator==(const CalendarRule&) const = default;
};

struct Window {
  Instant start;
  Instant end;  // the first instant that no longer belongs to it
  bool operator==(const Window&) const = default;
};

// start <= now < end. (Instant::max(), which means never, is in the last window.)
Window window_at(const CalendarRule& rule, Instant now);

}  // namespace pawl::limit
