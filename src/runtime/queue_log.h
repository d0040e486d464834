// QueueLog: one shard of the queue, as this process sees it: a replica that follows the log in the
// object store, and appends to it. It drives core/queue/append.h and machine.h.
//
//   QueueLog log({.writer = "host-17"}, {clock, timers, store, entropy}, {});
//   log.open([](Result<void> opened) { … });
//   log.submit({queue::Submit{…}}, [](Result<std::vector<queue::Reply>> replies) { … });
//
// Contract: submit() is answered once: with a reply for each command, when these are durable and
//           applied; or with an error, whose outcome says whether they may be in the log. All
//           commands of a call stand in one segment, in their order. Commands whose outcome is
//           unknown may be given again (command.h).
// Commits:  at once when there is nothing under way; what comes meanwhile goes together with the
//           next. When many come, a commit waits for a moment, so that more share it: see
//           core/queue/gather.h.
// Follows:  looks for segments of others every `poll_min` after news, and less and less often
//           without, down to `poll_max`; at once when the store's watch says so, or poll().
// Trouble:  a store that is away is tried again, for ever. Callers are told after the `deadline`:
//           unavailable. A segment that is damaged, missing, or of a newer format stops the shard:
//           everything from then on is answered with an error that names it. Nothing is skipped.
//           What cannot be read is read a second time first.
// Time:     time() is what a segment would be stamped with: store_time.h. Where the log's own time
//           is ahead of our clocks by more than a minute, whoever opened it hears so (note): until
//           they are there, it goes on at half its pace.
// Snapshot: whoever commits and sees that it is time writes one, and collects what nobody needs any
//           more (core/queue/collect.h).
// Full:     where the state has more than `state_bytes_max`, by the newest snapshot and what was
//           written since, calls with a submit are refused; endings are not. Then and now a segment
//           without commands lets go what was kept for long enough, and a snapshot is written to
//           see what there is.
// Bounds:   bounds::segment_*, queue_bytes_max, queue_waiting_max callers.
// Threads:  any. Callbacks come one at a time, on any thread that is in here, one of the store's or
//           one of the timers'; they may call back into the log, but not block or destroy it.
// Lifetime: the ports outlive it. Destroying it answers whoever waits still.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/bounds_queue.h"
#include "core/queue/collect.h"
#include "core/queue/command.h"
#include "core/queue/gather.h"
#include "core/queue/machine.h"
#include "pawl/clock.h"
#include "pawl/result.h"
#include "port/entropy.h"
#include "port/object_store.h"
#include "port/timers.h"

namespace pawl {

// Since the start.
struct QueueLogNumbers {
  std::uint64_t commits = 0;
  std::uint64_t commands = 0;  // in those
  std::uint64_t callers = 0;   // in those
  std::uint64_t bytes = 0;     // in those
  Duration commit_time = {};   // of all together, from the first call to the answer
  Duration commit_time_max = {};
  std::uint64_t conflicts = 0;  // places lost to others
  std::uint64_t followed = 0;   // segments of others
  std::uint64_t polls = 0;      // looks for news
  std::uint64_t reopened = 0;
  std::uint64_t snapshots = 0;
  std::uint64_t collected = 0;  // objects deleted
  std::uint64_t troubles = 0;   // calls of the store that failed
};

class QueueLog {
 public:
  template <class T>
  using Done = std::move_only_function<void(Result<T>)>;
  using Replies = std::vector<queue::Reply>;

  struct Options {
    std::uint8_t shard = 0;
    queue::Settings settings = {};
    std::string writer = {};         // for people: host, process
    queue::GatherTerms gather = {};  // by what a put costs
    Duration deadline = Duration::seconds(30);
    Duration poll_min = Duration::milliseconds(20);
    Duration poll_max = Duration::seconds(4);
    bool follows = true;  // false: sees what others did when it commits, or is told to poll()
    Duration grace = Duration::hours(1);
    queue::SnapshotRule snapshots = {};
    std::size_t ahead = 16;  // segments read at once while catching up
    std::uint64_t state_bytes_max = bounds::queue_bytes_max;
    std::uint64_t part_bytes = std::uint64_t{16} * 1024 * 1024;  // of a snapshot, in one read
  };
  struct Ports {
    Clock& clock;
    Timers& timers;
    ObjectStore& store;
    Entropy& entropy;
  };
  struct Hooks {
    std::function<void()> applied = {};  // a segment, or a snapshot; or time made a leap
    std::function<void(const Error&)> stopped = {};     // for good
    std::function<void(const std::string&)> note = {};  // what an operator should know
  };

  QueueLog(Options options, Ports ports, Hooks hooks);
  ~QueueLog();
  QueueLog(const QueueLog&) = delete;
  QueueLog& operator=(const QueueLog&) = delete;

  // Done when the end of the log was reached. Once. The error: it is stopped, or the store gave
  // nothing for the `deadline` (it goes on trying).
  void open(Done<void> done);
  void submit(std::vector<queue::Command> commands, Done<Replies> done);
  // Looks for news now.
  void poll();
  // Done when what look() shows is no older than that: at once, or when the end of the log was seen
  // again. The error: it is stopped, or the store was away for the `deadline`.
  void refresh(Duration at_most, Done<void> done);
  // The state, as far as it was followed. `with` must be quick: nothing is applied meanwhile.
  void look(const std::function<void(const queue::Machine&)>& with) const;
  // Takes no more, and is done when everybody who waits was answered, and a snapshot that was begun
  // is written, if that takes no longer than the `deadline`.
  void close(std::move_only_function<void()> done);

  // By the queue's clock, as far as this process knows it.
  Instant time() const;
  QueueLogNumbers numbers() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // late answers of the store may outlive this
};

}  // namespace pawl
