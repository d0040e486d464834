// SimCounterStore: the counter store of a simulated world. It decides as every store does, but
// answers late, or loses the answer after the charge, as the dice say.
#pragma once

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

  void charge(const Charge& charge, Done done) override;

 private:
  SimClock& clock_;
  Random& random_;
  Faults faults_;
  std::map<std::pair<std::string, std::string>, limit::Cell> cells_;
};

}  // namespace pawl::sim
