#include "library/waiting_room.h"

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

WaitingRoom::~WaitingRoom() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void WaitingRoom::after(Duration wait, Call call) {
  {
    const std::lock_guard lock(mutex_);
    if (!closing_) {
      waiting_.emplace(now() + std::min(wait, wait_max), std::move(call));
      if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    }
  }
  if (call) {
    call(true);
  } else {
    changed_.notify_one();
  }
}

void WaitingRoom::run() {
  std::unique_lock lock(mutex_);
  while (!closing_ || !waiting_.empty()) {
    if (waiting_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const auto first = waiting_.begin();
    const Duration wait = first->first - now();
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
