#include "core/webhook/delivery.h"

#include <algorithm>
#include <array>

namespace pawl::webhook {
namespace {

constexpr std::array<std::string_view, 3> state_names = {"pending", "acknowledged", "given_up"};

// Of these a receiver says when to come again; of others Retry-After means nothing.
constexpr bool may_push_back(int status) {
  return status == 429 || status == 503;
}

}  // namespace

std::string_view to_string(State state) {
  return state_names[static_cast<std::size_t>(state)];
}

std::optional<State> state_of(std::string_view name) {
  const auto found = std::ranges::find(state_names, name);
  if (found == state_names.end()) return {};
  return static_cast<State>(found - state_names.begin());
}

std::string record_key(std::string_view endpoint, std::string_view event_id) {
  return "webhook " + std::string(endpoint) + " " + std::string(event_id);
}

retry::Policy delivery_policy() {
  retry::Policy policy;
  policy.delays = {Duration::seconds(5), Duration::minutes(5), Duration::minutes(30),
                   Duration::hours(2),   Duration::hours(5),   Duration::hours(10),
                   Duration::hours(14),  Duration::hours(20),  Duration::hours(24)};
  policy.max_attempts = static_cast<int>(policy.delays.size()) + 1;
  policy.max_delay = Duration::hours(27);  // the longest, and its jitter
  policy.attempt_timeout = Duration::seconds(20);
  return policy;
}

Heard hear(int status, std::span<const limit::Field> fields, Instant now) {
  Heard heard{.seen = retry::http_table().classify({.status = status})};
  if (!may_push_back(status)) return heard;
  if (const auto at = limit::refused_until(limit::parse_pushback(fields, now))) {
    heard.pushback = std::max(Duration(), *at - now);
  }
  return heard;
}

}  // namespace pawl::webhook
