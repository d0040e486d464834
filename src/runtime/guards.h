// Guards: the circuit breakers of those who are called, by name, and the budget of all retries.
//
// Contract: core/retry/breaker.h and budget.h, for many threads. Who has never failed has no
//           breaker, so that many names cost nothing; beyond bounds::retry_breakers_max of those
//           who have, one more has none.
// Threads:  any.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "core/audit/retry_event.h"
#include "core/retry/breaker.h"
#include "core/retry/budget.h"
#include "pawl/time.h"

namespace pawl {

class Guards {
 public:
  using Turn = retry::Breaker::Turn;

  Guards(const retry::BudgetRule& budget, const retry::BreakerRule& breaker)
      : budget_rule_(budget), breaker_rule_(breaker) {}

  // A call was made: a first attempt.
  void earn();
  bool spend(SteadyInstant now);

  Turn turn(const std::string& name, SteadyInstant now);
  struct Change {
    audit::BreakerState state;
    Duration wait = {};  // until the next probe
  };
  // How somebody's turn ended; and what changed with it.
  std::optional<Change> heard(const std::string& name, Turn turn, bool good, SteadyInstant now);
  // Zero: everybody is let through.
  Duration until_probe(const std::string& name, SteadyInstant now);

 private:
  const retry::BudgetRule budget_rule_;
  const retry::BreakerRule breaker_rule_;
  std::mutex mutex_;  // guards what follows
  retry::BudgetState budget_;
  std::map<std::string, retry::Breaker, std::less<>> breakers_;
};

}  // namespace pawl
