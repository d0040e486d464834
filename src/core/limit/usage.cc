#include "core/limit/usage.h"

#include <span>

#include "base/sha256.h"
#include "base/text.h"

namespace pawl::limit {
namespace {

constexpr std::size_t id_bytes = 16;

Instant grid_line(Duration period, Instant now) {
  const std::int64_t into = now.ns() % period.ns();
  return Instant::from_ns(now.ns() - into - (into < 0 ? period.ns() : 0));
}

}  // namespace

Usage usage_of(const Policy& policy, const Verdict& verdict) {
  const std::int64_t limit = capacity_of(policy.rule);
  return {.limit = limit,
          .used = limit - verdict.remaining,
          .remaining = verdict.remaining,
          .reset_seconds = verdict.full_after.seconds_up(),
          .near = is_near(policy, verdict)};
}

Instant window_start(const Rule& rule, Instant now) {
  if (const auto* calendar = std::get_if<Calendar>(&rule)) {
    return window_at(calendar->rule, now).start;
  }
  const auto* slots = std::get_if<Concurrency>(&rule);
  return grid_line(slots == nullptr ? period_of(rule, now) : slots->lease, now);
}

std::string near_id(std::string_view tenant, const Policy& policy, Instant window) {
  std::string text = "near_limit\n";
  text.append(tenant).append("\n").append(policy.name).append("\n");
  text.append(algorithm_of(policy.rule)).append("\n").append(to_string(policy.rule)).append("\n");
  append_number(text, window.ns());
  const Digest digest = sha256(text);
  return to_hex(std::span(digest).first(id_bytes));
}

}  // namespace pawl::limit
