#include "core/audit/retry_event.h"

#include "base/text.h"

namespace pawl::audit {
namespace {

using Details = std::vector<std::pair<std::string_view, json::Value>>;

constexpr std::array<IdempotencyAction, 11> actions = {
    IdempotencyAction::hit,      IdempotencyAction::record,      IdempotencyAction::in_flight,
    IdempotencyAction::mismatch, IdempotencyAction::stale,       IdempotencyAction::take_over,
    IdempotencyAction::unknown,  IdempotencyAction::unavailable, IdempotencyAction::not_recorded,
    IdempotencyAction::clear,    IdempotencyAction::settle,
};

constexpr std::array<BreakerState, 3> states = {BreakerState::open, BreakerState::half_open,
                                                BreakerState::closed};

Event event(EventType type, const RetrySubject& subject, Details details) {
  if (!subject.category.empty()) details.emplace_back("retry_category", subject.category);
  return {.type = type,
          .timestamp = subject.timestamp,
          .operation = std::string(subject.operation),
          .correlation = subject.correlation,
          .details = std::move(details)};
}

}  // namespace

json::Value seconds_number(Duration duration) {
  constexpr std::int64_t second = 1'000'000'000;
  constexpr std::size_t places = 9;
  const std::int64_t ns = duration.ns();
  // Magnitudes are unsigned: the shortest duration has no positive counterpart.
  const std::uint64_t size =
      ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  std::string text = ns < 0 ? "-" : "";
  append_number(text, size / second);
  std::string fraction = std::to_string(size % second);
  fraction.insert(0, places - fraction.size(), '0');
  fraction.erase(fraction.find_last_not_of('0') + 1);  // npos + 1 is 0
  if (!fraction.empty()) text.append(".").append(fraction);
  return json::Number{std::move(text)};
}

Event to_event(const RetryAttempt& attempt) {
  return event(EventType::retry_attempt, attempt.subject,
               {{"attempt_number", attempt.attempt_number},
                {"max_attempts", attempt.max_attempts},
                {"delay_seconds", seconds_number(attempt.delay)},
                {"exception_type", attempt.exception_type},
                {"exception_message", attempt.exception_message}});
}

Event to_event(const RetryExhausted& exhausted) {
  return event(EventType::retry_exhausted, exhausted.subject,
               {{"total_attempts", exhausted.total_attempts},
                {"final_exception_type", exhausted.final_exception_type},
                {"final_exception_message", exhausted.final_exception_message}});
}

Event to_event(const RetrySucceeded& succeeded) {
  return event(EventType::retry_succeeded, succeeded.subject,
               {{"total_attempts", succeeded.total_attempts}});
}

std::string_view to_string(IdempotencyAction action) {
  switch (action) {
    case IdempotencyAction::hit:
      return "hit";
    case IdempotencyAction::record:
      return "record";
    case IdempotencyAction::in_flight:
      return "in_flight";
    case IdempotencyAction::mismatch:
      return "mismatch";
    case IdempotencyAction::stale:
      return "stale";
    case IdempotencyAction::take_over:
      return "take_over";
    case IdempotencyAction::unknown:
      return "unknown";
    case IdempotencyAction::unavailable:
      return "unavailable";
    case IdempotencyAction::not_recorded:
      return "not_recorded";
    case IdempotencyAction::clear:
      return "clear";
    case IdempotencyAction::settle:
      return "settle";
  }
  __builtin_unreachable();
}

std::span<const IdempotencyAction> all_idempotency_actions() {
  return actions;
}

Event to_event(const Idempotency& looked_up) {
  return event(
      EventType::idempotency, looked_up.subject,
      {{"idempotency_key", looked_up.idempotency_key}, {"action", to_string(looked_up.action)}});
}

std::string_view to_string(BreakerState state) {
  switch (state) {
    case BreakerState::open:
      return "open";
    case BreakerState::half_open:
      return "half_open";
    case BreakerState::closed:
      return "closed";
  }
  __builtin_unreachable();
}

std::span<const BreakerState> all_breaker_states() {
  return states;
}

Event to_event(const Breaker& changed) {
  return event(EventType::breaker, changed.subject,
               {{"breaker", changed.key},
                {"state", to_string(changed.state)},
                {"delay_seconds", seconds_number(changed.wait)}});
}

Event to_event(const BudgetRefusal& refusal) {
  return event(EventType::budget, refusal.subject, {{"attempt_number", refusal.attempt_number}});
}

Event to_event(const Hedge& hedge) {
  return event(EventType::hedge, hedge.subject, {{"attempt_number", hedge.attempt_number}});
}

Event to_event(const ReconcileAhead& ahead) {
  return event(
      EventType::reconcile, ahead.subject,
      {{"attempt_number", ahead.attempt_number}, {"delay_seconds", seconds_number(ahead.delay)}});
}

Event to_event(const Reconciliation& reconciliation) {
  return event(EventType::reconcile, reconciliation.subject,
               {{"attempt_number", reconciliation.attempt_number},
                {"found", to_string(reconciliation.found)}});
}

Event to_event(const Slept& slept) {
  return event(EventType::operation_slept, slept.subject,
               {{"task_id", slept.task_id},
                {"attempt_number", slept.attempt_number},
                {"delay_seconds", seconds_number(slept.delay)}});
}

Event to_event(const Woke& woke) {
  return event(EventType::operation_resumed, woke.subject,
               {{"task_id", woke.task_id},
                {"attempt_number", woke.attempt_number},
                {"slept_seconds", seconds_number(woke.slept)}});
}

}  // namespace pawl::audit
