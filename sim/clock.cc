#include "sim/clock.h"

#include <algorithm>

namespace pawl::sim {

void SimClock::after(Duration delay, std::move_only_function<void()> action) {
  due_.emplace(std::pair(now_ + std::max(Duration(), delay), scheduled_++), std::move(action));
}

void SimClock::run_until(SteadyInstant end) {
  while (!due_.empty() && due_.begin()->first.first <= end) {
    auto next = due_.extract(due_.begin());
    now_ = next.key().first;
    next.mapped()();
  }
  now_ = std::max(now_, end);
}

}  // namespace pawl::sim
