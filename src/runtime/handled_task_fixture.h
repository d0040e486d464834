// FakeHandledTask: a task as a handler sees it, without a worker.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "runtime/task_worker.h"

namespace pawl {

class FakeHandledTask final : public HandledTask {
 public:
  const queue::Task& task() const override { return given; }
  bool stop_asked() const override { return false; }
  std::string stop_reason() const override { return "it was cancelled"; }
  bool cancel_asked() const override { return true; }
  Duration stop_grace() const override { return grace; }
  void on_stop(std::function<void()> call) override { stop = std::move(call); }
  void extend(Duration, std::move_only_function<void(Result<Instant>)>) override {}

  queue::Task given;
  Duration grace = Duration::seconds(3);
  std::function<void()> stop;
};

}  // namespace pawl
