#include "core/retry/policy.h"

#include <algorithm>

#include "base/bounds.h"

namespace pawl::retry {
namespace {

constexpr std::array<std::string_view, 5> jitter_names = {"none", "proportional", "full", "equal",
                                                          "decorrelated"};
constexpr std::array<std::string_view, 3> listed_names = {"neither", "retryable", "non_retryable"};

constexpr Policy row(int max_attempts, std::int64_t base_ms, std::int64_t max_seconds) {
  Policy policy;
  policy.max_attempts = max_attempts;
  policy.base_delay = Duration::milliseconds(base_ms);
  policy.max_delay = Duration::seconds(max_seconds);
  return policy;
}

// In the order of Category.
constexpr std::array<Policy, categories_count> defaults = {
    row(5, 1'000, 30),  // nats_connect
    row(3, 500, 10),    // nats_publish
    row(3, 500, 10),    // nats_subscribe
    row(2, 2'000, 60),  // nats_stream_create
    row(2, 1'000, 30),  // kv_create
    row(3, 500, 10),    // kv_get
    row(3, 500, 10),    // kv_put
    row(2, 1'000, 30),  // kv_delete
    row(2, 2'000, 60),  // execution_intent
    row(2, 2'000, 60),  // execution_containment
    row(1, 1'000, 30),  // execution_expiration
    row(3, 1'000, 30),  // approval_check
    row(2, 2'000, 60),  // approval_grant
    row(1, 1'000, 30),  // replay_processing
    row(2, 1'000, 30),  // replay_validation
    row(3, 1'000, 30),  // api_request
    row(2, 500, 10),    // api_validation
};
constexpr Policy of_the_unknown = {};

// "jitter is 1.5: it must be 0.0 … 1.0"
std::unexpected<Error> out_of_range(std::string_view member, const std::string& found,
                                    const std::string& range) {
  return failure(Code::invalid, std::string(member) + " is " + found + ": it must be " + range);
}

Result<void> within(std::string_view member, Duration found, Duration least, Duration most) {
  if (found >= least && found <= most) return {};
  const std::string text = found < Duration() ? "negative" : to_string(found);
  return out_of_range(member, text, to_string(least) + " … " + to_string(most));
}

// 2500 as "2.5".
std::string thousandths(std::int64_t milli) {
  std::string text = std::to_string(milli / 1000) + ".";
  std::string rest = std::to_string(1000 + std::abs(milli % 1000)).substr(1);
  while (rest.size() > 1 && rest.back() == '0') rest.pop_back();
  return (milli < 0 && milli > -1000 ? "-" : "") + text + rest;
}

Result<void> check_delays(const Policy& policy) {
  const Duration most = bounds::retry_delay_max;
  PAWL_TRY(within("max_delay", policy.max_delay, Duration(), most));
  PAWL_TRY(within("min_delay", policy.min_delay, Duration(), policy.max_delay));
  if (policy.delays.empty()) {
    PAWL_TRY(within("base_delay", policy.base_delay, Duration(), policy.max_delay));
  }
  if (policy.delays.size() > bounds::retry_list_max) {
    return out_of_range("delays", "a list of " + std::to_string(policy.delays.size()),
                        "of at most " + std::to_string(bounds::retry_list_max));
  }
  for (const Duration delay : policy.delays) {
    PAWL_TRY(within("delays", delay, Duration(), policy.max_delay));
  }
  if (!policy.delays.empty() && policy.jitter == Jitter::decorrelated) {
    return failure(Code::invalid,
                   "jitter is decorrelated, which reckons its own delays: leave out delays, or "
                   "choose none, proportional, full or equal");
  }
  return {};
}

Result<void> check_list(std::string_view member, const std::vector<std::string>& names) {
  if (names.size() > bounds::retry_list_max) {
    return out_of_range(member, "a list of " + std::to_string(names.size()),
                        "of at most " + std::to_string(bounds::retry_list_max));
  }
  for (const std::string& name : names) {
    if (name.empty() || name.size() > bounds::retry_code_bytes_max) {
      return failure(Code::invalid, std::string(member) + " has a name of " +
                                        std::to_string(name.size()) + " bytes: it must have 1 … " +
                                        std::to_string(bounds::retry_code_bytes_max));
    }
  }
  return {};
}

bool names_any(const std::vector<std::string>& list, std::span<const std::string_view> names) {
  return std::ranges::any_of(
      list, [&](const std::string& entry) { return std::ranges::count(names, entry) > 0; });
}

}  // namespace

std::string_view to_string(Jitter jitter) {
  return jitter_names[static_cast<std::size_t>(jitter)];
}

std::optional<Jitter> jitter_of(std::string_view name) {
  const auto found = std::ranges::find(jitter_names, name);
  if (found == jitter_names.end()) return {};
  return static_cast<Jitter>(found - jitter_names.begin());
}

std::string_view to_string(Listed listed) {
  return listed_names[static_cast<std::size_t>(listed)];
}

std::optional<Listed> listed_of(std::string_view name) {
  const auto found = std::ranges::find(listed_names, name);
  if (found == listed_names.end()) return {};
  return static_cast<Listed>(found - listed_names.begin());
}

Result<void> check(const Policy& policy) {
  if (policy.max_attempts < 1 || policy.max_attempts > bounds::retry_attempts_max) {
    return out_of_range("max_attempts", std::to_string(policy.max_attempts),
                        "1 … " + std::to_string(bounds::retry_attempts_max));
  }
  PAWL_TRY(check_delays(policy));
  if (policy.multiplier_milli < 1000 ||
      policy.multiplier_milli > bounds::retry_multiplier_milli_max) {
    return out_of_range("multiplier", thousandths(policy.multiplier_milli),
                        "1.0 … " + thousandths(bounds::retry_multiplier_milli_max));
  }
  if (policy.jitter_milli < 0 || policy.jitter_milli > 1000) {
    return out_of_range("jitter", thousandths(policy.jitter_milli), "0.0 … 1.0");
  }
  PAWL_TRY(within("deadline", policy.deadline, Duration(), bounds::retry_deadline_max));
  PAWL_TRY(within("attempt_timeout", policy.attempt_timeout, Duration::milliseconds(1),
                  bounds::retry_timeout_max));
  PAWL_TRY(check_list("retryable", policy.retryable));
  return check_list("non_retryable", policy.non_retryable);
}

Listed listed(const Policy& policy, std::span<const std::string_view> names) {
  if (names_any(policy.retryable, names)) return Listed::retryable;
  return names_any(policy.non_retryable, names) ? Listed::non_retryable : Listed::neither;
}

const Policy& default_policy(Category category) {
  return defaults[static_cast<std::size_t>(category)];
}

const Policy& default_policy() {
  return of_the_unknown;
}

PolicyTable::PolicyTable() : known_(defaults) {}

Result<void> PolicyTable::set(std::string_view code, Policy policy) {
  PAWL_TRY(check(policy));
  if (const auto category = category_of(code)) {
    known_[static_cast<std::size_t>(*category)] = std::move(policy);
    return {};
  }
  if (code.empty() || code.size() > bounds::retry_code_bytes_max) {
    return failure(Code::invalid, "the code of a retry category has " +
                                      std::to_string(code.size()) + " bytes: it must have 1 … " +
                                      std::to_string(bounds::retry_code_bytes_max));
  }
  if (own_.size() == bounds::retry_categories_max && !own_.contains(code)) {
    return failure(Code::invalid,
                   "there are " + std::to_string(own_.size()) +
                       " retry categories besides the built-in ones, and no more may be added");
  }
  own_.insert_or_assign(std::string(code), std::move(policy));
  return {};
}

PolicyTable::Found PolicyTable::find(std::string_view code) const {
  if (const auto category = category_of(code)) return {&find(*category), true};
  if (const auto found = own_.find(code); found != own_.end()) return {&found->second, true};
  return {&of_the_unknown, false};
}

}  // namespace pawl::retry
