// Clock: where time enters. Decisions never see one: whoever drives them reads it once a step and
// hands the value in. A program gives pawl a clock of its own to test without waiting.
//
// Contract: steady_now() never goes back. wall_now() may jump either way when somebody sets the
//           clock.
// Threads:  any.
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
