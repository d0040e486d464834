#include "core/retry/budget.h"

#include <string>

namespace pawl::retry {
namespace {

constexpr std::int64_t retry_milli = 1000;
constexpr std::int64_t second_ns = 1'000'000'000;

bool spend_floor(const BudgetRule& rule, BudgetState& state, SteadyInstant now) {
  if (rule.min_per_second == 0) return false;
  // Rounded up: the pace is never passed.
  const auto interval =
      Duration::nanoseconds((second_ns + rule.min_per_second - 1) / rule.min_per_second);
  const SteadyInstant full_at = std::max(state.floor_full_at, now) + interval;
  if (full_at - now > interval * rule.min_per_second) return false;
  state.floor_full_at = full_at;
  return true;
}

}  // namespace

Result<void> check(const BudgetRule& rule) {
  if (rule.ratio_milli < 0 || rule.ratio_milli > bounds::retry_budget_ratio_milli_max) {
    return failure(Code::invalid, "ratio is " + std::to_string(rule.ratio_milli) +
                                      " thousandths: it must be 0 … " +
                                      std::to_string(bounds::retry_budget_ratio_milli_max) +
                                      " of them");
  }
  if (rule.min_per_second < 0 || rule.min_per_second > bounds::retry_budget_per_second_max) {
    return failure(Code::invalid, "min_per_second is " + std::to_string(rule.min_per_second) +
                                      ": it must be 0 … " +
                                      std::to_string(bounds::retry_budget_per_second_max));
  }
  return {};
}

bool spend(const BudgetRule& rule, BudgetState& state, SteadyInstant now) {
  // The floor first: what calls have earned does not come back with time.
  if (spend_floor(rule, state, now)) return true;
  if (state.earned_milli < retry_milli) return false;
  state.earned_milli -= retry_milli;
  return true;
}

}  // namespace pawl::retry
