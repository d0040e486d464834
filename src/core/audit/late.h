// Late: what happened, for a log that puts it into words later.
//
// Why:      the words of an event take microseconds, and nearly everything that happens is one of
//           these three. Whoever waits for an answer need not wait for them.
// Contract: pure. To make one asks for no memory: texts, counts and the answer are borrowed for the
//           call that takes them (backlog.h copies them), and a trail is shared. to_event() says
//           the same in the general form; what a log writes of both is the same, to the byte.
// Threads:  values.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <variant>

#include "core/audit/event.h"
#include "core/audit/success.h"
#include "core/limit/decide.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::audit {

// A Correlation, borrowed.
struct Ids {
  Ids() = default;
  Ids(const Correlation& from)  // NOLINT(google-explicit-constructor)
      : tenant_id(from.tenant_id),
        request_id(from.request_id),
        external_reference(from.external_reference),
        correlation_id(from.correlation_id),
        trace_id(from.trace_id) {}

  std::string_view tenant_id = {};
  std::string_view request_id = {};
  std::string_view external_reference = {};
  std::string_view correlation_id = {};
  std::string_view trace_id = {};
};

// The limits allowed or refused: a `limit` event.
struct LimitDecided {
  Instant timestamp = {};
  std::string_view operation = {};
  Ids correlation = {};
  limit::Counts counts = {};
  const limit::Answer* answer = nullptr;
  std::int64_t cost = 1;
  // Owns the policies of the counts; none: they outlive the log.
  const std::shared_ptr<const void>* policies = nullptr;
};

// A guarded request is over: a `request` event.
struct RequestEnded {
  Instant timestamp = {};
  std::string_view operation = {};
  Ids correlation = {};
  Outcome outcome = Outcome::unknown;
  int status = 0;
};

using Late = std::variant<Success, LimitDecided, RequestEnded>;

Event to_event(const LimitDecided& decided);
Event to_event(const RequestEnded& ended);
Event to_event(const Late& late);

// Whether a record holds it, whatever its words come to. False: it may be too large, which only its
// words can tell.
bool surely_fits(const Late& late);

}  // namespace pawl::audit
