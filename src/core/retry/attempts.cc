#include "core/retry/attempts.h"

#include <algorithm>

#include "base/assert.h"

namespace pawl::retry {

// What is inline here every operation passes through.
Effect Attempts::decide(const Event& event) {
  if (state_ == State::ended) return Nothing{};
  decided_ = false;
  return std::visit([this](const auto& e) { return on(e); }, event);
}

Effect Attempts::on(const Begin& event) {
  PAWL_ASSERT(state_ == State::idle);
  now_ = event.now;
  started_ = event.now - event.waited;
  if (event.taken_over) take_over();
  if (resumed_) return resume(event);
  facts_.breaker_open = event.breaker_open;
  facts_.probe_in = event.probe_in;
  if (event.waited > Duration()) look_at_time(event.now);
  if (event.breaker_open || must_reconcile(facts_) || is_past_deadline()) return go_on(event.now);
  return send();
}

// Nothing is known of what somebody else did.
void Attempts::take_over() {
  facts_.seen.outcome = facts_.found = Outcome::unknown;
  facts_.reconciles = 0;
}

Effect Attempts::resume(const Begin& event) {
  const SteadyInstant asleep = event.now - event.waited - slept_;
  started_ = asleep - facts_.elapsed;
  take_decision();
  // The policy may have changed meanwhile.
  if (decision_.next != Next::sleep && decision_.next != Next::backoff &&
      decision_.next != Next::reconcile) {
    return finish();
  }
  state_ = State::waiting;
  wait_over_ = asleep + decision_.delay;
  return on(
      Woken{.now = event.now, .breaker_open = event.breaker_open, .probe_in = event.probe_in});
}

Effect Attempts::on(const Ended& event) {
  PAWL_ASSERT(state_ == State::sending);
  const bool newest = event.attempt == facts_.attempt;
  bool& open = newest ? newest_open_ : older_open_;
  PAWL_ASSERT(open && (newest || event.attempt == facts_.attempt - 1));
  open = false;
  may_hedge_ = false;
  hear(event.pushback, event.now);
  if (event.seen.outcome != Outcome::applied && (newest_open_ || older_open_)) {
    // The other copy may still succeed.
    facts_.may_be_applied = facts_.may_be_applied || event.seen.outcome == Outcome::unknown;
    return Nothing{};
  }
  facts_.seen = event.seen;
  facts_.listed = event.listed;
  return go_on(event.now);
}

Effect Attempts::on(const BudgetAnswered& event) {
  PAWL_ASSERT(state_ == State::asking);
  if (hedging_) {
    hedging_ = false;
    state_ = State::sending;
    return event.allowed ? send() : Nothing{};
  }
  if (event.allowed) {
    decided_ = true;  // as it stood before the budget was asked
    return wait();
  }
  facts_.budget_allows = false;
  take_decision();
  return finish();
}

Effect Attempts::on(const Woken& event) {
  if (state_ == State::sending) return hedge(event);
  PAWL_ASSERT(state_ == State::waiting);
  decided_ = false;
  if (event.now < wait_over_) return WaitUntil{wait_over_};
  look_at_time(event.now);
  if (decision_.reason != Reason::breaker_open) facts_.previous_delay = decision_.delay;
  if (must_reconcile(facts_)) return reconcile();
  facts_.breaker_open = event.breaker_open;
  facts_.probe_in = event.probe_in;
  if (event.breaker_open || is_past_deadline()) {
    take_decision();
    return wait_or_finish();
  }
  return send();
}

Effect Attempts::on(const Reconciled& event) {
  PAWL_ASSERT(state_ == State::reconciling);
  ++facts_.reconciles;
  facts_.found = event.found;
  hear(event.pushback, event.now);
  return go_on(event.now);
}

Effect Attempts::on(const Cancelled& event) {
  if (state_ != State::idle) look_at_time(event.now);
  if (event.taken_over) take_over();
  facts_.cancelled = true;
  facts_.may_be_applied = facts_.may_be_applied || newest_open_ || older_open_;
  take_decision();
  return finish();
}

inline Effect Attempts::go_on(SteadyInstant now) {
  look_at_time(now);
  take_decision();
  switch (decision_.next) {
    case Next::done:
    case Next::give_up:
    case Next::unresolved:
      return finish();
    case Next::reconcile:
      return decision_.delay > Duration() ? wait() : reconcile();
    case Next::backoff:
    case Next::sleep:
      break;
  }
  // To look is no retry, and neither is to wait for the breaker.
  if (must_reconcile(facts_) || decision_.reason == Reason::breaker_open) return wait();
  state_ = State::asking;
  return SpendBudget{};
}

inline Effect Attempts::send() {
  PAWL_ASSERT(facts_.attempt < setup_.policy->max_attempts && !must_reconcile(facts_));
  facts_.may_be_applied = outcome_of(facts_) == Outcome::unknown;
  facts_.reconciles = 0;
  facts_.found = Outcome::unknown;
  ++facts_.attempt;
  older_open_ = newest_open_;
  newest_open_ = true;
  state_ = State::sending;
  // Made in its place: this is on the way of every call that succeeds.
  Effect effect = Send{};
  Send& send = *std::get_if<Send>(&effect);
  send.attempt = facts_.attempt;
  send.hedge = older_open_;
  send.timeout = attempt_timeout(*setup_.policy, now_ - started_);
  PAWL_ASSERT(send.timeout > Duration());
  const bool hedges = setup_.harmless && setup_.hedge_after > Duration() && !older_open_ &&
                      facts_.attempt < setup_.policy->max_attempts;
  if (hedges && setup_.hedge_after < send.timeout) {
    may_hedge_ = true;
    send.hedge_at = wait_over_ = now_ + setup_.hedge_after;
  }
  return effect;
}

Effect Attempts::hedge(const Woken& event) {
  if (!may_hedge_) return Nothing{};
  if (event.now < wait_over_) return WaitUntil{wait_over_};
  may_hedge_ = false;
  look_at_time(event.now);
  if (event.breaker_open || is_past_deadline()) return Nothing{};
  hedging_ = true;
  state_ = State::asking;
  return SpendBudget{};
}

Effect Attempts::reconcile() {
  state_ = State::reconciling;
  return Reconcile{.attempt = facts_.attempt, .timeout = setup_.policy->attempt_timeout};
}

Effect Attempts::wait() {
  if (decision_.next == Next::sleep) {
    state_ = State::ended;
    return SleepFor{decision_.delay};
  }
  state_ = State::waiting;
  wait_over_ = now_ + decision_.delay;
  return WaitUntil{wait_over_};
}

// At an open breaker, or past the deadline.
Effect Attempts::wait_or_finish() {
  return decision_.next == Next::backoff || decision_.next == Next::sleep ? wait() : finish();
}

inline Effect Attempts::finish() {
  state_ = State::ended;
  return Finish{decision_};
}

inline void Attempts::take_decision() {
  decision_ = retry::decide(*setup_.policy, facts_);
  decided_ = true;
}

inline void Attempts::look_at_time(SteadyInstant now) {
  now_ = now;
  facts_.elapsed = std::max(Duration(), now - started_);
  facts_.pushback = std::max(Duration(), not_before_ - now);
}

inline void Attempts::hear(Duration pushback, SteadyInstant now) {
  if (pushback > Duration()) not_before_ = std::max(not_before_, now + pushback);
}

bool Attempts::is_past_deadline() const {
  return setup_.policy->deadline > Duration() && facts_.elapsed >= setup_.policy->deadline;
}

}  // namespace pawl::retry
