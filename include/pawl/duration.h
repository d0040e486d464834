// Duration: a length of time.
//
// Contract: integer nanoseconds; arithmetic saturates at the ends of the range (about ±292 years)
//           instead of wrapping, so a hostile "wait 10^18 s" becomes "never" and not "now".
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

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
  constexpr std::int64_t up_in(Duration unit) const {
    return ns_ / unit.ns_ + (ns_ % unit.ns_ > 0 ? 1 : 0);
  }
  constexpr std::int64_t milliseconds_up() const { return up_in(milliseconds(1)); }
  constexpr std::int64_t seconds_up() const { return up_in(seconds(1)); }
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
  // Whole nanoseconds, rounded towards nothing; n is not 0.
  friend constexpr Duration operator/(Duration a, std::int64_t n) {
    return n == -1 ? -a : Duration(a.ns_ / n);
  }

 private:
  explicit constexpr Duration(std::int64_t ns) : ns_(ns) {}
  static constexpr Duration of(std::int64_t n, std::int64_t unit) {
    return Duration(time_detail::multiply(n, unit));
  }

  std::int64_t ns_ = 0;
};

}  // namespace pawl
