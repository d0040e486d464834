// StoreBreaker: whether a store that has failed is asked again.
//
// Why:      while a store is away, an ask of it costs every caller its deadline and yields nothing.
// Contract: pure. So many failures in a row as failed() is told make the store lost: for a wait
//           nobody asks it, then one probe at a time does. A probe that is answered ends it; one
//           that fails doubles the wait, from bounds::store_lost_wait_min to store_lost_wait_max.
//           Asks that were under way when it was lost decide nothing, however they end.
#pragma once

#include <cstdint>

#include "base/bounds.h"
#include "pawl/time.h"

namespace pawl::limit {

class StoreBreaker {
 public:
  enum class Turn : std::uint8_t { ask, probe, skip };

  // What the next caller is to do. Whoever is told to ask or to probe says how it ended.
  Turn turn(SteadyInstant now);
  // True: with this the store is lost. It takes `failures` in a row, this one included.
  bool failed(Turn turn, SteadyInstant now, int failures);
  void answered(Turn turn);
  bool lost() const { return lost_; }

 private:
  int failures_ = 0;  // since the last answer
  bool lost_ = false;
  bool probing_ = false;
  Duration wait_ = bounds::store_lost_wait_min;
  SteadyInstant next_probe_;
};

}  // namespace pawl::limit
