#include "pawl/worker.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <future>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "adapter/system/own_name.h"
#include "base/bounds_queue.h"
#include "library/queue_state.h"
#include "port/answer_of.h"
#include "runtime/task_worker.h"

namespace pawl {
namespace {

using Job = std::move_only_function<void()>;

// So many threads that run what they are given, until they are told to end. One that begins wakes
// the next, if there is more: so few of them do what is quickly done.
class Threads {
 public:
  ~Threads() { close(); }

  Result<void> open(std::uint32_t count) {
    try {
      for (std::uint32_t i = 0; i < count; ++i) threads_.emplace_back([this] { run(); });
    } catch (const std::system_error& error) {
      return failure(Code::unavailable, std::string("no more threads can be had: ") + error.what());
    }
    return {};
  }
  void add(Job job) {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
    wake_one();
  }
  // Waits for those that run; the others are let go.
  void close() {
    std::deque<Job> let_go;
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
      let_go.swap(jobs_);
      changed_.notify_all();
    }
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      while (!closed_ && jobs_.empty()) {
        ++idle_;
        changed_.wait(lock);
        --idle_;
        waking_ = false;
      }
      if (closed_) return;
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      if (!jobs_.empty()) wake_one();
      lock.unlock();
      job();
      job = {};
      lock.lock();
    }
  }

  void wake_one() {
    if (idle_ == 0 || std::exchange(waking_, true)) return;
    changed_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::size_t idle_ = 0;
  bool waking_ = false;  // one was told to, and is not there yet
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

class Run final : public TaskRun {
 public:
  explicit Run(std::shared_ptr<HandledTask> task)
      : task_(std::move(task)), info_(library::info_of(task_->task())) {}

  const TaskInfo& info() const override { return info_; }
  bool stop_asked() const override { return task_->stop_asked(); }
  std::string stop_reason() const override { return task_->stop_reason(); }
  bool cancel_requested() const override { return task_->cancel_asked(); }
  void on_stop(std::function<void()> call) override { task_->on_stop(std::move(call)); }
  Result<Instant> extend(Duration lease) override {
    try {
      return answer_of<Instant>([&](auto done) { task_->extend(lease, std::move(done)); });
    } catch (const std::future_error&) {  // the worker has gone without a word
      return failure(Code::refused, "the worker has ended");
    }
  }
  void extend(Duration lease, std::move_only_function<void(Result<Instant>)> done) override {
    task_->extend(lease, std::move(done));
  }

 private:
  const std::shared_ptr<HandledTask> task_;
  const TaskInfo info_;
};

// Of what is thrown just now.
TaskEnd end_by_exception() {
  try {
    throw;
  } catch (const std::exception& error) {
    return TaskEnd::retry(std::string("the handler threw: ") + error.what());
  } catch (...) {
    return TaskEnd::retry("the handler threw something that is no std::exception");
  }
}

TaskEnd end_of(const Worker::Handler& handler, TaskRun& run) {
  try {
    return handler(run);
  } catch (...) {
    return end_by_exception();
  }
}

// The handler's word counts, once; what it throws instead counts as well.
void begin(const Worker::AsyncHandler& handler, std::shared_ptr<TaskRun> run, Worker::Ended done) {
  const auto ended = std::make_shared<Worker::Ended>(std::move(done));
  try {
    handler(std::move(run), [ended](TaskEnd end) { (*ended)(std::move(end)); });
  } catch (...) {
    (*ended)(end_by_exception());
  }
}

WorkerStats stats_of(const WorkerCounts& counts) {
  return {.claimed = counts.claimed,
          .completed = counts.completed,
          .retried = counts.retried,
          .rescheduled = counts.rescheduled,
          .failed = counts.failed,
          .cancelled = counts.cancelled,
          .timed_out = counts.timed_out,
          .given_back = counts.given_back,
          .refused = counts.refused};
}

}  // namespace

TaskEnd TaskEnd::completed(std::string output) {
  TaskEnd end;
  end.text_ = std::move(output);
  return end;
}

TaskEnd TaskEnd::retry(std::string error, Duration not_before) {
  TaskEnd end;
  end.kind_ = Kind::retry;
  end.text_ = std::move(error);
  end.delay_ = not_before;
  return end;
}

TaskEnd TaskEnd::reschedule(Duration delay, TaskScope scope) {
  TaskEnd end;
  end.kind_ = Kind::reschedule;
  end.delay_ = delay;
  end.scope_ = scope;
  return end;
}

TaskEnd TaskEnd::with_input(std::string input) && {
  input_ = std::move(input);
  return std::move(*this);
}

TaskEnd TaskEnd::fail(std::string error) {
  TaskEnd end;
  end.kind_ = Kind::failed;
  end.text_ = std::move(error);
  return end;
}

struct Worker::State {
  State(std::shared_ptr<Queue::State> queue_, WorkerOptions options_)
      : queue(std::move(queue_)), options(std::move(options_)) {}

  static TaskEnding ending_of(TaskEnd end);
  bool wants_threads() const;
  Result<WorkerStats> run(bool once);
  WorkerSettings settings(bool once) const;
  TaskWorker::World world() const;

