// Timers: calls back when a time has passed.
//
// Contract: each call is made once, never before `wait` has passed, on a thread that must not be
//           kept; or not at all, when it was cancelled in time. `over`: the timers are closing, and
//           nobody will be called again; whoever waits is to give up.
// Threads:  any.
// Held by:  adapter/system/waiting_room; tests move time by hand.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

#include "pawl/time.h"

namespace pawl {

class Timers {
 public:
  using Call = std::move_only_function<void(bool over)>;
  // By default of none.
  struct Id {
    SteadyInstant due = {};
    std::uint64_t number = 0;
    auto operator<=>(const Id&) const = default;
  };

  virtual ~Timers() = default;
  virtual Id after(Duration wait, Call call) = 0;
  // The call goes, and what it holds with it, unless it is made already or just now.
  virtual void cancel(Id id) = 0;
};

}  // namespace pawl
