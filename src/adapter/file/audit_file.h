// AuditFile: the audit log as a file (`audit.sinks: [file:PATH]`); several processes may share it.
//
// Contract: EventSink. append() hands the event to a writer thread; flush() waits until the disk
//           has it. The writer takes all that waits at once: one sync for many events.
// Trouble:  no room on the disk: with `block` the writer tries again until there is some, health()
//           says so, and the queue fills meanwhile; see port/event_queue.h for what then happens.
//           With `fail` the sink turns failed, as it does for good by every other error of the
//           disk; only a new start helps.
//           The destructor writes what is left; with `block` and no room it waits for room.
// Bounds:   those of the queue; about bounds::audit_batch_bytes_max bytes a sync.
// Threads:  any. The one writer is started by open() and receives no signals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "adapter/file/chain_file.h"
#include "base/bounds.h"
#include "base/on_full.h"
#include "port/event_queue.h"
#include "port/event_sink.h"

namespace pawl {

struct AuditFileOptions {
  std::string path;
  OnFull on_full = OnFull::block;
  std::int64_t part_bytes_max = ChainFileOptions{}.part_bytes_max;  // then a new file is begun
  std::size_t queue_events_max = bounds::audit_queue_events_max;
};

class AuditFile final : public EventSink {
 public:
  static Result<std::unique_ptr<AuditFile>> open(const AuditFileOptions& options);
  ~AuditFile() override;

  Result<void> append(audit::Event event) override { return queue_.append(event); }
  Result<void> append_late(audit::Late late) override { return queue_.append(std::move(late)); }
  bool has_room() const override { return queue_.has_room(); }
  Result<void> flush() override { return queue_.flush(); }
  Result<void> health() override { return queue_.health(); }
  Result<void> alive() const override { return queue_.alive(); }
  std::uint64_t lag() const override { return queue_.lag(); }
  // A repair after a crash, a disk without room.
  std::string take_note() override;

 private:
  AuditFile(ChainFile file, const AuditFileOptions& options);

  void write_until_closed();
  void note(std::string what);

  ChainFile file_;  // the writer's alone
  const OnFull on_full_;
  EventQueue queue_;
  std::mutex mutex_;  // guards the note
  std::string note_;
  std::thread writer_;  // starts when all the rest stands
};

}  // namespace pawl
