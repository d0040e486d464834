// Goal: a worker on a queue of several shards works on in those that are well, whatever the others
//       do; and what it has to say survives a store that is away for longer than a lease.
// Method: a worker on a queue over its log, in memory, with a store that fails by shard; handlers
//         that end when the test says so, and time moved by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "runtime/local_queue_fixture.h"
#include "runtime/task_worker.h"

namespace pawl {
namespace {

using queue::Status;
using queue::TaskId;
using Fault = MemoryObjectStore::Fault;

class WorkersOnShards : public LocalQueues {
 protected:
  ~WorkersOnShards() override {
    worker.reset();
    timers.close();
  }

  TaskId submitted(std::uint8_t shard) {
    queue::Submit made = submit_to(shard);
    made.terms.timeout = Duration::hours(1);
    return reply<queue::Submitted>(give(*one, {std::move(made)})).id;
  }
  void work() {
    worker = std::make_unique<TaskWorker>(
        *one->queue,
        WorkerSettings{.name = "w", .types = {"t"}, .concurrency = concurrency, .lease = lease},
        [this](std::shared_ptr<HandledTask> task, auto done) {
          const TaskId id = task->task().id;
          works[id] = {std::move(task), std::move(done)};
        },
        TaskWorker::World{clock, timers});
    worker->start();
  }
  bool is_stopped(TaskId id) { return works.at(id).task->stop_asked(); }
  void end(TaskId id) { std::exchange(works.at(id).done, {})({}); }
  // Of the puts of a shard.
  void fail_puts(const std::string& shard, Fault fault) {
    one->store->set_faults([shard, fault](MemoryObjectStore::Call call, const std::string& name) {
      const bool hit = call == MemoryObjectStore::Call::put && name.starts_with("log/" + shard);
      return hit ? fault : Fault::none;
    });
  }
  queue::Task task(TaskId id) {
    const auto found = ask<queue::Task>([&](auto done) { one->queue->find(id, std::move(done)); });
    timers.advance(Duration::seconds(2));  // where the last look was a while ago
    return got(found);
  }

  struct Work {
    std::shared_ptr<HandledTask> task;
    std::move_only_function<void(TaskEnding)> done;
  };
  const Duration lease = Duration::seconds(30);
  std::uint32_t concurrency = 8;
  std::unique_ptr<Process> one = process_of_two();
  std::map<TaskId, Work> works;
  std::unique_ptr<TaskWorker> worker;

 private:
  std::unique_ptr<Process> process_of_two() {
    settings.shards = 2;
    return process();
  }
};

TEST_F(WorkersOnShards, GoOnInTheOthersWhenOneHasStopped) {
  const TaskId good = submitted(0);
  const TaskId ended = submitted(0);
  const TaskId bad = submitted(1);
  work();
  ASSERT_EQ(works.size(), 3U);
  damage(1, objects->list({.under = "log/01/"}).entries.size());
  timers.advance(Duration::minutes(2));
  EXPECT_TRUE(is_stopped(bad));
  EXPECT_FALSE(is_stopped(good)) << "its renewals were taken";
  EXPECT_EQ(works.at(good).task->task().attempt, 1U);
  end(ended);
  EXPECT_EQ(task(ended).status, Status::completed);
  const TaskId fresh = submitted(0);
  EXPECT_TRUE(works.contains(fresh)) << "and claims go on";
  EXPECT_FALSE(worker->is_over());
}

TEST_F(WorkersOnShards, DoNotWaitForOneThatDoesNotAnswer) {
  const TaskId good = submitted(0);
  const TaskId ended = submitted(0);
  const TaskId slow = submitted(1);
  work();
  ASSERT_EQ(works.size(), 3U);
  fail_puts("01", Fault::held);
  end(slow);
  timers.advance(Duration::seconds(1));
  end(ended);
  timers.advance(Duration::seconds(1));
  EXPECT_EQ(task(ended).status, Status::completed);
  timers.advance(Duration::seconds(27));
  EXPECT_FALSE(is_stopped(good)) << "its renewals do not wait behind the other shard";
  EXPECT_EQ(worker->counts().completed, 1U);
}

TEST_F(WorkersOnShards, ClaimNothingOfWhatAHandlerIsAboutToClose) {
  concurrency = 1;
  const TaskId first = submitted(0);
  const TaskId second = submitted(1);
  work();
  ASSERT_EQ(works.size(), 1U);
  ASSERT_TRUE(works.contains(first));
  fail_puts("00", Fault::held);
  std::exchange(works.at(first).done, {})({.kind = TaskEnding::Kind::reschedule,
                                           .delay = Duration::minutes(1),
                                           .scope = queue::Scope::type});
  timers.advance(Duration::seconds(1));
  EXPECT_FALSE(works.contains(second)) << "it is not closed yet, and free to be claimed";
  one->store->set_faults({});
  one->store->release();
  timers.advance(Duration::seconds(10));
  EXPECT_FALSE(works.contains(second)) << "it is closed";
  timers.advance(Duration::minutes(2));
  EXPECT_TRUE(works.contains(second)) << "it is open again";
}

TEST_F(WorkersOnShards, StartThoughOneHasStopped) {
  const TaskId good = submitted(0);
  submitted(1);
  damage(1, objects->list({.under = "log/01/"}).entries.size());
  one = process();
  work();
  EXPECT_TRUE(works.contains(good));
  EXPECT_EQ(works.size(), 1U);
  EXPECT_THAT(one->notes, ::testing::ElementsAre(::testing::HasSubstr("one of its 2 shards")));
  const auto all = ask<queue::Stats>([&](auto done) { one->queue->stats(std::move(done)); });
  EXPECT_EQ(error(all).code, Code::invalid) << "nobody knows all of them";
}

TEST_F(WorkersOnShards, CompleteWhatEndedWhileTheStoreWasAwayForLongerThanTheLease) {
  const TaskId id = submitted(0);
  work();
  fail_puts("", Fault::failed);
  end(id);
  timers.advance(Duration::minutes(3));
  EXPECT_EQ(worker->counts().completed + worker->counts().refused, 0U);
  one->store->set_faults({});
  timers.advance(Duration::seconds(30));
  EXPECT_EQ(worker->counts().completed, 1U);
  EXPECT_EQ(task(id).status, Status::completed);
  EXPECT_EQ(task(id).attempt, 1U);
}

TEST_F(WorkersOnShards, EndWithTheErrorWhenAllHaveStopped) {
  submitted(0);
  work();
  end(works.begin()->first);
  for (std::uint8_t shard = 0; shard < 2; ++shard) {
    const std::string folder = queue::segment_name(shard, 1).substr(0, 7);
    damage(shard, objects->list({.under = folder}).entries.size());
  }
  timers.advance(Duration::minutes(2));
  ASSERT_TRUE(worker->is_over());
  EXPECT_EQ(worker->wait().error().code, Code::invalid);
}

}  // namespace
}  // namespace pawl
