#include "emulator/core/saxo_limits.h"

#include "base/text.h"

namespace pawl::emulator {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t day_ns = 86'400 * second_ns;
constexpr std::string_view orders_key = "orders";

struct Dimension {
  std::string_view name;
  std::size_t limit;
  std::size_t remaining;
  std::int64_t reset;
};

std::string number(std::uint64_t value) {
  std::string text;
  append_number(text, value);
  return text;
}

void append(std::vector<Field>& fields, const Dimension& dimension) {
  const std::string prefix = "X-RateLimit-" + std::string(dimension.name);
  fields.push_back({.name = prefix + "-Limit", .value = number(dimension.limit)});
  fields.push_back({.name = prefix + "-Remaining", .value = number(dimension.remaining)});
  fields.push_back(
      {.name = prefix + "-Reset", .value = number(static_cast<std::uint64_t>(dimension.reset))});
}

}  // namespace

SaxoLimits::SaxoLimits(const SaxoSettings& settings)
    : session_limit_(settings.limits ? settings.session_limit : 0),
      orders_limit_(settings.limits ? settings.orders_limit : 0),
      day_limit_(settings.limits ? settings.day_limit : 0),
      reset_zero_(settings.reset_zero),
      session_(settings.session_limit, settings.session_window),
      orders_(settings.orders_limit, settings.orders_window) {}

std::string_view SaxoLimits::take(const Ask& ask, Instant now) {
  turn_day(now);
  std::string_view full;
  if (day_limit_ > 0 && day_taken_ >= day_limit_) full = "AppDay";
  if (session_limit_ > 0 && session_.look(ask.group, now).remaining == 0) full = "Session";
  const bool counts = ask.trades && orders_limit_ > 0;
  if (counts && orders_.look(orders_key, now).remaining == 0) full = "SessionOrders";
  if (!full.empty()) {
    ++breaches_[std::string(full)];
    return full;
  }
  ++day_taken_;
  if (session_limit_ > 0) session_.take(ask.group, now);
  if (counts) orders_.take(orders_key, now);
  return {};
}

std::vector<Field> SaxoLimits::fields(const Ask& ask, const Look& look, Instant now) {
  turn_day(now);
  const auto seconds = [&](std::string_view name, Duration wait) {
    if (look.reset && (look.exhausted == name || look.exhausted.empty())) return *look.reset;
    return reset_zero_ ? wait.ns() / second_ns : wait.seconds_up();
  };
  const auto left = [&](std::string_view name, std::size_t remaining) {
    return look.exhausted == name ? std::size_t{0} : remaining;
  };
  std::vector<Field> fields;
  if (day_limit_ > 0) {
    const Instant midnight = Instant::from_ns((day_ + 1) * day_ns);
    append(fields, {.name = "AppDay",
                    .limit = day_limit_,
                    .remaining = left("AppDay", day_limit_ - day_taken_),
                    .reset = (midnight - now).seconds_up()});
  }
  if (session_limit_ > 0) {
    const Windows::State state = session_.look(ask.group, now);
    append(fields, {.name = "Session",
                    .limit = state.limit,
                    .remaining = left("Session", state.remaining),
                    .reset = seconds("Session", state.reset)});
  }
  if (ask.trades && orders_limit_ > 0) {
    const Windows::State state = orders_.look(orders_key, now);
    append(fields, {.name = "SessionOrders",
                    .limit = state.limit,
                    .remaining = left("SessionOrders", state.remaining),
                    .reset = seconds("SessionOrders", state.reset)});
  }
  return fields;
}

void SaxoLimits::forget() {
  session_.forget();
  orders_.forget();
}

void SaxoLimits::turn_day(Instant now) {
  const std::int64_t day = now.ns() / day_ns;
  if (day == day_) return;
  day_ = day;
  day_taken_ = 0;
}

}  // namespace pawl::emulator
