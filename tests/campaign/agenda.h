// Agenda: everything that will happen in a run of a campaign, by virtual time.
//
// Contract: things that are due happen one at a time, in order of time and then of their coming;
//           between two of them the clock jumps. The same seed gives the same run.
// Threads:  one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <utility>

#include "port/entropy.h"
#include "port/timers.h"
#include "runtime/manual_clock.h"

namespace pawl::campaign {

class Dice final : public Entropy {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed * 0x9E37'79B9'7F4A'7C15U + 1) {}

  std::uint64_t below(std::uint64_t end) { return engine_() % end; }
  bool chance(std::uint64_t percent) { return below(100) < percent; }
  Duration within(Duration from, Duration to) {
    const auto span = static_cast<std::uint64_t>((to - from).ns());
    return from + Duration::nanoseconds(static_cast<std::int64_t>(below(span + 1)));
  }
  Entropy16 next() override {
    Entropy16 bytes{};
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(engine_());
    return bytes;
  }

 private:
  std::mt19937_64 engine_;
};

class Agenda {
 public:
  using Id = std::pair<SteadyInstant, std::uint64_t>;

  explicit Agenda(Instant begin) : clock(begin), begin_(begin), origin_(clock.steady_now()) {}

  Id after(Duration wait, std::move_only_function<void()> thing) {
    const Id id{clock.steady_now() + std::max(wait, Duration()), ++last_};
    things_.emplace(id, std::move(thing));
    return id;
  }
  void cancel(const Id& id) { things_.erase(id); }
  void run(Duration span) {
    const SteadyInstant until = clock.steady_now() + span;
    while (!things_.empty() && things_.begin()->first.first <= until) {
      auto node = things_.extract(things_.begin());
      clock.advance(std::max(Duration(), node.key().first - clock.steady_now()));
      node.mapped()();
    }
    clock.advance(until - clock.steady_now());
  }
  // The world's time, whatever the machine's clock was set to.
  Instant world_now() { return begin_ + (clock.steady_now() - origin_); }

  ManualClock clock;

 private:
  const Instant begin_;
  const SteadyInstant origin_;
  std::map<Id, std::move_only_function<void()>> things_;
  std::uint64_t last_ = 0;
};

// The timers of one process: those of a dead one never ring.
class ProcessTimers final : public Timers {
 public:
  ProcessTimers(Agenda& agenda, std::shared_ptr<const bool> alive)
      : agenda_(agenda), alive_(std::move(alive)) {}

  Id after(Duration wait, Call call) override {
    const auto id = agenda_.after(wait, [alive = alive_, call = std::move(call)]() mutable {
      if (*alive) call(false);
    });
    return {.due = id.first, .number = id.second};
  }
  void cancel(Id id) override { agenda_.cancel({id.due, id.number}); }

 private:
  Agenda& agenda_;
  const std::shared_ptr<const bool> alive_;
};

}  // namespace pawl::campaign
