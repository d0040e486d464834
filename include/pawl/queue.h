// Queue: tasks that can sleep, kept in a folder or a bucket and nowhere else.
//
//   auto queue = pawl::Queue::open("dir:data/queue");
//   if (!queue) return tell(queue.error().message);
//   const auto task = queue->submit("call_api", R"({"url":"https://example.org"})",
//                                   {.key = "example.org", .max_reschedules = 100});
//   if (task) std::cout << task->id << "\n";
//
// URL:      dir:PATH | s3://BUCKET/PREFIX?endpoint=…&region=… (keys from the environment, as
//           AWS_ACCESS_KEY_ID) | http://HOST:PORT[,HOST:PORT…][?store=URL], a `pawl serve` that
//           has the queue (its token from PAWL_ADMIN_TOKEN), and its store for when none answers |
//           memory:, which ends with the object.
// Contract: what was submitted, ended, cancelled or closed is durable before the call returns. Any
//           number of processes may share a queue. Inputs and outputs are JSON text. get() and the
//           like show what is at most two seconds old; own changes are always seen.
// Again:    an error with Outcome::unknown may have been committed. The same submit with the same
//           id, or under the same unique name, is one task.
// Errors:   values; nothing here throws. invalid: a URL, a name, an input that is none. refused:
//           the unique name has another input; the task cannot be cancelled or replayed any more.
//           not_found: no such task, or it was over and is no longer kept. unavailable: the store
//           does not answer.
// Waiting:  each call blocks, or takes a `done` that is called once instead, on any thread and
//           perhaps before the call returns. It must not block, nor destroy the queue.
// Threads:  any may call all of it. Moving and destroying are for one thread alone. Destroying
//           waits until what was given is committed. Workers (worker.h) end before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/clock.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl {

struct QueueOptions {
  std::string url = "dir:data/queue";
  std::uint32_t shards = 0;  // of a new queue; 0: as it is, or 1
  Duration kept = {};        // tasks that are over; zero: as it is, or 7 days
  bool makes = true;         // the queue, if it is not there
  std::function<void(std::string_view text)> note = {};  // what somebody should look at; any thread
};

enum class TaskStatus : std::uint8_t {
  pending = 1,
  running,
  completed,
  failed,
  cancelled,
  expired,
};
std::string_view to_string(TaskStatus status);

// Retries of what went wrong: base_delay · multiplierⁿ ± jitter, at most max_delay; or a table,
// whose last entry repeats.
struct TaskRetries {
  Duration base_delay = Duration::seconds(1);
  Duration max_delay = Duration::seconds(60);
  double multiplier = 2.0;
  double jitter = 0.25;
  std::vector<Duration> delays = {};
};

struct SubmitOptions {
  // 24 hexadecimal digits of one's own making; empty: made here. The first two are its shard's, and
  // replaced: it is known by the id that is answered.
  std::string id = {};
  std::string key = {};       // what limits and closings go by
  std::string unique = {};    // at most one task of this name among those of its key
  std::int32_t priority = 0;  // higher first
  std::uint32_t max_retries = 3;
  std::optional<std::uint32_t> max_reschedules = {};  // none: unlimited
  Duration timeout = Duration::seconds(300);          // of one attempt
  TaskRetries retries = {};
  Duration delay = {};
  std::optional<Instant> at = {};  // in place of the delay
  // Where it waits when that is over, also for a retry or put off, it expires. Zero: never.
  Duration time_to_live = {};
  std::optional<Instant> expires_at = {};  // in place of it
};

struct NewTask {
  std::string type = {};
  std::string input = "{}";  // JSON text
  SubmitOptions options = {};
};

struct SubmittedTask {
  std::string id = {};
  bool fresh = true;  // false: it was there already
};

struct TaskInfo {
  std::string id = {};
  std::string type = {};
  std::string input = {};
  std::string key = {};
  std::string unique = {};
  TaskStatus status = TaskStatus::pending;
  std::int32_t priority = 0;
  std::uint32_t attempt = 0;  // claims so far
  std::uint32_t retry_count = 0;
  std::uint32_t max_retries = 0;
  std::uint32_t reschedule_count = 0;
  std::optional<std::uint32_t> max_reschedules = {};
  Duration timeout = {};
  Instant created_at = {};
  Instant available_at = {};
  Instant updated_at = {};
  std::optional<Instant> expires_at = {};
  std::optional<Instant> lease_expires_at = {};  // while it runs
  std::optional<Instant> completed_at = {};      // of any end
  std::uint64_t fence = 0;                       // of the last claim
  std::string worker = {};
  std::string output = {};  // when completed
  std::string last_error = {};
  bool cancel_requested = false;
  std::string cancelled_by = {};
};

struct TaskQuery {
  std::optional<TaskStatus> status = {};
  std::string type = {};   // empty: all
  std::string key = {};    // empty: all
  std::string after = {};  // the last id of the page before
  std::size_t limit = 100;
};

