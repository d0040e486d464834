// WatchedQueue: a queue that tells of the tasks which put themselves off through it.
//
// Contract: TaskQueue, as the one inside. `rescheduled` is called on any thread, with the task's
//           type, after the reschedule was committed; a task that is given back is none.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "port/task_queue.h"

namespace pawl::cli {

class WatchedQueue final : public TaskQueue {
 public:
  using Rescheduled = std::function<void(const std::string& type, Duration delay)>;

  WatchedQueue(TaskQueue& inside, Rescheduled rescheduled)
      : inside_(inside), rescheduled_(std::move(rescheduled)) {}

  void give(std::vector<queue::Command> commands, Done<std::vector<queue::Reply>> done) override;
  void claim(ClaimAsk ask, Done<ClaimedTasks> done) override {
    inside_.claim(std::move(ask), std::move(done));
  }
  void find(queue::TaskId id, Done<queue::Task> done) override {
    inside_.find(id, std::move(done));
  }
  void history(queue::TaskId id, Done<queue::History> done) override {
    inside_.history(id, std::move(done));
  }
  void why(queue::TaskId id, Done<queue::Why> done) override { inside_.why(id, std::move(done)); }
  void list(queue::TaskFilter filter, Done<std::vector<queue::Task>> done) override {
    inside_.list(std::move(filter), std::move(done));
  }
  void stats(Done<queue::Stats> done) override { inside_.stats(std::move(done)); }
  void followed_stats(Done<queue::Stats> done) override { inside_.followed_stats(std::move(done)); }
  void schedules(Done<std::vector<queue::Schedule>> done) override {
    inside_.schedules(std::move(done));
  }
  void closings(Done<std::vector<queue::Closing>> done) override {
    inside_.closings(std::move(done));
  }
  void limits(Done<std::vector<queue::SetLimit>> done) override { inside_.limits(std::move(done)); }
  QueueView view() override { return inside_.view(); }
  void stop_claims() override { inside_.stop_claims(); }

 private:
  TaskQueue& inside_;
  const Rescheduled rescheduled_;
};

}  // namespace pawl::cli
