// Goal: workers, queue, log and store may meet on as many threads as they like.
// Method: real threads on a real queue, in memory and in a folder: several workers whose handlers
//         end on threads of their own, some at once, some after a retry, a reschedule or a longer
//         lease; others submit, cancel and look meanwhile. For the thread sanitizer above all.
#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <thread>

#include "adapter/system/system_clock.h"
#include "adapter/system/system_entropy.h"
#include "assembly/queue_office.h"
#include "core/queue/shards.h"
#include "port/answer_of.h"
#include "runtime/task_worker.h"
#include "tests/temp_folder.h"

namespace pawl {
namespace {

using Replies = std::vector<queue::Reply>;

// Threads on which handlers end.
class Hands {
 public:
  explicit Hands(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
  }
  ~Hands() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  void give(std::move_only_function<void()> call) {
    {
      const std::lock_guard lock(mutex_);
      calls_.push_back(std::move(call));
    }
    changed_.notify_one();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return over_ || !calls_.empty(); });
      if (calls_.empty()) return;
      auto call = std::move(calls_.front());
      calls_.pop_front();
      lock.unlock();
      call();
      call = nullptr;
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::move_only_function<void()>> calls_;
  bool over_ = false;
  std::vector<std::thread> threads_;
};

// How often each task was completed or cancelled.
class Ends {
 public:
  void count(const queue::TaskId& id) {
    const std::lock_guard lock(mutex_);
    ++ends_[id];
    changed_.notify_all();
  }
  void wait_for(std::size_t tasks) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ends_.size() >= tasks; });
  }
  void check() const {
    for (const auto& [id, times] : ends_) EXPECT_EQ(times, 1) << queue::to_string(id);
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<queue::TaskId, int> ends_;
};

class QueueOfficeThreads : public testing::TestWithParam<bool> {
 protected:
  static constexpr int submitters = 2;
  static constexpr int each = 40;

  // In a folder each worker has an office of its own, as processes do.
  std::unique_ptr<QueueOffice> open() {
    const std::string url = GetParam() ? "dir:" + (folder / "queue") : "memory:";
    return QueueOffice::open({.url = url}, {.clock = clock, .entropy = entropy}).value();
  }

  void handle(const std::shared_ptr<HandledTask>& task,
              std::move_only_function<void(TaskEnding)> done) {
    const std::uint32_t attempt = task->task().attempt;
    task->on_stop([] {});
    hands.give([task, attempt, done = std::move(done)]() mutable {
      const int kind = task->task().id.bytes[11] % 4;
      if (kind == 1 && attempt == 1) return done({.kind = TaskEnding::Kind::retry, .error = "no"});
      if (kind == 2 && attempt == 1) return done({.kind = TaskEnding::Kind::reschedule});
      if (kind != 3) return done({.kind = TaskEnding::Kind::completed});
      // Ends when the lease was made longer, on the thread that says so.
      task->extend(Duration::minutes(1), [done = std::move(done)](const Result<Instant>&) mutable {
        done({.kind = TaskEnding::Kind::completed});
      });
    });
  }
  std::unique_ptr<TaskWorker> worker(QueueOffice& office, const std::string& name) {
    auto made = std::make_unique<TaskWorker>(
        office.queue(),
        WorkerSettings{
            .name = name, .types = {"t"}, .concurrency = 4, .lease = Duration::minutes(5)},
        [this](std::shared_ptr<HandledTask> task, auto done) { handle(task, std::move(done)); },
        TaskWorker::World{clock, office.timers(),
                          WorkerHooks{.ended = [this](const TaskAttemptEnd& end) {
                            const bool over = end.how == TaskAttemptEnd::How::completed ||
                                              end.how == TaskAttemptEnd::How::cancelled;
                            if (over) ends.count(end.task.id);
                          }}});
    made->start();
    return made;
  }
  void submit_and_look(QueueOffice& office) {
    for (int i = 0; i < each; ++i) {
      queue::Submit submit{.id = queue::make_task_id(entropy.next()),
                           .terms = {.type = "t", .input = "{}"}};
      submit.terms.retry.base_delay = submit.terms.retry.max_delay = Duration::milliseconds(1);
      const auto replies =
          answer_of<Replies>([&](auto done) { office.queue().give({submit}, std::move(done)); });
      ASSERT_TRUE(replies);
      const auto id = std::get<queue::Submitted>(replies->front()).id;
      EXPECT_TRUE(
          answer_of<queue::Task>([&](auto done) { office.queue().find(id, std::move(done)); }));
      EXPECT_TRUE(
          answer_of<queue::Stats>([&](auto done) { office.queue().stats(std::move(done)); }));
      (void)office.queue().view();
    }
  }

  TempFolder folder;
  SystemClock clock;
  SystemEntropy entropy;
  Ends ends;
  Hands hands{3};
};

TEST_P(QueueOfficeThreads, EndEveryTaskOnce) {
  const auto one = open();
  const auto two = GetParam() ? open() : nullptr;
  QueueOffice& other = two ? *two : *one;
  {
    const auto first = worker(*one, "first");
    const auto second = worker(other, "second");
    std::vector<std::thread> threads;
    for (int i = 0; i < submitters; ++i) {
      threads.emplace_back([&, i] { submit_and_look(i == 0 ? *one : other); });
    }
    for (std::thread& thread : threads) thread.join();
    ends.wait_for(std::size_t{submitters} * each);
    first->drain(Duration::seconds(30));
    second->drain(Duration::seconds(30));
    EXPECT_TRUE(first->wait());
    EXPECT_TRUE(second->wait());
  }
  ends.check();
  one->close();
  if (two) two->close();
}

// Goes while handlers, claims and commits are under way.
TEST_P(QueueOfficeThreads, MayGoAtAnyMoment) {
  for (int i = 0; i < 5; ++i) {
    const auto office = open();
    auto doomed = worker(*office, "doomed");
    std::thread submits([&] { submit_and_look(*office); });
    if (i % 2 == 0) submits.join();
    doomed.reset();
    if (submits.joinable()) submits.join();
    office->close();
  }
}

INSTANTIATE_TEST_SUITE_P(Store, QueueOfficeThreads, testing::Bool(),
                         [](const auto& made) { return made.param ? "Folder" : "Memory"; });

}  // namespace
}  // namespace pawl