  const std::shared_ptr<Queue::State> queue;
  const WorkerOptions options;
  std::map<std::string, std::variant<Handler, AsyncHandler>, std::less<>> handlers;

  std::mutex mutex;  // of what follows
  bool stopped = false;
  TaskWorker* at_work = nullptr;
};

TaskEnding Worker::State::ending_of(TaskEnd end) {
  using Kind = TaskEnd::Kind;
  switch (end.kind_) {
    case Kind::completed:
      return {.kind = TaskEnding::Kind::completed, .output = std::move(end.text_)};
    case Kind::retry:
      return {.kind = TaskEnding::Kind::retry, .error = std::move(end.text_), .delay = end.delay_};
    case Kind::reschedule:
      return {.kind = TaskEnding::Kind::reschedule,
              .delay = end.delay_,
              .scope = library::scope_of(end.scope_),
              .input = std::move(end.input_)};
    case Kind::failed:
      return {.kind = TaskEnding::Kind::failed, .error = std::move(end.text_)};
  }
  __builtin_unreachable();
}

bool Worker::State::wants_threads() const {
  return std::ranges::any_of(handlers, [](const auto& handler) {
    return std::holds_alternative<Handler>(handler.second);
  });
}

WorkerSettings Worker::State::settings(bool once) const {
  WorkerSettings settings{.name = options.name.empty() ? own_name() : options.name,
                          .concurrency = options.concurrency,
                          .lease = options.lease,
                          .once = once,
                          .gather = worker_gather,
                          .waits = true};
  for (const auto& [type, handler] : handlers) settings.types.push_back(type);
  return settings;
}

TaskWorker::World Worker::State::world() const {
  TaskWorker::World world{.clock = queue->clock, .timers = queue->office->timers()};
  if (options.note) {
    world.hooks.note = [note = options.note](const std::string& text) { note(text); };
  }
  return world;
}

Result<WorkerStats> Worker::State::run(bool once) {
  if (handlers.empty()) {
    return failure(Code::usage, "there is no handler: say what to do with on() first");
  }
  if (options.concurrency < 1 || options.concurrency > bounds::worker_concurrency_max) {
    return failure(Code::invalid, "concurrency is " + std::to_string(options.concurrency) +
                                      "; it must be 1 to " +
                                      std::to_string(bounds::worker_concurrency_max));
  }
  if (options.lease < worker_lease_min || options.lease > bounds::task_lease_max) {
    return failure(Code::invalid, "the lease is " + to_string(options.lease) + "; it must be " +
                                      to_string(worker_lease_min) + " to " +
                                      to_string(bounds::task_lease_max));
  }
  Threads threads;
  PAWL_TRY(threads.open(wants_threads() ? options.concurrency : 0));
  const auto handle = [this, &threads](const std::shared_ptr<HandledTask>& task, auto done) {
    const auto found = handlers.find(task->task().terms.type);
    if (found == handlers.end()) {  // nobody asked for it
      return done(
          {.kind = TaskEnding::Kind::retry, .error = "there is no handler of its type here"});
    }
    const auto& handler = found->second;
    if (const auto* later = std::get_if<AsyncHandler>(&handler)) {
      return begin(
          *later, std::make_shared<Run>(task),
          [done = std::move(done)](TaskEnd end) mutable { done(ending_of(std::move(end))); });
    }
    threads.add([task, &handler, done = std::move(done)]() mutable {
      Run run(task);
      done(ending_of(end_of(std::get<Handler>(handler), run)));
    });
  };
  TaskWorker worker(queue->office->queue(), settings(once), handle, world());
  bool ends_at_once = false;
  {
    const std::lock_guard lock(mutex);
    ends_at_once = stopped;
    at_work = &worker;
  }
  if (ends_at_once) worker.drain(Duration());  // before it has claimed anything
  worker.start();
  const Result<void> ended = worker.wait();
  {
    const std::lock_guard lock(mutex);
    at_work = nullptr;
  }
  threads.close();
  if (!ended) return std::unexpected(ended.error());
  return stats_of(worker.counts());
}

Worker::Worker(Queue& queue, WorkerOptions options)
    : state_(std::make_unique<State>(queue.state_, std::move(options))) {}

Worker::~Worker() = default;

void Worker::on(std::string_view type, Handler handler) {
  state_->handlers.insert_or_assign(std::string(type), std::move(handler));
}

void Worker::on(std::string_view type, AsyncHandler handler) {
  state_->handlers.insert_or_assign(std::string(type), std::move(handler));
}

Result<WorkerStats> Worker::run() noexcept {
  return state_->run(false);
}

Result<WorkerStats> Worker::run_once() noexcept {
  return state_->run(true);
}

void Worker::stop() noexcept {
  stop(state_->options.drain);
}

void Worker::stop(Duration drain) noexcept {
  const std::lock_guard lock(state_->mutex);
  state_->stopped = true;
  if (state_->at_work != nullptr) state_->at_work->drain(drain);
}

void Worker::abandon() noexcept {
  const std::lock_guard lock(state_->mutex);
  state_->stopped = true;
  if (state_->at_work != nullptr) state_->at_work->abandon();
}

}  // namespace pawl
