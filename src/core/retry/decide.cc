#include "core/retry/decide.h"

#include <algorithm>
#include <array>

#include "base/bounds.h"
#include "core/retry/backoff.h"

namespace pawl::retry {
namespace {

constexpr std::array<std::string_view, 6> next_names = {"done",      "backoff", "sleep",
                                                        "reconcile", "give_up", "unresolved"};
constexpr std::array<std::string_view, 14> all_reason_names = {
    "succeeded",          "found_applied",
    "retry_backoff",      "retry_pushback",
    "outcome_unknown",    "reconciles_exhausted",
    "not_retryable",      "listed_non_retryable",
    "attempts_exhausted", "deadline_exceeded",
    "pushback_too_long",  "budget_exhausted",
    "breaker_open",       "cancelled",
};

bool past_deadline(const Policy& policy, const Facts& facts, Duration delay) {
  return policy.deadline > Duration() && facts.elapsed + delay >= policy.deadline;
}

// A wait, in this process or durably.
Decision wait(const Facts& facts, Next next, Reason reason, Duration delay) {
  return {.next = delay >= facts.sleep_from ? Next::sleep : next,
          .reason = reason,
          .outcome = outcome_of(facts),
          .delay = delay};
}

Decision stop(const Facts& facts, Next next, Reason reason) {
  return {.next = next, .reason = reason, .outcome = outcome_of(facts)};
}

// The first time at once, past the deadline too: what may cost money is looked up at least once.
Decision decide_reconcile(const Policy& policy, const Facts& facts) {
  const auto unresolved = [&](Reason why) { return stop(facts, Next::unresolved, why); };
  if (!facts.can_reconcile) return unresolved(Reason::outcome_unknown);
  if (facts.reconciles >= bounds::retry_reconciles_max) {
    return unresolved(Reason::reconciles_exhausted);
  }
  if (facts.pushback > bounds::retry_pushback_max) return unresolved(Reason::pushback_too_long);
  const Duration own = facts.reconciles == 0
                           ? Duration()
                           : backoff(policy, facts.key, facts.reconciles, facts.previous_delay);
  const Duration delay = std::max(own, facts.pushback);
  if (delay > Duration() && past_deadline(policy, facts, delay)) {
    return unresolved(Reason::deadline_exceeded);
  }
  return wait(facts, Next::reconcile, Reason::outcome_unknown, delay);
}

Decision decide_retry(const Policy& policy, const Facts& facts) {
  const auto give_up = [&](Reason why) { return stop(facts, Next::give_up, why); };
  if (facts.listed == Listed::non_retryable) return give_up(Reason::listed_non_retryable);
  // A copy arrived before: what is not harmless is never sent again, whatever a list says.
  const bool barred = facts.seen.failure == Failure::conflict && !facts.harmless;
  if (barred || (facts.listed == Listed::neither && !facts.seen.retryable)) {
    return give_up(Reason::not_retryable);
  }
  if (facts.attempt >= policy.max_attempts) return give_up(Reason::attempts_exhausted);
  if (facts.pushback > bounds::retry_pushback_max) return give_up(Reason::pushback_too_long);
  const Duration own = facts.attempt == 0
                           ? Duration()
                           : backoff(policy, facts.key, facts.attempt, facts.previous_delay);
  const Duration delay = std::max(own, facts.pushback);
  if (past_deadline(policy, facts, delay)) return give_up(Reason::deadline_exceeded);
  if (!facts.budget_allows) return give_up(Reason::budget_exhausted);
  return wait(facts, Next::backoff, delay > own ? Reason::retry_pushback : Reason::retry_backoff,
              delay);
}

// Whoever can wait for an open breaker does. That is no retry: it needs no budget and uses up no
// attempt.
Decision decide_breaker(const Policy& policy, const Facts& facts) {
  const Duration delay = std::max(facts.probe_in, facts.pushback);
  if (facts.probe_in <= Duration() || facts.pushback > bounds::retry_pushback_max ||
      past_deadline(policy, facts, delay)) {
    return stop(facts, Next::give_up, Reason::breaker_open);
  }
  return wait(facts, Next::backoff, Reason::breaker_open, delay);
}

}  // namespace

std::string_view to_string(Next next) {
  return next_names[static_cast<std::size_t>(next)];
}

std::optional<Next> next_of(std::string_view name) {
  const auto found = std::ranges::find(next_names, name);
  if (found == next_names.end()) return {};
  return static_cast<Next>(found - next_names.begin());
}

std::string_view to_string(Reason reason) {
  return all_reason_names[static_cast<std::size_t>(reason)];
}

std::optional<Reason> reason_of(std::string_view name) {
  const auto found = std::ranges::find(all_reason_names, name);
  if (found == all_reason_names.end()) return {};
  return static_cast<Reason>(found - all_reason_names.begin());
}

std::span<const std::string_view> reason_names() {
  return all_reason_names;
}

Decision decide_otherwise(const Policy& policy, const Facts& facts) {
  if (facts.cancelled) return stop(facts, Next::give_up, Reason::cancelled);
  if (must_reconcile(facts)) return decide_reconcile(policy, facts);
  if (facts.breaker_open) return decide_breaker(policy, facts);
  return decide_retry(policy, facts);
}

}  // namespace pawl::retry
