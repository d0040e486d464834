// EventSink: where audit events go for good.
//
// Contract: append() takes the event or says why not; it never drops one. While the sink is full it
//           waits or fails, as the sink was set up (audit.on_full). Events come to rest in the
//           order of their append() calls. flush() returns once everything appended before it is
//           durable.
// Threads:  any.
// Held by:  adapter/file; adapter/memory for tests and simulation.
#pragma once

#include <cstdint>

#include "core/audit/event.h"
#include "pawl/result.h"

namespace pawl {

class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual Result<void> append(audit::Event event) = 0;
  virtual Result<void> flush() = 0;
  // The error that append() would give now, whatever the event.
  virtual Result<void> health() { return {}; }
  // Events appended and not yet durable.
  virtual std::uint64_t lag() const = 0;
};

}  // namespace pawl
