// Success: that an operation succeeded, for a log that puts it into words later.
//
// Why:      most operations succeed, the words of an event take microseconds, and whoever has just
//           succeeded need not wait for them.
// Contract: pure. to_event() gives the retry_succeeded of retry_event.h, with its decision. To make
//           one and to move it asks for no memory. Its trail is one that check() accepts, so that
//           no log finds it too large when it is too late to say so.
// Threads:  values; a trail is shared and does not change.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "core/audit/event.h"
#include "core/audit/retry_event.h"
#include "core/retry/decide.h"

namespace pawl::audit {

// What all events of an operation say of it.
struct Trail {
  std::string category = {};
  std::string operation = {};
  Correlation correlation = {};
  std::map<std::string, std::string> context = {};  // what its caller adds
  retry::Policy policy = {};

  RetrySubject subject(Instant now) const {
    return {
        .category = category, .operation = operation, .correlation = correlation, .timestamp = now};
  }
};

// Whether its texts have at most bounds::audit_trail_bytes_max bytes.
Result<void> check(const Trail& trail);

struct Success {
  std::shared_ptr<const Trail> trail;
  retry::Facts facts = {};
  retry::Decision decision = {};
  Instant timestamp = {};
};
Event to_event(const Success& success);

// What every event of a trail has besides its own: `context`, where there is one.
void add_context(Event& event, const Trail& trail);

}  // namespace pawl::audit
