#include "adapter/system/system_clock.h"

#include <ctime>

namespace pawl {
namespace {

std::int64_t read_ns(clockid_t id) {
  timespec time{};
  clock_gettime(id, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

Instant SystemClock::wall_now() {
  return Instant::from_ns(read_ns(CLOCK_REALTIME));
}

// CLOCK_BOOTTIME goes on while the machine sleeps: a bucket refills over a closed lid.
SteadyInstant SystemClock::steady_now() {
  return SteadyInstant::from_ns(read_ns(CLOCK_BOOTTIME));
}

}  // namespace pawl
