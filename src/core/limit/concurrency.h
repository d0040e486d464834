// Concurrency: so many at once. Each holds its slots until it gives them back, or its lease ends.
//
// Why:      a counter that is raised and lowered leaks a slot with every holder that dies; a lease
//           brings the slot of a crashed holder back by itself.
// Contract: pure. Who holds longer than the lease must renew it, or the slot is somebody else's. A
//           clock that went back leaves no lease longer than a fresh one.
// Bounds:   bounds::limit_slots_max slots.
// State:    the marks, the one that comes back first in front.
#pragma once

#include "core/limit/state.h"
#include "core/limit/verdict.h"

namespace pawl::limit {

struct Concurrency {
  std::int64_t slots = 1;
  Duration lease = Duration::seconds(60);
  bool operator==(const Concurrency&) const = default;
};

Verdict look(const Concurrency& rule, const State& state, std::int64_t cost, Now now);
// What is used, also beyond the limit: under another rule there may have been more room.
std::int64_t used(const Concurrency& rule, const State& state, Now now);
// `slots` says how many and whose; their lease begins now.
void take(const Concurrency& rule, State& state, Mark slots, Now now);
// Gives the holder's slots back. False: it holds none, or its lease is over.
bool release(const Concurrency& rule, State& state, std::uint64_t holder, Now now);
// The holder's lease begins anew. False: it is over, and nothing is changed.
bool renew(const Concurrency& rule, State& state, std::uint64_t holder, Now now);
// After the clock went back: no lease is longer than a fresh one. Else it changes nothing.
void rewind(const Concurrency& rule, State& state, Now now);

}  // namespace pawl::limit
