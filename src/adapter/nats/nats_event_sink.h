// NatsEventSink: the audit log as a JetStream stream (`audit.sinks: [nats://host:port/stream]`);
// several processes may share it.
//
// Contract: EventSink. append() hands the event to a writer thread; flush() waits until the server
//           has acknowledged it. The writer takes all that waits at once: one message for many
//           events. The messages of subject pawl.audit.STREAM, one after the other, are the bytes
//           that a file would hold: a record a line, one unbroken chain.
// Once:     a message is taken only behind the one it was linked to (nats_connection.h). After a
//           lost answer the stream is asked whether it came; if it did not, the same bytes are sent
//           under the same condition, so a late copy and a new one cannot both be kept. No window
//           of time is relied upon.
// Trouble:  a server that is away, full or slow: the writer tries until it is served, health() says
//           why not, and the queue fills meanwhile; see port/event_queue.h for what then happens.
//           failed, for good: the stream does not end as pawl left it (emptied, or its end lost
//           with the server's disk), or holds something else. A person has to look; a new start
//           goes on from what is there.
//           The destructor writes what is left: with `block` it waits for the server, with `fail`
//           it gives up when there is none.
// Survives: what the stream's storage does, see nats_connection.h: with a file, the end of the
//           server process, and not a power cut.
// Threads:  any. The one writer is started by open() and receives no signals.
#pragma once

#include <memory>
#include <thread>

#include "base/bounds.h"
#include "base/nats_url.h"
#include "port/event_queue.h"
#include "port/event_sink.h"
#include "port/record_store.h"

namespace pawl {

struct NatsEventSinkOptions {
  nats::NatsUrl url;
  EventQueue::Options queue = {};
  Duration deadline = bounds::nats_deadline;  // of one message
};

class NatsEventSink final : public EventSink {
 public:
  // Makes the stream where it is missing, and reads where its chain ends.
  static Result<std::unique_ptr<NatsEventSink>> open(const NatsEventSinkOptions& options);
  ~NatsEventSink() override;

  Result<void> append(audit::Event event) override { return queue_.append(event); }
  Result<void> append_late(audit::Late late) override { return queue_.append(std::move(late)); }
  bool has_room() const override { return queue_.has_room(); }
  Result<void> flush() override { return queue_.flush(); }
  Result<void> health() override { return queue_.health(); }
  Result<void> alive() const override { return queue_.alive(); }
  std::uint64_t lag() const override { return queue_.lag(); }
  Durability durability() const;

 private:
  class ChainStream;
  NatsEventSink(std::unique_ptr<ChainStream> stream, const EventQueue::Options& options);

  void write_until_closed();

  EventQueue queue_;
  std::unique_ptr<ChainStream> stream_;  // the writer's alone
  const Durability durability_;
  std::thread writer_;  // starts when all the rest stands
};

}  // namespace pawl
