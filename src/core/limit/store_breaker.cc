#include "core/limit/store_breaker.h"

#include <algorithm>

namespace pawl::limit {

StoreBreaker::Turn StoreBreaker::turn(SteadyInstant now) {
  if (!lost_) return Turn::ask;
  if (probing_ || now < next_probe_) return Turn::skip;
  probing_ = true;
  return Turn::probe;
}

bool StoreBreaker::failed(Turn turn, SteadyInstant now, int failures) {
  if (lost_ && turn != Turn::probe) return false;
  if (!lost_ && ++failures_ < failures) return false;
  const bool just_lost = !lost_;
  wait_ =
      just_lost ? bounds::store_lost_wait_min : std::min(wait_ * 2, bounds::store_lost_wait_max);
  lost_ = true;
  probing_ = false;
  next_probe_ = now + wait_;
  return just_lost;
}

void StoreBreaker::answered(Turn turn) {
  if (lost_ && turn != Turn::probe) return;
  lost_ = probing_ = false;
  failures_ = 0;
}

}  // namespace pawl::limit
