// Worker: runs the tasks of a queue with functions of the program.
//
//   pawl::Worker worker(queue, {.concurrency = 8});
//   worker.on("send_email", [&](pawl::TaskRun& task) {
//     const Answer answer = provider.send(task.input());
//     if (answer.status == 429) return pawl::TaskEnd::reschedule(answer.retry_after);
//     if (answer.status >= 500) return pawl::TaskEnd::retry("the provider is down");
//     if (answer.status >= 400) return pawl::TaskEnd::fail("the provider refused it");
//     return pawl::TaskEnd::completed(R"({"sent":true})");
//   });
//   const auto ended = worker.run();
//
// Contract: a handler returns how the task ended. Reschedule is "not now": the task sleeps, and
//           holds no worker meanwhile; retry is "something went wrong", by the task's own backoff.
//           Neither counts for the other. What a handler throws is caught, and is a retry.
//           The lease is renewed while the handler works. A task is run by one worker at a time, as
//           far as clocks and stops can be trusted; its fence tells later runs from earlier ones,
//           and an ending of a run that was lost is refused.
// Stops:    a handler should look at stop_asked() now and then: the task was cancelled, has used up
//           its timeout, was lost, or the worker ends. It is not interrupted.
// Threads:  handlers run on threads of the worker, `concurrency` at once; those that only begin the
//           work (AsyncHandler) on any, which they must not keep. on() before run(); run() and
//           run_once() on one thread at a time; stop() from any, handlers included. The queue
//           outlives it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "pawl/queue.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl {

// How a task ended.
class [[nodiscard]] TaskEnd {
 public:
  // The output is JSON text.
  static TaskEnd completed(std::string output = "null");
  // Something went wrong: again after the task's backoff, and not before `not_before` has passed;
  // failed when no retry is left.
  static TaskEnd retry(std::string error, Duration not_before = {});
  // Not now: again after the delay. With a scope, all of the task's key or type, or of the queue,
  // is closed for that time.
  static TaskEnd reschedule(Duration delay, TaskScope scope = TaskScope::task);
  // Of a reschedule: JSON text in place of the task's input, so that the next run can go on where
  // this one was.
  TaskEnd with_input(std::string input) &&;
  // For good.
  static TaskEnd fail(std::string error);

 private:
  friend class Worker;
  enum class Kind : std::uint8_t { completed, retry, reschedule, failed };
  TaskEnd() = default;

  Kind kind_ = Kind::completed;
  std::string text_;
  std::string input_;
  Duration delay_;
  TaskScope scope_ = TaskScope::task;
};

// A task while its handler runs.
class TaskRun {
 public:
  virtual ~TaskRun() = default;
  // As it was claimed: with its attempt and its fence.
  virtual const TaskInfo& info() const = 0;
  const std::string& id() const { return info().id; }
  const std::string& input() const { return info().input; }
  std::uint32_t attempt() const { return info().attempt; }
  std::uint64_t fence() const { return info().fence; }

  virtual bool stop_asked() const = 0;
  virtual std::string stop_reason() const = 0;
  // Somebody has cancelled the task: what it did so far may be undone, as it is not run again.
  virtual bool cancel_requested() const = 0;
  // Called once when it is asked to, also when it was asked already; on any thread.
  virtual void on_stop(std::function<void()> call) = 0;
  // How long the next lease is to be; when it ends then. The other form does not wait: `done` is
  // called once, on any thread.
  virtual Result<Instant> extend(Duration lease) = 0;
  virtual void extend(Duration lease, std::move_only_function<void(Result<Instant>)> done) = 0;
};

struct WorkerOptions {
  std::string name = {};  // shown in histories; empty: host and process
  std::uint32_t concurrency = 1;
  Duration lease = Duration::seconds(30);
  Duration drain = Duration::seconds(30);                // how long stop() lets handlers go on
  std::function<void(std::string_view text)> note = {};  // what somebody should look at; any thread
};

struct WorkerStats {
  std::uint64_t claimed = 0;
  std::uint64_t completed = 0;
  std::uint64_t retried = 0;
  std::uint64_t rescheduled = 0;
  std::uint64_t failed = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t timed_out = 0;
  std::uint64_t given_back = 0;  // by stop()
  std::uint64_t refused = 0;     // too late: another has it
};

class Worker {
 public:
  using Handler = std::function<TaskEnd(TaskRun& task)>;
  // Begins the work and says later, once and from any thread, how it ended; or lets `done` go, and
  // it is a retry. The task may be kept until then.
  using Ended = std::move_only_function<void(TaskEnd end)>;
  using AsyncHandler = std::function<void(std::shared_ptr<TaskRun> task, Ended done)>;

  explicit Worker(Queue& queue, WorkerOptions options = {});
  ~Worker();  // not while it runs
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void on(std::string_view type, Handler handler);
  void on(std::string_view type, AsyncHandler handler);

  // Until stop(). The error is that of a queue that does not take our claims.
  Result<WorkerStats> run() noexcept;
  // Until nothing is due.
  Result<WorkerStats> run_once() noexcept;
  // Claims nothing more, for good; run() returns when the handlers have ended, which are told to
  // stop when `drain` is over; the leases of those that do not are renewed meanwhile. What was not
  // begun is given back. Again: sooner, if it is sooner.
  void stop() noexcept;
  void stop(Duration drain) noexcept;
  // As stop(), but run() does not wait for handlers that only begin the work (AsyncHandler): for
  // when nobody is left to end it. Their tasks are due again when their leases are over.
  void abandon() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pawl
