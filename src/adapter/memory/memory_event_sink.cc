#include "adapter/memory/memory_event_sink.h"

#include <string>
#include <utility>

#include "core/audit/chain.h"

namespace pawl {

Result<void> MemoryEventSink::append(audit::Event event) {
  const Result<audit::Draft> draft = audit::draft(event);
  if (!draft) return std::unexpected(draft.error());
  const std::lock_guard guard(mutex_);
  if (events_.size() >= events_max_) {
    return failure(Code::unavailable, "the audit log in memory is full: it keeps " +
                                          std::to_string(events_max_) + " events");
  }
  events_.push_back(std::move(event));
  return {};
}

std::vector<audit::Event> MemoryEventSink::events() const {
  const std::lock_guard guard(mutex_);
  return events_;
}

}  // namespace pawl
