// Retry hints: when to tell a refused caller to come back, so that not all of them come at once.
//
// Why:      a hundred callers who are told "in a second" come together in a second, and
//           ninety-nine of them for nothing. So the n-th is told when the n-th slot comes.
// Contract: pure. Never earlier than retry_after. Turns stand one slot apart, beginning at
//           retry_after; once all turns that were given out lie before the next slot, they begin
//           there anew. They go no further than one refill of the rule, or a minute where that is
//           longer, and then begin anew too: a caller that knocks without waiting puts the others
//           of its key off by no more than that.
//           On top comes a spread, the same for every ask of one key: at most an eighth of the wait
//           and bounds::limit_hint_spread_max, so that keys which wait for one instant (midnight, a
//           server that opens again) do not meet there.
// State:    one moment a policy and key, the last one told; Moment() when none was. It is advice
//           and no count: losing it, or mixing up two keys, costs a wait and lets nobody in.
#pragma once

#include <cstdint>

#include "core/limit/policy.h"
#include "core/limit/state.h"

namespace pawl::limit {

struct Turns {
  Duration slot;   // from one to the next; zero when all come at once
  Duration reach;  // how far the last may lie behind the first
  bool operator==(const Turns&) const = default;
};

Turns turns_of(const Rule& rule);

struct Refusal {
  Moment now;
  Duration retry_after;
  std::uint64_t key_hash = 0;  // the spread is made of its upper bits
};

// The wait to tell. Duration::max(), which means never, stays that.
Duration hint(Moment& last_told, const Turns& turns, const Refusal& refusal);

}  // namespace pawl::limit
