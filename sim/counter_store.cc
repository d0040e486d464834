#include "sim/counter_store.h"

namespace pawl::sim {

void SimCounterStore::charge(const Charge& charge, Done done) {
  limit::Cell& cell = cells_[{charge.policy.name, std::string(charge.key)}];
  const limit::Verdict verdict =
      limit::decide(charge.policy.bucket, cell, charge.cost, clock_.steady_now());
  if (faults_.forgets_charges) cell = limit::Cell();
  if (faults_.lose_one_in > 0 && random_.one_in(faults_.lose_one_in)) {
    clock_.after(faults_.lost_after, [done = std::move(done)]() mutable {
      done(std::unexpected(Error(Code::unavailable, Outcome::unknown, "no answer")));
    });
  } else if (faults_.latency_max > Duration()) {
    clock_.after(random_.up_to(faults_.latency_max),
                 [done = std::move(done), verdict]() mutable { done(verdict); });
  } else {
    done(verdict);
  }
}

}  // namespace pawl::sim
