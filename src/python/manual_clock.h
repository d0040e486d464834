// ManualClock: the time of a queue as a test in Python moves it.
//
// Contract: it goes forward only where it is told to, the world's time and the steady one together.
// Threads:  any; the queue reads it on threads of its own.
#pragma once

#include <atomic>
#include <cstdint>

#include "pawl/clock.h"

namespace pawl::python {

class ManualClock final : public Clock {
 public:
  explicit ManualClock(std::int64_t begin_ns) : begin_(Instant::from_ns(begin_ns)) {}
  Instant wall_now() override { return begin_ + passed(); }
  SteadyInstant steady_now() override { return SteadyInstant::from_ns(1) + passed(); }
  void advance(std::int64_t ns) { passed_ns_ += ns; }

 private:
  Duration passed() const { return Duration::nanoseconds(passed_ns_); }

  const Instant begin_;
  std::atomic<std::int64_t> passed_ns_ = 0;
};

}  // namespace pawl::python
