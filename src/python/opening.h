// Opening: a queue that a thread of its own opens, for a connection that may be given up on.
//
// Why:      a store that is silent is asked for minutes, and the end of a program is not to wait
//           for it. So the thread shares this with the connection, and outlives it.
// Contract: opened() hands the queue over; where nobody waits any more, it is closed at once. While
//           it is under way, `queue` is nobody's; then it is the connection's alone.
// Threads:  opened() that of the opening, the rest the connection's.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "pawl/queue.h"

namespace pawl::python {

class Opening {
 public:
  void begin() {
    const std::lock_guard lock(mutex_);
    under_way_ = true;
  }
  // Null: it could not be opened.
  void opened(std::unique_ptr<Queue> made) {
    const std::lock_guard lock(mutex_);
    under_way_ = false;
    if (!given_up_) queue = std::move(made);
  }
  // Whether it is under way still.
  bool give_up() {
    const std::lock_guard lock(mutex_);
    given_up_ = true;
    return under_way_;
  }

  std::unique_ptr<Queue> queue = {};

 private:
  std::mutex mutex_;
  bool under_way_ = false;
  bool given_up_ = false;
};

}  // namespace pawl::python
