// WaitingRoom: calls back when their time has come, on a thread of its own that starts with the
// first of them.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "pawl/time.h"
#include "port/timers.h"

namespace pawl {

class WaitingRoom final : public Timers {
 public:
  WaitingRoom() = default;
  ~WaitingRoom() override { close(); }
  WaitingRoom(const WaitingRoom&) = delete;
  WaitingRoom& operator=(const WaitingRoom&) = delete;

  // By the machine's own clock. A call may call after() itself.
  Id after(Duration wait, Call call) override;
  void cancel(Id id) override;
  // Calls all that still wait with `over`, and at once whoever comes later.
  void close();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Id, Call> waiting_;
  std::uint64_t last_number_ = 0;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace pawl
