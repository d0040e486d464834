#include "runtime/operation_trail.h"

#include <utility>

#include "core/retry/decision_record.h"

namespace pawl {

Result<void> OperationTrail::alive() {
  if (sink_ == nullptr) return {};
  Result<void> alive = sink_->alive();
  if (!alive) unaudited_ = alive.error();
  return alive;
}

bool OperationTrail::decided(const retry::Facts& facts, const retry::Decision& decision,
                             const Failed& failed) {
  if (sink_ == nullptr) return true;
  audit::Event event;
  switch (decision.next) {
    case retry::Next::done:
      return taken(sink_->append_late(audit::Success{
          .trail = trail_, .facts = facts, .decision = decision, .timestamp = clock_.wall_now()}));
    case retry::Next::reconcile:
      event = to_event(audit::ReconcileAhead{
          .subject = subject(), .attempt_number = facts.attempt, .delay = decision.delay});
      break;
    case retry::Next::backoff:
    case retry::Next::sleep:
      event = to_event(audit::RetryAttempt{.subject = subject(),
                                           .attempt_number = facts.attempt,
                                           .max_attempts = trail_->policy.max_attempts,
                                           .delay = decision.delay,
                                           .exception_type = failed.type,
                                           .exception_message = failed.message});
      break;
    case retry::Next::give_up:
    case retry::Next::unresolved:
      event = to_event(audit::RetryExhausted{.subject = subject(),
                                             .total_attempts = facts.attempt,
                                             .final_exception_type = failed.type,
                                             .final_exception_message = failed.message});
      break;
  }
  event.details.emplace_back("decision", retry::decision_record(trail_->policy, facts, decision));
  return append(std::move(event));
}

bool OperationTrail::hedged(int attempt) {
  return note(audit::Hedge{.subject = {}, .attempt_number = attempt});
}

bool OperationTrail::budget_refused(int attempt) {
  return note(audit::BudgetRefusal{.subject = {}, .attempt_number = attempt});
}

bool OperationTrail::reconciled(int attempt, Outcome found) {
  return note(audit::Reconciliation{.subject = {}, .attempt_number = attempt, .found = found});
}

bool OperationTrail::slept(std::string_view task, int attempt, Duration delay) {
  return note(
      audit::Slept{.subject = {}, .task_id = task, .attempt_number = attempt, .delay = delay});
}

bool OperationTrail::resumed(std::string_view task, int attempt, Duration slept) {
  return note(
      audit::Woke{.subject = {}, .task_id = task, .attempt_number = attempt, .slept = slept});
}

bool OperationTrail::key(std::string_view key, audit::IdempotencyAction action) {
  return note(audit::Idempotency{.subject = {}, .idempotency_key = key, .action = action});
}

bool OperationTrail::breaker(std::string_view guard, audit::BreakerState state, Duration wait) {
  return note(audit::Breaker{.subject = {}, .key = guard, .state = state, .wait = wait});
}

template <class What>
bool OperationTrail::note(What what) {
  if (sink_ == nullptr) return true;
  what.subject = subject();
  return append(to_event(what));
}

bool OperationTrail::append(audit::Event event) {
  audit::add_context(event, *trail_);
  return taken(sink_->append(std::move(event)));
}

bool OperationTrail::taken(const Result<void>& appended) {
  if (!appended && !unaudited_) unaudited_ = appended.error();
  return appended.has_value();
}

}  // namespace pawl
