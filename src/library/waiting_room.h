// WaitingRoom: calls back when their time has come, on a thread of its own that starts with the
// first of them.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "pawl/time.h"

namespace pawl {

class WaitingRoom {
 public:
  // `over`: the room is closing, and nobody will be called again.
  using Call = std::move_only_function<void(bool over)>;

  WaitingRoom() = default;
  // Calls all that still wait with `over`.
  ~WaitingRoom();
  WaitingRoom(const WaitingRoom&) = delete;
  WaitingRoom& operator=(const WaitingRoom&) = delete;

  // `call` is made once, by the machine's own clock, never before `wait` has passed. It may call
  // after() itself.
  void after(Duration wait, Call call);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::multimap<SteadyInstant, Call> waiting_;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace pawl
