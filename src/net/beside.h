// Beside: what a loop waits for that is no descriptor of its own: names that are looked up, and
// signals. It runs on a thread of its own, and hands over what it finds.
//
// Why:      the system looks names up by blocking, and tells of signals on any thread. Both are
//           rare, so Asio does them; what is frequent is done by the loop itself.
// Threads:  call it from the loop's thread; `hand_over` is called from its own.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "base/address.h"
#include "pawl/result.h"

namespace pawl::net {

class Beside {
 public:
  using Work = std::move_only_function<void()>;
  // Errors: the system's words.
  using Found = std::move_only_function<void(Result<std::vector<IpAddress>>)>;

  // Runs the work on the loop's thread, later.
  explicit Beside(std::function<void(Work)> hand_over);
  ~Beside();

  void look_up(const std::string& host, Found found);
  // From this call on; for as long as this lives.
  void on_signals(std::initializer_list<int> signals, std::function<void(int)> action);

 private:
  struct Thread;
  std::unique_ptr<Thread> thread_;
};

}  // namespace pawl::net
