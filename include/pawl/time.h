// Time as values: a length (Duration), a moment of the world's clock (Instant), and a moment of
// this machine's steady clock (SteadyInstant). The last two are different types, so a wall-clock
// step can never leak into a measured wait.
//
// Contract: integer nanoseconds that saturate, see duration.h.
// Purity:   nothing here reads a clock. Time comes in as an argument.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "pawl/duration.h"
#include "pawl/result.h"

namespace pawl {

// A point on one timeline. Points of different timelines cannot be mixed.
template <class Timeline>
class TimePoint {
 public:
  constexpr TimePoint() = default;
  static constexpr TimePoint from_ns(std::int64_t ns) { return TimePoint(ns); }
  static constexpr TimePoint max() { return TimePoint(std::numeric_limits<std::int64_t>::max()); }

  constexpr std::int64_t ns() const { return ns_; }
  constexpr auto operator<=>(const TimePoint&) const = default;

  friend constexpr TimePoint operator+(TimePoint t, Duration d) {
    return TimePoint(time_detail::add(t.ns_, d.ns()));
  }
  friend constexpr TimePoint operator-(TimePoint t, Duration d) { return t + -d; }
  friend constexpr Duration operator-(TimePoint a, TimePoint b) {
    return Duration::nanoseconds(time_detail::add(a.ns_, time_detail::negate(b.ns_)));
  }

 private:
  explicit constexpr TimePoint(std::int64_t ns) : ns_(ns) {}
  std::int64_t ns_ = 0;
};

struct WallTimeline;
struct SteadyTimeline;
using Instant = TimePoint<WallTimeline>;          // nanoseconds since 1970-01-01T00:00:00Z
using SteadyInstant = TimePoint<SteadyTimeline>;  // nanoseconds since some start, never going back

// "500ms", "60s", "15m", "24h", "7d" ("us" and "ns" too, so that every Duration can be printed and
// read back). No sign, no fraction, no blank.
Result<Duration> parse_duration(std::string_view text);
// The largest unit that keeps it exact: 90s, not 1.5m; "0s" for nothing.
std::string to_string(Duration duration);

// RFC 3339 in UTC with milliseconds ("2026-01-25T21:15:00.000Z").
std::string to_string(Instant instant);
// RFC 3339 with "Z" or an offset, and up to nine digits of a second. Refuses what does not exist
// (30 February, a leap second) and what lies beyond the range.
Result<Instant> parse_instant(std::string_view text);

}  // namespace pawl
