// Budget: retries are a share of the calls, and a few a second besides, so that a dead upstream is
// not sent several times the traffic of a living one.
//
// Contract: pure. Over any stretch of time in which c calls were made and t seconds passed, at most
//             ratio * c + min_per_second * t + bounds::retry_budget_reserve + min_per_second
//           are retried: what calls had saved before, and one second's worth of the floor. A retry
//           that is refused costs nothing.
// State:    two numbers: what calls have earned, in thousandths of a retry, and the moment at which
//           the floor is full again (GCRA, as in core/limit/token_bucket.h).
// Threads:  none. One owner.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/bounds.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::retry {

struct BudgetRule {
  std::int64_t ratio_milli = 200;    // 20 % of the calls
  std::int64_t min_per_second = 10;  // 0: none
  bool operator==(const BudgetRule&) const = default;
};

Result<void> check(const BudgetRule& rule);

struct BudgetState {
  std::int64_t earned_milli = 0;
  SteadyInstant floor_full_at = {};
  bool operator==(const BudgetState&) const = default;
};

// So many calls were made: first attempts. In the header because every call that succeeds pays for
// it.
inline void earn(const BudgetRule& rule, BudgetState& state, std::int64_t calls = 1) {
  constexpr std::int64_t most = bounds::retry_budget_reserve * 1000;
  const std::int64_t counted = std::min(calls, most);  // more would not matter, and overflow
  state.earned_milli = std::min(state.earned_milli + rule.ratio_milli * counted, most);
}

// Whether one retry may be made now; if so it is paid for.
bool spend(const BudgetRule& rule, BudgetState& state, SteadyInstant now);

}  // namespace pawl::retry
