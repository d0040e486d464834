// MemoryEventSink: audit events kept in memory, for tests and simulation.
//
// Contract: nothing outlives the process, so an event is as durable as it gets once append()
//           returns, and lag() is always 0. An event too large for a record is refused, as in a
//           file.
// Bounds:   `events_max` events; then append() fails with unavailable, not_applied.
// Threads:  any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/bounds.h"
#include "port/event_sink.h"

namespace pawl {

class MemoryEventSink final : public EventSink {
 public:
  explicit MemoryEventSink(std::size_t events_max = bounds::audit_queue_events_max)
      : events_max_(events_max) {}

  Result<void> append(audit::Event event) override;
  Result<void> flush() override { return {}; }
  std::uint64_t lag() const override { return 0; }

  // All that were appended, oldest first.
  std::vector<audit::Event> events() const;

 private:
  const std::size_t events_max_;
  mutable std::mutex mutex_;
  std::vector<audit::Event> events_;
};

}  // namespace pawl
