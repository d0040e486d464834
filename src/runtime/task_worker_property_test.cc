// Goal: kill workers anywhere, lose answers, stop time: every task ends once, by its fence, and
// nobody is told that one was completed which was not.
// Method: random workers, handlers and faults on one machine; then one good worker, and the history
// of every task is read.
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <vector>

#include "core/queue/machine_fixture.h"
#include "runtime/task_queue_fixture.h"
#include "runtime/task_worker.h"

namespace pawl {
namespace {

using Fault = MachineQueue::Fault;
using Kind = TaskEnding::Kind;
using queue::Status;
using queue::TaskId;

constexpr int steps = 150;
constexpr std::uint32_t tasks = 12;
constexpr std::size_t workers_max = 3;
constexpr int passes_max = 500;

class Chaos {
 public:
  explicit Chaos(std::uint64_t seed) : dice_(seed) {
    for (std::uint32_t i = 1; i <= tasks; ++i) submit(i);
  }

  void run() {
    for (int i = 0; i < steps; ++i) step();
    calm_down();
  }
  void check() const {
    for (std::uint32_t i = 1; i <= tasks; ++i) {
      const TaskId id = queue::id_of(i);
      const auto history = queue_.machine.history(id);
      RC_ASSERT(history.has_value());
      int completed = 0;
      int ended = 0;
      for (const queue::Version& version : history->versions) {
        completed += version.status == Status::completed ? 1 : 0;
        ended += queue::is_over(version.status) ? 1 : 0;
      }
      RC_ASSERT(ended == 1);
      RC_ASSERT(queue::is_over(history->versions.back().status));
      const auto told = told_.find(id);
      const int times = told == told_.end() ? 0 : told->second;
      RC_ASSERT(times <= completed);
    }
  }

 private:
  struct Work {
    std::shared_ptr<HandledTask> task;
    std::move_only_function<void(TaskEnding)> done;
  };

  bool chance(int percent) { return below(100) < static_cast<std::uint64_t>(percent); }
  std::uint64_t below(std::uint64_t end) {
    return std::uniform_int_distribution<std::uint64_t>(0, end - 1)(dice_);
  }

  void submit(std::uint32_t number) {
    queue::TaskTerms terms{.type = "t",
                           .input = "{}",
                           .key = chance(50) ? "k" : "",
                           .max_retries = 1'000,
                           .timeout = Duration::seconds(std::int64_t(5 + below(60))),
                           .retry = {.max_delay = Duration::seconds(5)}};
    queue_.give({queue::Submit{.id = queue::id_of(number), .terms = std::move(terms)}},
                [](const auto&) {});
  }
  std::unique_ptr<TaskWorker> worker(bool good) {
    auto made = std::make_unique<TaskWorker>(
        queue_,
        WorkerSettings{.name = "w", .types = {"t"}, .concurrency = std::uint32_t(1 + below(4))},
        [this, good](std::shared_ptr<HandledTask> task,
                     std::move_only_function<void(TaskEnding)> done) {
          if (good) return done({});
          works_.push_back({.task = std::move(task), .done = std::move(done)});
        },
        TaskWorker::World{clock_, timers_, {.ended = [this](const TaskAttemptEnd& end) {
                            if (end.how == TaskAttemptEnd::How::completed) ++told_[end.task.id];
                          }}});
    made->start();
    return made;
  }
  TaskEnding ending() {
    switch (below(6)) {
      case 0:
        return {.kind = Kind::retry, .error = "reset"};
      case 1:
        return {.kind = Kind::reschedule,
                .delay = Duration::seconds(std::int64_t(below(10))),
                .scope = chance(30) ? queue::Scope::key : queue::Scope::task};
      case 2:
        return {.kind = Kind::failed, .error = "never"};
      default:
        return {};
    }
  }
  void end_one() {
    if (works_.empty()) return;
    const auto place = works_.begin() + static_cast<std::ptrdiff_t>(below(works_.size()));
    Work work = std::move(*place);
    works_.erase(place);
    work.done(ending());
  }
  void step() {
    const std::uint64_t kind = below(100);
    if (kind < 30) {
      end_one();
    } else if (kind < 55) {
      timers_.advance(Duration::milliseconds(std::int64_t(below(12'000))));
    } else if (kind < 68) {
      if (workers_.size() < workers_max) workers_.push_back(worker(false));
    } else if (kind < 76) {  // killed
      if (!workers_.empty()) workers_.erase(workers_.begin());
    } else if (kind < 80) {
      if (!workers_.empty()) workers_.back()->drain(Duration::seconds(std::int64_t(below(5))));
    } else if (kind < 88) {
      queue_.give_faults.push_back(chance(50) ? Fault::before : Fault::after);
    } else if (kind < 92) {
      queue_.holds = true;
    } else if (kind < 97) {
      queue_.let_go();
    } else {
      queue_.give({queue::Cancel{.id = queue::id_of(std::uint32_t(1 + below(tasks)))}},
                  [](const auto&) {});
    }
  }
  void calm_down() {
    workers_.clear();
    works_.clear();
    queue_.give_faults.clear();
    queue_.let_go();
    const auto good = worker(true);
    for (int i = 0; i < passes_max && !all_over(); ++i) timers_.advance(Duration::seconds(5));
    RC_ASSERT(all_over());
  }
  bool all_over() const {
    for (std::uint32_t i = 1; i <= tasks; ++i) {
      const auto task = queue_.machine.find(queue::id_of(i));
      if (!task || !queue::is_over(task->status)) return false;
    }
    return true;
  }

  std::mt19937_64 dice_;
  ManualClock clock_;
  ManualTimers timers_{clock_};
  MachineQueue queue_{clock_, timers_};
  std::map<TaskId, int> told_;
  std::vector<Work> works_;
  std::vector<std::unique_ptr<TaskWorker>> workers_;
};

RC_GTEST_PROP(TaskWorkerChaos, EndsEveryTaskOnce, (std::uint64_t seed)) {
  Chaos chaos(seed);
  chaos.run();
  chaos.check();
}

}  // namespace
}  // namespace pawl
