// Interruption: what happens when somebody presses Ctrl-C, or the system ends the process, while a
// verb works on orders.
//
// Why:      an order that is on the wire is not undone by ending the process. So the first signal
//           ends the work in good order, and the verb says what became of it.
// Contract: `first` is called once, on another thread, and must not wait. The second signal says
//           that things stay as they are, and ends the process at once with exit code 4: what was
//           sent and not answered is of unknown outcome.
// Threads:  has one of its own. When this is gone, signals do what they did before.
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "net/loop.h"

namespace pawl::cli {

class Interruption {
 public:
  explicit Interruption(std::function<void()> first);
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

 private:
  void heard();

  const std::function<void()> first_;
  bool before_ = false;  // the loop's thread alone
  const std::unique_ptr<net::Loop> loop_;
  std::thread thread_;
};

}  // namespace pawl::cli
