#include "library/retry_policy.h"

#include <cmath>

namespace pawl {

std::int64_t thousandths(double value) {
  constexpr double most = 1e15;  // of which a double still holds thousandths
  return std::abs(value) < most ? std::llround(value * 1000) : -1;
}

Result<retry::Policy> policy_of(const RetryPolicy& policy) {
  retry::Policy made{.max_attempts = policy.max_attempts,
                     .base_delay = policy.base_delay,
                     .max_delay = policy.max_delay,
                     .min_delay = policy.min_delay,
                     .multiplier_milli = thousandths(policy.multiplier),
                     .jitter = static_cast<retry::Jitter>(policy.jitter),
                     .jitter_milli = thousandths(policy.jitter_factor),
                     .delays = policy.delays,
                     .deadline = policy.deadline,
                     .attempt_timeout = policy.attempt_timeout,
                     .retryable = policy.retryable,
                     .non_retryable = policy.non_retryable};
  PAWL_TRY(retry::check(made));
  return made;
}

RetryPolicy retry_policy(std::string_view category) {
  const auto known = retry::category_of(category);
  const retry::Policy& policy = known ? retry::default_policy(*known) : retry::default_policy();
  return {.max_attempts = policy.max_attempts,
          .base_delay = policy.base_delay,
          .max_delay = policy.max_delay,
          .min_delay = policy.min_delay,
          .multiplier = static_cast<double>(policy.multiplier_milli) / 1000,
          .jitter = static_cast<RetryPolicy::Jitter>(policy.jitter),
          .jitter_factor = static_cast<double>(policy.jitter_milli) / 1000,
          .delays = policy.delays,
          .deadline = policy.deadline,
          .attempt_timeout = policy.attempt_timeout,
          .retryable = policy.retryable,
          .non_retryable = policy.non_retryable};
}

}  // namespace pawl
