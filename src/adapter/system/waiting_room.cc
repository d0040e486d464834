#include "adapter/system/waiting_room.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace pawl {
namespace {

using Steady = std::chrono::steady_clock;

SteadyInstant now() {
  const auto since = Steady::now().time_since_epoch();
  return SteadyInstant::from_ns(
      std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

// A wait that no clock will see the end of would overflow the library's arithmetic.
constexpr Duration wait_max = Duration::days(366);

}  // namespace

void WaitingRoom::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

Timers::Id WaitingRoom::after(Duration wait, Call call) {
  Id id;
  bool is_first = false;
  {
    const std::lock_guard lock(mutex_);
    if (!closing_) {
      id = {.due = now() + std::min(wait, wait_max), .number = ++last_number_};
      waiting_.emplace(id, std::move(call));
      is_first = waiting_.begin()->first == id;
      if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    }
  }
  if (id.number == 0) {
    call(true);
  } else if (is_first) {
    changed_.notify_one();
  }
  return id;
}

void WaitingRoom::cancel(Id id) {
  Call call;  // goes when the lock is free: what it holds may call
  const std::lock_guard lock(mutex_);
  const auto found = waiting_.find(id);
  if (found == waiting_.end()) return;
  call = std::move(found->second);
  waiting_.erase(found);
}

void WaitingRoom::run() {
  std::unique_lock lock(mutex_);
  while (!closing_ || !waiting_.empty()) {
    if (waiting_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const auto first = waiting_.begin();
    const Duration wait = first->first.due - now();
    if (!closing_ && wait > Duration()) {
      changed_.wait_for(lock, std::chrono::nanoseconds(wait.ns()));
      continue;
    }
    Call call = std::move(first->second);
    waiting_.erase(first);
    const bool over = closing_;
    lock.unlock();
    call(over);
    lock.lock();
  }
}

}  // namespace pawl
