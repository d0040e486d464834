// SimClock: simulated time with a to-do list. Nothing waits: run() jumps from one scheduled action
// to the next, so an hour of waiting costs as much as the work in it.
//
// Contract: Clock. Actions run in the order of their time, equal times in the order they were
//           scheduled: the same schedule gives the same run, always.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "pawl/clock.h"
#include "pawl/time.h"

namespace pawl::sim {

class SimClock final : public Clock {
 public:
  Instant wall_now() override { return wall_start_ + (now_ - steady_start_); }
  SteadyInstant steady_now() override { return now_; }

  void after(Duration delay, std::move_only_function<void()> action);
  // Runs what is due until `end`, then stands there. Actions may schedule more.
  void run_until(SteadyInstant end);

 private:
  static constexpr Instant wall_start_ = Instant::from_ns(1'767'225'600'000'000'000);  // 2026
  static constexpr SteadyInstant steady_start_ = SteadyInstant::from_ns(1'000'000'000);

  SteadyInstant now_ = steady_start_;
  std::uint64_t scheduled_ = 0;
  std::map<std::pair<SteadyInstant, std::uint64_t>, std::move_only_function<void()>> due_;
};

}  // namespace pawl::sim
