// CounterStore: where the cells of limits live, and the one place where a limit is charged.
//
// Contract: charge() decides and charges as one step, however many threads or processes ask at
//           once: it applies limit::decide (or the same decision in the store's own tongue) to the
//           key's cell. `done` is called exactly once, before charge() returns or later, on any
//           thread. An error says by its outcome whether the charge may have happened.
// Bounds:   bounds::limit_keys_max keys; a store that is full may refuse more than it must, never
//           less.
// Threads:  any.
// Held by:  adapter/memory; sim/counter_store.
// See:      counter_store_conformance.h, which every store passes.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "core/limit/gcra.h"
#include "core/limit/policy.h"
#include "pawl/result.h"

namespace pawl {

struct Charge {
  const limit::Policy& policy;
  std::string_view key;  // within the policy; copied if it must outlive the call
  std::int64_t cost = 1;
};

class CounterStore {
 public:
  using Done = std::move_only_function<void(Result<limit::Verdict>)>;

  virtual ~CounterStore() = default;
  virtual void charge(const Charge& charge, Done done) = 0;
};

}  // namespace pawl
