// SimCounterStore: the counter store of a simulated world. It decides as every store does, but
// answers late, or loses the answer after the charge, as the dice say.
//
// Contract: as port/counter_store.h. What is asked happens at once; the answer may be late or lost.
// Bounds:   none; a simulated run is short.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "port/counter_store.h"
#include "sim/clock.h"
#include "sim/random.h"

namespace pawl::sim {

class SimCounterStore final : public CounterStore {
 public:
  struct Faults {
    Duration latency_max;                        // zero: answers at once
    std::uint64_t lose_one_in = 0;               // answers lost after the charge; 0: none
    Duration lost_after = Duration::seconds(1);  // when a lost answer is given up
    bool forgets_charges = false;                // a bug, put in to see that the checkers find it
  };

  SimCounterStore(SimClock& clock, Random& random, Faults faults)
      : clock_(clock), random_(random), faults_(faults) {}

  void check(Counts counts, std::int64_t cost, Done<limit::Answer> done) override;
  void reserve(Counts counts, std::int64_t cost, Duration hold, Done<Reservation> done) override;
  void settle(Counts counts, std::uint64_t id, Settlement how, Done<void> done) override;
  void refund(const Count& count, std::int64_t cost, Done<void> done) override;
  void reset(const Count& count, Done<void> done) override;
  void close(const Count& count, Instant until, Done<void> done) override;

 private:
  struct Kept {
    limit::Rule rule;
    limit::Cell cell = {};
    limit::Moment closed_until = {};
    limit::Marks marks = {};
  };
  struct Hold {
    std::int64_t cost = 0;
    std::uint8_t members = 0;  // limit::charged_mask
    limit::Now charged;
    limit::Moment until;
  };

  limit::Now now();
  // Hands the states of the counts, brought under their policies' rules, to `act`. Calling what it
  // gives keeps them.
  template <class Act>
  auto with_states(Counts counts, Act act);
  limit::Answer decide(Counts counts, limit::Ask ask);
  template <class T>
  void answer(Done<T> done, Result<T> value);

  SimClock& clock_;
  Random& random_;
  Faults faults_;
  std::map<std::pair<std::string, std::string>, Kept> kept_;
  std::map<std::uint64_t, Hold> holds_;
  bool lasts_ = false;  // limit::carry_over() said so when states were last read
};

}  // namespace pawl::sim
