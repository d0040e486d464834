// Event: one decision, as the audit log keeps it.
//
// Contract: field names are the ones users search by (docs/audit-events.md). An event says what was
//           decided, about what and for whom. Never a secret.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/correlation.h"
#include "base/json.h"
#include "pawl/time.h"

namespace pawl::audit {

enum class EventType : std::uint8_t {
  limit,     // a limiter allowed or refused
  pace,      // a session's pacer let a call leave, wait or fail, was closed or reopened
  request,   // a guarded request ended, with its outcome
  config,    // the configuration in force changed
  rejected,  // the framing gate refused a request
};
std::string_view to_string(EventType type);

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
