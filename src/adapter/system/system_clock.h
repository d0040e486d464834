// SystemClock: the machine's own clocks.
#pragma once

#include "pawl/clock.h"

namespace pawl {

class SystemClock final : public Clock {
 public:
  Instant wall_now() override;
  SteadyInstant steady_now() override;
};

}  // namespace pawl
