// The decision on an operation: done, again (when), find out first, sleep, or stop (why).
//
// Contract: pure. `Facts` is everything it depends on besides the policy; the audit event keeps
//           both, and a replay feeds them to this same function. Pushback always wins over backoff
//           and is never undercut. An attempt of unknown outcome is followed by another one only
//           when a second copy does no harm, or when reconciliation has shown that the first did
//           nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/retry/classify.h"
#include "core/retry/policy.h"

namespace pawl::retry {

struct Facts {
  int attempt = 0;  // the last one that was sent, from 1; 0: none yet
  // How it ended. Before the first: not applied, or unknown when somebody else may have acted.
  Classification seen = {Failure::unknown, Outcome::not_applied, true};
  Listed listed = Listed::neither;   // what the policy's lists say of that
  int reconciles = 0;                // made since
  Outcome found = Outcome::unknown;  // by the last of them
  bool may_be_applied = false;       // by an earlier attempt, or by one that is under way
  bool harmless = false;             // a second copy changes nothing
  bool can_reconcile = false;
  std::uint64_t key = 0;                  // jitter_key() of the operation
  Duration previous_delay = {};           // what was waited last
  Duration elapsed = {};                  // since the first attempt began
  Duration pushback = {};                 // what is left of the wait the server named
  Duration sleep_from = Duration::max();  // waits as long as that are slept durably
  bool budget_allows = true;
  bool breaker_open = false;
  Duration probe_in = {};  // when it is to be asked again; zero: an open breaker is the end
  bool cancelled = false;
  bool operator==(const Facts&) const = default;
};

enum class Next : std::uint8_t { done, backoff, sleep, reconcile, give_up, unresolved };
std::string_view to_string(Next next);
std::optional<Next> next_of(std::string_view name);

// Why; one for each way to a decision. docs/audit-events.md lists them.
enum class Reason : std::uint8_t {
  succeeded,
  found_applied,
  retry_backoff,
  retry_pushback,
  outcome_unknown,
  reconciles_exhausted,
  not_retryable,
  listed_non_retryable,
  attempts_exhausted,
  deadline_exceeded,
  pushback_too_long,
  budget_exhausted,
  breaker_open,
  cancelled,
};
std::string_view to_string(Reason reason);
std::optional<Reason> reason_of(std::string_view name);
// All of them, in order.
std::span<const std::string_view> reason_names();

struct Decision {
  Next next = Next::give_up;
  Reason reason = Reason::not_retryable;
  Outcome outcome = Outcome::unknown;  // of all attempts together, as far as is known
  Duration delay = {};                 // of backoff, sleep and reconcile
  bool operator==(const Decision&) const = default;
};

// Of the last attempt, as reconciliation has cleared it up.
inline Outcome last_outcome(const Facts& facts) {
  return facts.seen.outcome == Outcome::unknown ? facts.found : facts.seen.outcome;
}
// Of all attempts together.
inline Outcome outcome_of(const Facts& facts) {
  const Outcome last = last_outcome(facts);
  return last == Outcome::not_applied && facts.may_be_applied ? Outcome::unknown : last;
}
// It may have been applied, and a second copy could do harm: what comes next is to find out.
inline bool must_reconcile(const Facts& facts) {
  return !facts.harmless && outcome_of(facts) == Outcome::unknown;
}

// Of what has not succeeded, or was cancelled.
Decision decide_otherwise(const Policy& policy, const Facts& facts);

// In the header because every call that succeeds pays for it.
inline Decision decide(const Policy& policy, const Facts& facts) {
  if (facts.cancelled || last_outcome(facts) != Outcome::applied) {
    return decide_otherwise(policy, facts);
  }
  return {.next = Next::done,
          .reason = facts.reconciles > 0 ? Reason::found_applied : Reason::succeeded,
          .outcome = Outcome::applied};
}

}  // namespace pawl::retry
