#include "runtime/guards.h"

#include <algorithm>

#include "base/bounds.h"

namespace pawl {

using retry::Breaker;

void Guards::earn() {
  const std::lock_guard lock(mutex_);
  retry::earn(budget_rule_, budget_);
}

bool Guards::spend(SteadyInstant now) {
  const std::lock_guard lock(mutex_);
  return retry::spend(budget_rule_, budget_, now);
}

Guards::Turn Guards::turn(const std::string& name, SteadyInstant now) {
  const std::lock_guard lock(mutex_);
  const auto found = breakers_.find(name);
  return found == breakers_.end() ? Turn::ask : found->second.turn(breaker_rule_, now);
}

std::optional<Guards::Change> Guards::heard(const std::string& name, Turn turn, bool good,
                                            SteadyInstant now) {
  const std::lock_guard lock(mutex_);
  const auto found = breakers_.find(name);
  if (good) {
    if (found == breakers_.end()) return std::nullopt;
    const bool closed = found->second.answered(turn);
    if (!found->second.open()) breakers_.erase(found);
    if (!closed) return std::nullopt;
    return Change{.state = audit::BreakerState::closed};
  }
  if (found == breakers_.end() && breakers_.size() >= bounds::retry_breakers_max) {
    return std::nullopt;
  }
  Breaker& breaker = breakers_[name];
  const bool opened = breaker.failed(breaker_rule_, turn, now);
  if (!opened && turn != Turn::probe) return std::nullopt;
  return Change{.state = audit::BreakerState::open, .wait = breaker.next_probe() - now};
}

Duration Guards::until_probe(const std::string& name, SteadyInstant now) {
  const std::lock_guard lock(mutex_);
  const auto found = breakers_.find(name);
  if (found == breakers_.end() || !found->second.open()) return Duration();
  return std::max(Duration(), found->second.next_probe() - now);
}

}  // namespace pawl
