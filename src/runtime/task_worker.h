// TaskWorker: claims tasks, has them handled, and tells the queue how each ended.
//
//   TaskWorker worker(queue, {.name = "w1", .types = {"mail"}, .concurrency = 8}, handler,
//                     {clock, timers});
//   worker.start();
//   PAWL_TRY(worker.wait());
//
// Contract: at most `concurrency` tasks are handled at once; claims ask for as many as there is
//           room, and a handler is begun as soon as its claim is committed; leases count from
//           then, however late the answer is, and what has none left is not begun but given back.
//           The lease of each is renewed while its handler works (at a third of the lease); a
//           renewal that is refused, or a cancel that was asked, is told to the handler
//           (HandledTask::on_stop), whose ending is then refused by its fence, or makes the task
//           cancelled.
//           A handler is told to stop a moment before the task's timeout, or a lease that cannot be
//           renewed, is over, and how long it has (HandledTask::stop_grace): so that it has ended
//           when somebody else begins. The task is retried as "timed out after …"; what is
//           completed by then is completed.
//           A handler that lets `done` go without a word has failed, and is retried.
// Endings:  those of many handlers go in one give() a shard: the first waits for the `gather` time
//           for those that are handled still, and claims wait with it. What one shard does not take
//           does not hold up the others. One whose commit fails is given again until the queue
//           itself has said what became of it: the store may have been away for longer than the
//           lease, and the task is still ours where nobody claimed it. Given up, when its lease is
//           over, is what a queue refuses as a whole, or (with `once`) does not take for
//           bounds::worker_patience. Room is there as soon as a handler has ended, so that the next
//           claim goes into the same commit as the last endings; twice `concurrency` tasks may be
//           handled or untold.
// Drain:    drain() claims nothing more, waits at most so long for what is being handled, then
//           tells the rest to stop. What is claimed and not begun, or stopped by this and to be
//           retried, is given back: due at once, not counted; so is what a signal ended while we
//           drain, or within bounds::worker_hearing before it, as whoever stops a whole group
//           tells the handlers too (TaskEnding::interrupted). It does not block; wait() does, and
//           returns within bounds::worker_last_words of the time that drain() gave, or (with
//           `waits`) of the last handler's end: leases are renewed until then.
// Errors:   a queue that cannot be reached is asked again and again, later and later (with `once`
//           for bounds::worker_patience); one that does not take our claims ends the worker.
// Threads:  any. Handlers are called on the thread that answered the claim; they must not keep it.
//           The hooks are called one after the other, and must not destroy the worker.
// Lifetime: queue, clock and timers outlive it. Destroying it stops the handlers and does not wait
//           for them; what they say later goes nowhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/queue/task.h"
#include "pawl/clock.h"
#include "pawl/result.h"
#include "pawl/time.h"
#include "port/task_queue.h"
#include "port/timers.h"

namespace pawl {

// How a handler's work ended.
struct TaskEnding {
  enum class Kind : std::uint8_t { completed, retry, reschedule, failed };
  Kind kind = Kind::completed;
  std::string output = {};                  // completed: JSON text; empty: null
  std::string error = {};                   // retry, failed; completed: what somebody should hear
  Duration delay = {};                      // reschedule; retry: not before
  queue::Scope scope = queue::Scope::task;  // reschedule
  std::string input = {};                   // reschedule: in place of the task's; empty: as it was
  bool tried = true;         // false, of a reschedule: it was not begun, and is given back
  bool interrupted = false;  // retry: ended by a signal that may have been meant for us too
};

// Shared by the handler and the worker while the task is handled.
class HandledTask {
 public:
  virtual ~HandledTask() = default;
  virtual const queue::Task& task() const = 0;  // with its fence
  virtual bool stop_asked() const = 0;          // cancelled, lost, timed out or draining
  virtual std::string stop_reason() const = 0;  // empty: nobody has asked
  virtual bool cancel_asked() const = 0;        // it was cancelled, whatever else it stops for
  // From when it was asked to stop until somebody else may begin; bounds::handler_grace at most.
  virtual Duration stop_grace() const = 0;
  // Called once, also when it was asked already; on any thread.
  virtual void on_stop(std::function<void()> call) = 0;
  // Beyond the automatic renewal: how long the next lease is to be.
  virtual void extend(Duration lease, std::move_only_function<void(Result<Instant>)> done) = 0;
};

using TaskHandler = std::function<void(std::shared_ptr<HandledTask> task,
                                       std::move_only_function<void(TaskEnding)> done)>;

// For handlers that run at once: time enough for those that end at once to end together.
inline constexpr Duration worker_gather = Duration::milliseconds(1);
// Below it a lease is over before its task could have begun.
inline constexpr Duration worker_lease_min = Duration::milliseconds(100);

struct WorkerSettings {
  std::string name = {};  // host, process; shown in history
  std::vector<std::string> types = {};
  std::uint32_t concurrency = 1;
  Duration lease = Duration::seconds(30);
  bool once = false;     // ends when nothing is due
  Duration gather = {};  // zero: an ending is given at once
  bool waits = false;    // for handlers that cannot be ended from outside, however long they take
};
struct WorkerCounts {
  std::uint64_t claimed = 0;
  // Of what was claimed, by how the queue took the ending.
  std::uint64_t completed = 0, retried = 0, rescheduled = 0, failed = 0, cancelled = 0,
                timed_out = 0;
  std::uint64_t given_back = 0;  // by drain(), or not begun
  std::uint64_t refused = 0;     // too late: the fence was another's, or the lease over
  std::uint64_t running = 0;     // now
};

// An attempt that is over, once the queue has its ending.
struct TaskAttemptEnd {
  enum class How : std::uint8_t {
    completed,
    retried,
    rescheduled,
    failed,
    cancelled,
    timed_out,
    given_back,
    refused,
  };
  How how = How::completed;
  const queue::Task& task;  // as it was claimed
  std::string error = {};
  Duration delay = {};  // rescheduled
  Duration took = {};   // from the claim to the handler's word
};
std::string_view to_string(TaskAttemptEnd::How how);

struct WorkerHooks {
  std::function<void(const queue::Task& task)> claimed = {};
  std::function<void(const TaskAttemptEnd& end)> ended = {};
  std::function<void(const std::string& text)> note = {};  // what somebody should look at
};

class TaskWorker {
 public:
  struct World {
    Clock& clock;
    Timers& timers;
    WorkerHooks hooks = {};
  };

  TaskWorker(TaskQueue& queue, WorkerSettings settings, TaskHandler handler, World world);
  ~TaskWorker();
  TaskWorker(const TaskWorker&) = delete;
  TaskWorker& operator=(const TaskWorker&) = delete;

  void start();
  // Until `once` is done, or drain() was called and all ended.
  Result<void> wait();
  // Whether wait() would return at once.
  bool is_over() const;
  // Again: sooner, if it is sooner.
  void drain(Duration at_most);
  // wait() returns now; what is handled is left to its lease.
  void abandon();
  WorkerCounts counts() const;

  class Impl;  // task_worker_state.h

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace pawl
