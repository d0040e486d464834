// A clock that a test moves while other threads read it.
#pragma once

#include <atomic>
#include <cstdint>

#include "pawl/clock.h"

namespace pawl {

class MovedClock final : public Clock {
 public:
  Instant wall_now() override { return Instant::from_ns(1'700'000'000'000'000'000) + passed(); }
  SteadyInstant steady_now() override { return SteadyInstant::from_ns(1'000'000'000) + passed(); }
  void advance(Duration by) { passed_ += by.ns(); }

 private:
  Duration passed() const { return Duration::nanoseconds(passed_); }

  std::atomic<std::int64_t> passed_ = 0;
};

}  // namespace pawl
