// Strand: runs calls one after the other, in the order they came, on whichever threads bring them.
//
// Why:      what has one strand needs no lock of its own, and may call out while it runs: what
//           comes back at once waits for its turn instead of coming in between.
// Contract: a call is run once, by the thread that posts it, or by the one that is running others
//           just now. After close() nothing is run any more, and what waits is let go; close()
//           waits for the call that is being run, so it must not be made from inside one.
// Threads:  any.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <utility>

namespace pawl {

class Strand {
 public:
  using Call = std::move_only_function<void()>;

  void post(Call call) {
    std::unique_lock lock(mutex_);
    if (closed_) return lock.unlock();  // the call is let go without the lock
    waiting_.push_back(std::move(call));
    if (std::exchange(busy_, true)) return;
    while (!waiting_.empty()) {
      Call next = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      next();
      next = {};
      lock.lock();
    }
    busy_ = false;
    rested_.notify_all();
  }

  void close() {
    std::deque<Call> let_go;
    std::unique_lock lock(mutex_);
    closed_ = true;
    let_go.swap(waiting_);
    rested_.wait(lock, [this] { return !busy_; });
    lock.unlock();
  }

 private:
  std::mutex mutex_;
  std::condition_variable rested_;
  std::deque<Call> waiting_;
  bool busy_ = false;
  bool closed_ = false;
};

}  // namespace pawl
