// Time as values: a length (Duration), a moment of the world's clock (Instant), and a moment of
// this machine's steady clock (SteadyInstant). The last two are different types, so a wall-clock
// step can never leak into a measured wait.
//
// Contract: integer nanoseconds; arithmetic saturates at the ends of the range (about ±292 years)
//           instead of wrapping, so a hostile "wait 10^18 s" becomes "never" and not "now".
// Purity:   nothing here reads a clock. Time comes in as an argument.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "pawl/result.h"

namespace pawl {

namespace time_detail {

constexpr std::int64_t add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? std::numeric_limits<std::int64_t>::min()
               : std::numeric_limits<std::int64_t>::max();
}

constexpr std::int64_t negate(std::int64_t a) {
  return a == std::numeric_limits<std::int64_t>::min() ? std::numeric_limits<std::int64_t>::max()
                                                       : -a;
}

constexpr std::int64_t multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) != (b < 0) ? std::numeric_limits<std::int64_t>::min()
                            : std::numeric_limits<std::int64_t>::max();
}

}  // namespace time_detail

class Duration {
 public:
  constexpr Duration() = default;

  static constexpr Duration nanoseconds(std::int64_t n) { return Duration(n); }
  static constexpr Duration microseconds(std::int64_t n) { return of(n, 1'000); }
  static constexpr Duration milliseconds(std::int64_t n) { return of(n, 1'000'000); }
  static constexpr Duration seconds(std::int64_t n) { return of(n, 1'000'000'000); }
  static constexpr Duration minutes(std::int64_t n) { return of(n, 60'000'000'000); }
  static constexpr Duration hours(std::int64_t n) { return of(n, 3'600'000'000'000); }
  static constexpr Duration days(std::int64_t n) { return of(n, 86'400'000'000'000); }
  static constexpr Duration max() { return Duration(std::numeric_limits<std::int64_t>::max()); }

  constexpr std::int64_t ns() const { return ns_; }
  // Whole units, rounded up: a wait told to somebody else must never be too short.
  constexpr std::int64_t milliseconds_up() const { return up(1'000'000); }
  constexpr std::int64_t seconds_up() const { return up(1'000'000'000); }
  constexpr double seconds() const { return static_cast<double>(ns_) / 1e9; }

  constexpr auto operator<=>(const Duration&) const = default;

  friend constexpr Duration operator+(Duration a, Duration b) {
    return Duration(time_detail::add(a.ns_, b.ns_));
  }
  friend constexpr Duration operator-(Duration a, Duration b) { return a + -b; }
  constexpr Duration operator-() const { return Duration(time_detail::negate(ns_)); }
  friend constexpr Duration operator*(Duration a, std::int64_t n) {
    return Duration(time_detail::multiply(a.ns_, n));
  }

 private:
  explicit constexpr Duration(std::int64_t ns) : ns_(ns) {}
  static constexpr Duration of(std::int64_t n, std::int64_t unit) {
    return Duration(time_detail::multiply(n, unit));
  }
  constexpr std::int64_t up(std::int64_t unit) const {
    return ns_ / unit + (ns_ % unit > 0 ? 1 : 0);
  }

  std::int64_t ns_ = 0;
};

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
