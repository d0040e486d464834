// VirtualClock: the time of the emulated venue: the machine's, moved by whoever tests.
//
// Contract: moving it moves nothing but what the venue takes for now; waits of the emulator itself
//           (a delayed answer) are of real time.
// Threads:  one.
#pragma once

#include "pawl/clock.h"

namespace pawl::emulator {

class VirtualClock {
 public:
  explicit VirtualClock(Clock& clock) : clock_(clock) {}

  Instant now() { return clock_.wall_now() + offset_; }
  void advance(Duration by) { offset_ = offset_ + by; }
  // From now on exactly so far from the machine's clock.
  void set_skew(Duration skew) { offset_ = skew; }
  Duration skew() const { return offset_; }

 private:
  Clock& clock_;
  Duration offset_ = {};
};

}  // namespace pawl::emulator
