// SimEventSink: the audit log of a simulated world. It takes every event that a record can hold,
// never fills up, and keeps no more of an event than its type and operation, which is what
// checkers ask for.
//
// Contract: as port/event_sink.h; an event is at rest once append() returns.
// Bounds:   none; a simulated run is short.
// Threads:  any, as the port demands; a simulation has one.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/audit/chain.h"
#include "port/event_sink.h"

namespace pawl::sim {

class SimEventSink final : public EventSink {
 public:
  struct Kept {
    audit::EventType type;
    std::string operation;
  };

  Result<void> append(audit::Event event) override {
    const Result<audit::Draft> draft = audit::draft(event);
    if (!draft) return std::unexpected(draft.error());
    const std::lock_guard guard(mutex_);
    kept_.push_back({event.type, std::move(event.operation)});
    return {};
  }
  Result<void> flush() override { return {}; }
  std::uint64_t lag() const override { return 0; }

  // Oldest first.
  std::vector<Kept> kept() const {
    const std::lock_guard guard(mutex_);
    return kept_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Kept> kept_;
};

}  // namespace pawl::sim
