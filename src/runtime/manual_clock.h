// ManualClock: time that stands still until a test moves it.
#pragma once

#include "pawl/clock.h"

namespace pawl {

class ManualClock final : public Clock {
 public:
  explicit ManualClock(Instant wall = Instant::from_ns(1'700'000'000'000'000'000)) : wall_(wall) {}

  Instant wall_now() override { return wall_; }
  SteadyInstant steady_now() override { return steady_; }

  // Both clocks go forward together, as they do while nobody sets the wall clock.
  void advance(Duration by) {
    wall_ = wall_ + by;
    steady_ = steady_ + by;
  }
  // Somebody set the wall clock; steady time does not notice.
  void set_wall(Instant wall) { wall_ = wall; }

 private:
  Instant wall_;
  SteadyInstant steady_ = SteadyInstant::from_ns(1'000'000'000);
};

}  // namespace pawl
