// The events of retries and of idempotency keys, as builders: each struct becomes an Event with
// exactly the fields that docs/audit-events.md lists for its type, and nothing else. Whoever knows
// more (what a decision was made of) appends it to the event's details.
//
// Contract: pure. An idempotency key is written whole: a shortened one finds nothing. A delay is an
//           exact decimal number of seconds. Every operation leaves one retry_attempt before each
//           retry, and at its end exactly one of retry_succeeded and retry_exhausted; statistics
//           count on it (stats.h).
// Threads:  any; values. Texts are borrowed for the call.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/audit/event.h"
#include "pawl/result.h"

namespace pawl::audit {

// What all of them say.
struct RetrySubject {
  std::string_view category;  // retry::code(), or a caller's own; empty: none
  std::string_view operation;
  Correlation correlation = {};
  Instant timestamp = {};
};

struct RetryAttempt {
  RetrySubject subject;
  int attempt_number = 1;  // the one that failed
  int max_attempts = 1;
  Duration delay = {};  // until the next one
  std::string_view exception_type = {};
  std::string_view exception_message = {};
};
Event to_event(const RetryAttempt& attempt);

struct RetryExhausted {
  RetrySubject subject;
  int total_attempts = 1;
  std::string_view final_exception_type = {};
  std::string_view final_exception_message = {};
};
Event to_event(const RetryExhausted& exhausted);

struct RetrySucceeded {
  RetrySubject subject;
  int total_attempts = 1;
};
Event to_event(const RetrySucceeded& succeeded);

enum class IdempotencyAction : std::uint8_t {
  hit,           // the key was done before: its result is returned
  record,        // a result was stored
  in_flight,     // somebody else has the key
  mismatch,      // the key was used with another request
  stale,         // an owner that lost the key was refused
  take_over,     // the key was taken from an owner whose lease was over
  unknown,       // nobody knows how its owner ended
  unavailable,   // the store did not answer: nothing was begun
  not_recorded,  // the store did not take how it ended
  clear,         // somebody makes it as if it had never been used
  settle,        // somebody says how it ended
};
std::string_view to_string(IdempotencyAction action);
std::span<const IdempotencyAction> all_idempotency_actions();

struct Idempotency {
  RetrySubject subject;
  std::string_view idempotency_key;
  IdempotencyAction action = IdempotencyAction::hit;
};
Event to_event(const Idempotency& looked_up);

enum class BreakerState : std::uint8_t { open, half_open, closed };
std::string_view to_string(BreakerState state);
std::span<const BreakerState> all_breaker_states();

struct Breaker {
  RetrySubject subject;
  std::string_view key;  // whom it guards
  BreakerState state = BreakerState::open;
  Duration wait = {};  // until the next probe; zero when it closed
};
Event to_event(const Breaker& changed);

// A retry that was due and not made.
struct BudgetRefusal {
  RetrySubject subject;
  int attempt_number = 1;
};
Event to_event(const BudgetRefusal& refusal);

// Sent beside one that takes long.
struct Hedge {
  RetrySubject subject;
  int attempt_number = 2;
};
Event to_event(const Hedge& hedge);

// It is to be found out what became of an attempt, and what was found.
struct ReconcileAhead {
  RetrySubject subject;
  int attempt_number = 1;  // the one whose outcome is unknown; 0: somebody else's
  Duration delay = {};
};
Event to_event(const ReconcileAhead& ahead);

struct Reconciliation {
  RetrySubject subject;
  int attempt_number = 1;
  Outcome found;  // not_applied: absence is shown
};
Event to_event(const Reconciliation& reconciliation);

// It became a task, and goes on when that is due.
struct Slept {
  RetrySubject subject;
  std::string_view task_id;
  int attempt_number = 1;  // the last one that was made
  Duration delay = {};     // until it goes on
};
Event to_event(const Slept& slept);

struct Woke {
  RetrySubject subject;
  std::string_view task_id;
  int attempt_number = 1;
  Duration slept = {};  // as long as it did, by the world's clock
};
Event to_event(const Woke& woke);

// Seconds as an exact decimal number: 1.05, 0.5, 2.
json::Value seconds_number(Duration duration);

}  // namespace pawl::audit
