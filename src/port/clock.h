// Clock: where time enters. Core never sees one; the runtime reads it once a step and hands the value in.
//
// Contract: steady_now() never goes back. wall_now() may jump either way when somebody sets the clock.
// Threads:  any.
// Held by:  adapter/system (the machine's), runtime/manual_clock (moved by hand), sim/clock (simulated).
#pragma once

#include "pawl/time.h"

namespace pawl {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant wall_now() = 0;
  virtual SteadyInstant steady_now() = 0;
};

}  // namespace pawl
