// Event: one decision, as the audit log keeps it.
//
// Contract: field names are the ones users search by (docs/audit-events.md). An event says what was
//           decided, about what and for whom. Never a secret: what looks like one is masked when
//           the record is written (chain.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/correlation.h"
#include "base/json.h"
#include "pawl/time.h"

namespace pawl::audit {

enum class EventType : std::uint8_t {
  limit,              // a limiter allowed or refused
  pace,               // a session's pacer let a call leave, wait or fail, was closed or reopened
  request,            // a guarded request ended, with its outcome
  config,             // the configuration in force changed
  rejected,           // the framing gate refused a request
  retry_attempt,      // an attempt failed and another will follow
  retry_exhausted,    // an operation was given up
  retry_succeeded,    // an operation succeeded, at its first attempt or a later one
  idempotency,        // a key was looked up or recorded
  breaker,            // a circuit breaker opened or closed
  budget,             // a retry budget had no retry left
  hedge,              // a second attempt was sent beside one that takes long
  reconcile,          // somebody looked what became of an attempt of unknown outcome
  quota,              // a quota allowed or refused
  order,              // an order changed its state
  task,               // a task of the queue changed its state
  limit_near,         // a tenant has used most of a bucket, once a window
  operation_slept,    // an operation became a task of the queue, until its next attempt is due
  operation_resumed,  // it goes on
};
std::string_view to_string(EventType type);
// Every one, in the order above.
std::span<const EventType> all_event_types();

using Correlation = pawl::Correlation;

struct Event {
  EventType type;
  Instant timestamp;
  std::string operation;
  Correlation correlation;
  // Further fields; names are literals of the code, never input.
  std::vector<std::pair<std::string_view, json::Value>> details;
};

}  // namespace pawl::audit