struct TaskVersion {
  Instant at = {};
  TaskStatus status = TaskStatus::pending;
  std::string text = {};  // "Version 3: pending (rescheduled, available_at: +60s, count: 1)"
};

// Why a task does not run.
struct TaskWhy {
  enum class Hold : std::uint8_t {
    is_over = 1,
    running,      // worker, until
    not_due,      // until
    closed,       // scope, name, until
    rate,         // scope, name, until
    concurrency,  // scope, name: as many run as may
    waits,        // it may be claimed; `ahead` of its type come first
  };
  Hold hold = Hold::waits;
  std::string scope = {};  // key, type, queue
  std::string name = {};
  std::optional<Instant> until = {};
  std::uint64_t ahead = 0;
  std::string worker = {};
};

enum class TaskScope : std::uint8_t { task = 1, key, type, queue };

// Nothing of it is claimed before `until`; then what waits is let go evenly over `spread`. An
// `until` that is past opens it.
struct ScopeClosing {
  TaskScope scope = TaskScope::key;
  std::string name = {};  // of the key or type
  Instant until = {};
  Duration spread = {};
};

struct TypeStats {
  std::string type = {};
  std::uint64_t pending = 0;  // due or not
  std::uint64_t due = 0;
  std::uint64_t running = 0;
  std::uint64_t completed = 0;  // those that are kept, as the rest
  std::uint64_t failed = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t expired = 0;
  std::optional<Instant> oldest_due = {};
};

struct QueueStats {
  std::vector<TypeStats> types = {};
  // Since the queue was made, by all.
  std::uint64_t submitted = 0;
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;
  std::uint64_t retried = 0;
  std::uint64_t rescheduled = 0;
  // Of this process, or of the broker.
  std::uint64_t commits = 0;
  std::uint64_t puts = 0;
  std::uint64_t gets = 0;
  std::uint64_t lists = 0;
  std::uint64_t deletes = 0;
  std::string store = {};
};

class Queue {
 public:
  // Without a clock it is the machine's own. A clock given must outlive it. A folder's and a
  // bucket's files have times of their own, which count for more: a program that moves its clock by
  // hand tests with memory:.
  static Result<Queue> open(const QueueOptions& options, Clock* clock = nullptr) noexcept;
  static Result<Queue> open(std::string_view url, Clock* clock = nullptr) noexcept;

  Queue(Queue&& other) noexcept;
  Queue& operator=(Queue&& other) noexcept;
  ~Queue();

  Result<SubmittedTask> submit(std::string_view type, std::string_view input = "{}",
                               const SubmitOptions& options = {}) noexcept;
  // In few commits. Each has its own answer; the error is that of the whole.
  Result<std::vector<Result<SubmittedTask>>> submit_many(
      const std::vector<NewTask>& tasks) noexcept;

  Result<TaskInfo> get(std::string_view id) noexcept;
  Result<std::vector<TaskInfo>> list(const TaskQuery& query = {}) noexcept;
  Result<std::vector<TaskVersion>> history(std::string_view id) noexcept;  // the oldest first
  Result<TaskWhy> why(std::string_view id) noexcept;

  // What the task is then: one that runs is asked to stop, and stays running meanwhile.
  Result<TaskStatus> cancel(std::string_view id, std::string_view why = {}) noexcept;
  // Of one that failed, was cancelled or expired: from the start.
  Result<TaskStatus> replay(std::string_view id) noexcept;
  Result<void> close(const ScopeClosing& closing) noexcept;
  Result<QueueStats> stats() noexcept;
  // By the queue's own clock, which may be another than this machine's: what closes "in five
  // minutes" does so by this one.
  Instant now() const noexcept;

  // The same without waiting.
  template <class T>
  using Done = std::move_only_function<void(Result<T>)>;
  void submit(const NewTask& task, Done<SubmittedTask> done) noexcept;
  void submit_many(const std::vector<NewTask>& tasks,
                   Done<std::vector<Result<SubmittedTask>>> done) noexcept;
  void get(std::string_view id, Done<TaskInfo> done) noexcept;
  void list(const TaskQuery& query, Done<std::vector<TaskInfo>> done) noexcept;
  void history(std::string_view id, Done<std::vector<TaskVersion>> done) noexcept;
  void why(std::string_view id, Done<TaskWhy> done) noexcept;
  void cancel(std::string_view id, std::string_view why, Done<TaskStatus> done) noexcept;
  void replay(std::string_view id, Done<TaskStatus> done) noexcept;
  void close(const ScopeClosing& closing, Done<void> done) noexcept;
  void stats(Done<QueueStats> done) noexcept;

 private:
  friend class DurableOperation;
  friend class Worker;
  struct State;
  explicit Queue(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace pawl
