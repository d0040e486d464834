#include "core/limit/calendar_window.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

namespace pawl::limit {
namespace {

// Twelve years less than Instant holds, so that no step from within leaves it.
constexpr Duration reach = Duration::days(365 * 280);
constexpr Instant earliest = Instant() - reach;
constexpr Instant latest = Instant() + reach;

// In the order of CalendarUnit.
constexpr std::array<std::string_view, 6> units = {"minute", "hour",  "day",
                                                   "week",   "month", "year"};

Window window_of_clock(const CalendarRule& rule, Duration length, Instant now) {
  const CivilTime& anchor = rule.anchor;
  const Duration phase = Duration::minutes(anchor.minute) + Duration::seconds(anchor.second) +
                         Duration::nanoseconds(anchor.nanosecond);
  const ZoneSpan span = rule.zone.span_at(now);
  const Instant shown = now + span.utc_offset - phase;
  std::int64_t passed = shown.ns() % length.ns();
  if (passed < 0) passed += length.ns();
  const Instant start = now - Duration::nanoseconds(passed);
  return {.start = std::max(start, span.from), .end = std::min(start + length, span.until)};
}

std::int64_t month_number(const CivilDate& date) {
  return std::int64_t{date.year} * 12 + date.month - 1;
}

CivilDate months_later(const CivilDate& date, std::int64_t months) {
  const std::int64_t number = month_number(date) + months;
  CivilDate later = {.year = static_cast<std::int32_t>(number / 12),
                     .month = static_cast<std::int32_t>(number % 12) + 1,
                     .day = date.day};
  while (!exists(later)) --later.day;
  return later;
}

// From one start to the next: days or months, never both.
struct Step {
  std::int64_t days = 0;
  std::int64_t months = 0;
};

// The start of the n-th window, counted from the one that begins at the anchor.
Instant start_of(const CalendarRule& rule, Step step, std::int64_t n) {
  CivilTime local = rule.anchor;
  local.date = step.months > 0 ? months_later(local.date, n * step.months)
                               : civil_from_days(days_from_civil(local.date) + n * step.days);
  return rule.zone.to_instant(local);
}

// The number of the window in which the date lies, or the next one's.
std::int64_t number_near(const CivilDate& anchor, Step step, const CivilDate& date) {
  return step.months > 0 ? (month_number(date) - month_number(anchor)) / step.months
                         : (days_from_civil(date) - days_from_civil(anchor)) / step.days;
}

// A later start never means an earlier instant, so the window is found by walking. One whose start
// and end fall together (a skipped day) is passed by.
Window window_of_dates(const CalendarRule& rule, Step step, Instant now) {
  std::int64_t n = number_near(rule.anchor.date, step, rule.zone.to_local(now).date);
  Window window = {.start = start_of(rule, step, n), .end = start_of(rule, step, n + 1)};
  while (window.start > now) window = {.start = start_of(rule, step, --n), .end = window.start};
  while (window.end <= now) window = {.start = window.end, .end = start_of(rule, step, ++n + 1)};
  return window;
}

Window window_within_reach(const CalendarRule& rule, Instant now) {
  switch (rule.unit) {
    case CalendarUnit::minute:
      return window_of_clock(rule, Duration::minutes(1), now);
    case CalendarUnit::hour:
      return window_of_clock(rule, Duration::hours(1), now);
    case CalendarUnit::day:
      return window_of_dates(rule, {.days = 1}, now);
    case CalendarUnit::week:
      return window_of_dates(rule, {.days = 7}, now);
    case CalendarUnit::month:
      return window_of_dates(rule, {.months = 1}, now);
    case CalendarUnit::year:
      return window_of_dates(rule, {.months = 12}, now);
  }
  __builtin_unreachable();
}

}  // namespace

std::string_view to_string(CalendarUnit unit) {
  return units[static_cast<std::size_t>(unit)];
}

std::optional<CalendarUnit> calendar_unit(std::string_view name) {
  const auto* const found = std::ranges::find(units, name);
  if (found == units.end()) return std::nullopt;
  return static_cast<CalendarUnit>(found - units.begin());
}

Window window_at(const CalendarRule& rule, Instant now) {
  if (now >= latest) return {.start = latest, .end = Instant::max()};
  if (now < earliest) {
    return {.start = Instant::from_ns(std::numeric_limits<std::int64_t>::min()), .end = earliest};
  }
  const Window window = window_within_reach(rule, now);
  return {.start = std::max(window.start, earliest), .end = std::min(window.end, latest)};
}

}  // namespace pawl::limit
