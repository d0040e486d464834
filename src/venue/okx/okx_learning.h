// Learning: one question to OKX that many calls wait for.
//
// Why:      at a start every order needs OKX's time and the account's mode. Asked by each of them,
//           they would wait for each other at the pace of reading calls, and cancels behind them.
// Contract: of all who join() while nobody has asked, the first asks, and gives the others back
//           their word with end(). What failed is not asked again before it has rested: those who
//           join then go on at once, without it.
// Threads:  any. Nobody is called while the mutex is held.
#pragma once

#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "pawl/time.h"

namespace pawl::okx {

class Learning {
 public:
  using Waiter = std::move_only_function<void()>;

  explicit Learning(Duration rest) : rest_(rest) {}

  // True: it is yours to ask, and to end(). The waiter is called by then, or at once.
  bool join(SteadyInstant now, Waiter waiter) {
    {
      const std::lock_guard lock(mutex_);
      if (now >= rests_until_) {
        waiters_.push_back(std::move(waiter));
        return !std::exchange(asking_, true);
      }
    }
    waiter();
    return false;
  }
  void end(bool learnt, SteadyInstant now) {
    std::vector<Waiter> waiters;
    {
      const std::lock_guard lock(mutex_);
      asking_ = false;
      if (!learnt) rests_until_ = now + rest_;
      waiters.swap(waiters_);
    }
    for (Waiter& waiter : waiters) waiter();
  }

 private:
  const Duration rest_;
  std::mutex mutex_;
  bool asking_ = false;
  SteadyInstant rests_until_ = {};
  std::vector<Waiter> waiters_;
};

}  // namespace pawl::okx
