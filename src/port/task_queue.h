// TaskQueue: a queue as its users reach it: its own log (runtime/local_queue.h), or a broker that
// has it (runtime/remote_queue.h).
//
// Contract: `done` is called exactly once, on any thread, and must not keep it. A command is
//           durable before `done` says what became of it. An error with the outcome `unknown` may
//           have been committed: it may be given again as it is (command.h).
// Looking:  find() and the like show the queue as of a moment ago, at most bounds::queue_look_age
//           old; own commands are always seen.
// Threads:  any.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/queue/command.h"
#include "core/queue/machine.h"
#include "pawl/result.h"
#include "pawl/time.h"
#include "port/object_store.h"

namespace pawl {

struct ClaimAsk {
  queue::Claim claim = {};
  Duration wait = {};  // until something is due; zero: only what is due now
};
// What was claimed, and since when it is ours: `waited` after the call at the earliest. The leases
// are to be counted from then, by the caller's own clock: the answer may have taken its time.
struct ClaimedTasks {
  std::vector<queue::Task> tasks = {};
  Duration waited = {};
};
struct QueueView {
  queue::Settings settings = {};
  std::string store = {};       // for people; and where to go when this way is closed
  RequestCounts requests = {};  // of this process, as the rest
  std::uint64_t commits = 0;
  std::uint64_t commands = 0;
  Duration commit_time = {};   // of all commits together, from the first call to the answer
  std::uint64_t segments = 0;  // of the log, by all, since the queue was made
  Instant now = {};            // by the queue's own clock, as far as is known here
};

class TaskQueue {
 public:
  template <class T>
  using Done = std::move_only_function<void(Result<T>)>;

  virtual ~TaskQueue() = default;
  // Each goes to the shard of its task; a Close, SetLimit of a type or the queue to every shard. A
  // reply for each, in order. Not for claims.
  virtual void give(std::vector<queue::Command> commands, Done<std::vector<queue::Reply>> done) = 0;
  // What is due, of any shard, at most `count`; empty when nothing became due in time.
  virtual void claim(ClaimAsk ask, Done<ClaimedTasks> done) = 0;

  virtual void find(queue::TaskId id, Done<queue::Task> done) = 0;
  virtual void history(queue::TaskId id, Done<queue::History> done) = 0;
  virtual void why(queue::TaskId id, Done<queue::Why> done) = 0;
  virtual void list(queue::TaskFilter filter, Done<std::vector<queue::Task>> done) = 0;
  virtual void stats(Done<queue::Stats> done) = 0;
  // The same as it was followed, for who looks again and again: a store that is followed anyhow is
  // asked nothing for it.
  virtual void followed_stats(Done<queue::Stats> done) { stats(std::move(done)); }
  virtual void schedules(Done<std::vector<queue::Schedule>> done) = 0;
  virtual void closings(Done<std::vector<queue::Closing>> done) = 0;
  virtual void limits(Done<std::vector<queue::SetLimit>> done) = 0;
  virtual QueueView view() = 0;
  // When the first claim that waits would be answered; breaks off those that wait.
  virtual void stop_claims() = 0;
};

}  // namespace pawl
