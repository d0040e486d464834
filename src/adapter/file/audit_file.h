// AuditFile: the audit log as a file (`audit.sinks: [file:PATH]`); several processes may share it.
//
// Contract: append() hands the event to a writer thread; flush() waits until the disk has it. The
//           writer takes all that waits at once: one write and one sync for many events.
//
//             full      see Bounds. append() waits or fails (unavailable, not_applied), as on_full
//                       says.
//             no room   on the disk. With `block` the writer tries again until there is some, and
//                       the queue fills meanwhile. With `fail` the sink turns failed.
//             failed    append() and flush() return the reason; only a new start helps.
//
//           The destructor writes what is left; with `block` and no room it waits for room.
// Bounds:   queue_events_max events, or about bounds::audit_queue_bytes_max bytes, that are not yet
//           durable; about bounds::audit_batch_bytes_max bytes a write.
// Threads:  any. The one writer is started by open() and receives no signals.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "adapter/file/chain_file.h"
#include "base/bounds.h"
#include "port/event_sink.h"

namespace pawl {

enum class OnFull : std::uint8_t { block, fail };

struct AuditFileOptions {
  std::string path;
  OnFull on_full = OnFull::block;
  std::size_t queue_events_max = bounds::audit_queue_events_max;
};

class AuditFile final : public EventSink {
 public:
  static Result<std::unique_ptr<AuditFile>> open(const AuditFileOptions& options);
  ~AuditFile() override;

  Result<void> append(audit::Event event) override;
  Result<void> flush() override;
  Result<void> health() override;
  std::uint64_t lag() const override;

  // The latest that an operator should read: a repair after a crash, a disk without room. Empty
  // when there is nothing new since the last call. To be asked after open() and now and then.
  std::string take_note();

 private:
  AuditFile(ChainFile file, const AuditFileOptions& options);

  bool is_full() const;
  void write_until_closed();
  std::vector<audit::Draft> take_batch();
  Result<void> write(const std::vector<audit::Draft>& batch);

  ChainFile file_;  // the writer's alone
  const OnFull on_full_;
  const std::size_t queue_events_max_;

  mutable std::mutex mutex_;          // guards what follows
  std::condition_variable work_;      // tells the writer: events wait, or the end has come
  std::condition_variable progress_;  // tells callers: more is durable, or the sink has failed
  std::deque<audit::Draft> queue_;
  std::uint64_t appended_ = 0;
  std::uint64_t durable_ = 0;
  std::size_t lag_bytes_ = 0;
  std::optional<Error> failed_;
  bool closing_ = false;
  std::string note_;

  std::thread writer_;  // starts when all the rest stands
};

}  // namespace pawl
