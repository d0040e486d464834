#include "core/retry/breaker.h"

#include <algorithm>
#include <string>

#include "base/bounds.h"

namespace pawl::retry {

Result<void> check(const BreakerRule& rule) {
  if (rule.failures < 1 || rule.failures > bounds::retry_breaker_failures_max) {
    return failure(Code::invalid, "a breaker opens after 1 … " +
                                      std::to_string(bounds::retry_breaker_failures_max) +
                                      " failures in a row, not " + std::to_string(rule.failures));
  }
  if (rule.wait_min < bounds::retry_breaker_wait_min || rule.wait_max < rule.wait_min ||
      rule.wait_max > bounds::retry_breaker_wait_max) {
    return failure(Code::invalid, "a breaker waits from " + to_string(rule.wait_min) + " to " +
                                      to_string(rule.wait_max) + ": it must be from " +
                                      to_string(bounds::retry_breaker_wait_min) + " or more to " +
                                      to_string(bounds::retry_breaker_wait_max) + " or less");
  }
  return {};
}

Breaker::Turn Breaker::turn_when_open(const BreakerRule& rule, SteadyInstant now) {
  if (now < next_probe_) return Turn::skip;
  if (probing_) wait_longer(rule);  // nothing was heard of the last one
  probing_ = true;
  next_probe_ = now + wait_;
  return Turn::probe;
}

bool Breaker::failed(const BreakerRule& rule, Turn turn, SteadyInstant now) {
  if (turn == Turn::probe) {
    if (!probing_) return false;  // it was late, and is counted already
    wait_longer(rule);
    probing_ = false;
    next_probe_ = now + wait_;
    return false;
  }
  if (open_ || ++failures_ < rule.failures) return false;
  open_ = true;
  wait_ = rule.wait_min;
  next_probe_ = now + wait_;
  return true;
}

void Breaker::wait_longer(const BreakerRule& rule) {
  wait_ = std::min(wait_ * 2, rule.wait_max);
}

}  // namespace pawl::retry
