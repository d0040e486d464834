// Visits: who is at work on something that may go, and how much of it is unfinished. It outlives
// that something, for those who come too late.
//
// Contract: whoever comes from outside enters, works, and leaves; once it is closed nobody enters.
//           drain() waits until nothing is unfinished and nobody inside; close() only for those
//           inside. Neither may be called from inside.
// Threads:  any.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace pawl {

class Visits {
 public:
  // False: closed.
  bool enter() {
    const std::lock_guard lock(mutex_);
    if (!closed_) ++inside_;
    return !closed_;
  }
  void leave() {
    const std::lock_guard lock(mutex_);
    --inside_;
    changed_.notify_all();
  }
  void begun() {
    const std::lock_guard lock(mutex_);
    ++unfinished_;
  }
  void finished() {
    const std::lock_guard lock(mutex_);
    --unfinished_;
    changed_.notify_all();
  }

  void drain() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return unfinished_ == 0 && inside_ == 0; });
  }
  void close() {
    std::unique_lock lock(mutex_);
    closed_ = true;
    changed_.wait(lock, [this] { return inside_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t inside_ = 0;
  std::size_t unfinished_ = 0;
  bool closed_ = false;
};

}  // namespace pawl
