// EventSink: where audit events go for good.
//
// Contract: append() takes the event or says why not; it never drops one. While the sink is full it
//           waits or fails, as the sink was set up (audit.on_full); whoever must not wait asks
//           has_room() before it begins something. Events come to rest in the order of their
//           append() calls. flush() returns once everything appended before it is durable.
// Threads:  any.
// Held by:  adapter/file, adapter/nats; adapter/memory for tests and simulation.
#pragma once

#include <cstdint>
#include <string>

#include "core/audit/event.h"
#include "core/audit/late.h"
#include "pawl/result.h"

namespace pawl {

class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual Result<void> append(audit::Event event) = 0;
  // The same, for what need not be put into words at once.
  virtual Result<void> append_late(audit::Late late) { return append(to_event(late)); }
  // False: so many events wait that nothing new should be begun. There is room yet for those of
  // what has begun; append() of one who does not ask waits or fails once that is used up too.
  // Costs a caller nothing.
  virtual bool has_room() const { return true; }
  virtual Result<void> flush() = 0;
  // The error that append() would give now, whatever the event, or what holds the writer up.
  virtual Result<void> health() { return {}; }
  // The error that append() will give for good: nothing is taken any more.
  virtual Result<void> alive() const { return {}; }
  // Events appended and not yet durable.
  virtual std::uint64_t lag() const = 0;
  // The latest that an operator should read. Empty when there is nothing new since the last call.
  // To be asked once the sink is open, and now and then.
  virtual std::string take_note() { return {}; }
};

}  // namespace pawl
