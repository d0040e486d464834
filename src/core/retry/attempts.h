// Attempts: one operation from its first attempt to its end.
//
//   idle ─▶ sending ─▶ asking ─▶ waiting ─▶ sending
//     │       │  ▲        │         │  ▲
//     │       │  └ hedge ─┘         ▼  │
//     └───────┴──────────▶ reconciling ┴▶ asking
//             (any of them) ─▶ ended
//
// Why:      gateway, orders, queue and library callers retry by one machine, so they obey the same
//           rules and leave the same trail.
// Contract: pure. decide(event) gives the one effect to run next. Events that do not belong to the
//           state are a bug of the caller (PAWL_ASSERT), but for Cancelled, which may come at any
//           time. Once it has ended, every event is passed over: a timer or a copy that lost may
//           still report. No memory is allocated.
//           Every Send has a timeout that ends within the deadline, a number of its own, and none
//           is above the policy's max_attempts. None leaves before an instant the server named.
// Unknown:  after an attempt of unknown outcome, what is not harmless is sent again only when
//           Reconciled has said not_applied. Reconciliation is bounded (decide.h), and ends
//           `unresolved`.
// Hedging:  for what is harmless alone. When no answer came within hedge_after, the next attempt is
//           sent beside the first; the first good answer counts. It needs the budget's yes.
// Breaker:  while it is open nothing is sent: the operation is given up, or waits for it where
//           whoever asked the breaker says for how long (probe_in).
// Sleep:    after SleepFor the operation is the queue's and this machine has ended. Whoever keeps
//           facts() goes on with a new machine (Resumed).
// Borrows:  the policy, until the end.
// See:      docs/state-machines.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <variant>

#include "core/retry/decide.h"

namespace pawl::retry {

struct Setup {
  const Policy* policy = nullptr;
  std::uint64_t key = 0;  // jitter_key()
  bool harmless = false;  // a second copy changes nothing
  bool can_reconcile = false;
  Duration sleep_from = Duration::max();
  Duration hedge_after = {};  // zero: no hedging
};

// Goes on after a durable sleep.
struct Resumed {
  Facts facts;  // of the machine that said SleepFor
  Duration slept;
};

// Events. `now` is steady time.
struct Begin {
  SteadyInstant now;
  bool breaker_open = false;
  bool taken_over = false;  // from somebody who may have acted
  Duration waited = {};     // before it could begin; the deadline counts it
  Duration probe_in = {};   // of an open breaker: when to ask again; zero: it is the end
};
struct Ended {
  SteadyInstant now;
  int attempt = 1;  // of Send
  Classification seen = {};
  Listed listed = Listed::neither;
  Duration pushback = {};  // the wait the server named; zero: none
};
// To SpendBudget, and before any other event.
struct BudgetAnswered {
  bool allowed = false;
};
// The wait is over, or the time for a hedge has come.
struct Woken {
  SteadyInstant now;
  bool breaker_open = false;
  Duration probe_in = {};  // as in Begin
};
// What reconciliation found: applied, not_applied (absence is proven), or unknown still.
struct Reconciled {
  SteadyInstant now;
  Outcome found;
  Duration pushback = {};
};
struct Cancelled {
  SteadyInstant now;
  bool taken_over = false;  // as in Begin, which did not come
};
using Event = std::variant<Begin, Ended, BudgetAnswered, Woken, Reconciled, Cancelled>;

// Effects.
struct Send {
  int attempt = 1;
  Duration timeout = {};                       // never zero
  bool hedge = false;                          // beside one that is under way
  std::optional<SteadyInstant> hedge_at = {};  // Woken is to come then, unless Ended came before
};
// Ask the budget for one retry; where there is no budget, the answer is yes.
struct SpendBudget {};
struct WaitUntil {
  SteadyInstant at;
};
struct SleepFor {
  Duration delay;
};
struct Reconcile {
  int attempt = 1;  // what became of this one; 0: of what somebody else did
  Duration timeout = {};
};
// What is still under way may be broken off.
struct Finish {
  Decision decision;
};
struct Nothing {};
using Effect = std::variant<Send, SpendBudget, WaitUntil, SleepFor, Reconcile, Finish, Nothing>;

// Of an attempt that is sent so long after the first one: it ends within the deadline.
inline Duration attempt_timeout(const Policy& policy, Duration elapsed) {
  if (policy.deadline == Duration()) return policy.attempt_timeout;
  return std::min(policy.attempt_timeout, policy.deadline - elapsed);
}

class Attempts {
 public:
  enum class State : std::uint8_t { idle, sending, asking, waiting, reconciling, ended };

  explicit Attempts(const Setup& setup) : Attempts(setup, Facts()) {}
  Attempts(const Setup& setup, const Resumed& resumed) : Attempts(setup, resumed.facts) {
    resumed_ = true;
    slept_ = resumed.slept;
  }

  Effect decide(const Event& event);

  State state() const { return state_; }
  // The last decision and what it was made of, for the audit log. They belong together while
  // decided() says that the last event has led to one: not when a wait is over, or was too short.
  bool decided() const { return decided_; }
  const Decision& decision() const { return decision_; }
  const Facts& facts() const { return facts_; }

 private:
  Attempts(const Setup& setup, const Facts& facts) : setup_(setup), facts_(facts) {
    facts_.harmless = setup.harmless;
    facts_.can_reconcile = setup.can_reconcile;
    facts_.key = setup.key;
    facts_.sleep_from = setup.sleep_from;
  }

  Effect on(const Begin& event);
  Effect on(const Ended& event);
  Effect on(const BudgetAnswered& event);
  Effect on(const Woken& event);
  Effect on(const Reconciled& event);
  Effect on(const Cancelled& event);

  void take_over();
  Effect resume(const Begin& event);
  Effect go_on(SteadyInstant now);
  Effect send();
  Effect hedge(const Woken& event);
  Effect reconcile();
  Effect wait();
  Effect wait_or_finish();
  Effect finish();
  void take_decision();
  void look_at_time(SteadyInstant now);
  void hear(Duration pushback, SteadyInstant now);
  bool is_past_deadline() const;

  Setup setup_;
  State state_ = State::idle;
  bool decided_ = false;
  bool resumed_ = false;
  bool may_hedge_ = false;    // when the wait is over
  bool hedging_ = false;      // asking whether to
  bool newest_open_ = false;  // the attempt of the highest number is under way
  bool older_open_ = false;   // so is the one before
  Duration slept_;
  SteadyInstant started_;
  SteadyInstant now_;
  SteadyInstant not_before_;  // as the server said
  SteadyInstant wait_over_;   // between attempts, or until a hedge
  Facts facts_;
  Decision decision_;
};

}  // namespace pawl::retry
