// ManualTimers: calls that wait until the test has moved the clock far enough.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "port/timers.h"
#include "runtime/manual_clock.h"

namespace pawl {

class ManualTimers final : public Timers {
 public:
  explicit ManualTimers(ManualClock& clock) : clock_(clock) {}

  Id after(Duration wait, Call call) override {
    if (closed_) {
      call(true);
      return {};
    }
    const std::lock_guard lock(mutex_);
    const Id id{.due = clock_.steady_now() + wait, .number = ++last_number_};
    waiting_.emplace(id, std::move(call));
    return id;
  }
  void cancel(Id id) override {
    Call call;
    const std::lock_guard lock(mutex_);
    const auto found = waiting_.find(id);
    if (found == waiting_.end()) return;
    call = std::move(found->second);
    waiting_.erase(found);
  }
  std::size_t waiting() const { return waiting_.size(); }
  // Goes from one call to the next until `until` has passed.
  void advance(Duration by) {
    const SteadyInstant until = clock_.steady_now() + by;
    while (Call call = next(until)) call(false);
    clock_.advance(until - clock_.steady_now());
  }
  void close() {
    closed_ = true;
    while (Call call = next(SteadyInstant::max())) call(true);
  }

 private:
  Call next(SteadyInstant until) {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty() || waiting_.begin()->first.due > until) return {};
    if (until != SteadyInstant::max()) {
      clock_.advance(std::max(Duration(), waiting_.begin()->first.due - clock_.steady_now()));
    }
    Call call = std::move(waiting_.begin()->second);
    waiting_.erase(waiting_.begin());
    return call;
  }

  ManualClock& clock_;
  std::mutex mutex_;
  std::map<Id, Call> waiting_;
  std::uint64_t last_number_ = 0;
  bool closed_ = false;
};

}  // namespace pawl
