// The sliding window of two counters: this window's count, and the last one's fading out evenly.
//
// Why:      two numbers a key, whatever the limit; the usual choice for "100 a minute".
// Contract: pure. The last window's share is rounded up. In a window of the fixed grid never more
//           than the limit passes; in a window laid anywhere, less than twice the limit (a client
//           that gathers its calls just before the grid's line gets there; evenly spread calls stay
//           at the limit). Whoever asks all the time gets one less than the limit in a window, and
//           one in two windows of a limit of 1: small limits want sliding_log.h, which is exact, or
//           token_bucket.h. A clock that went back across the grid's line
//           keeps both counts, as this window's: it frees nothing, and nobody waits for longer than
//           two windows.
// State:    cell.a is the start of this window, cell.b both counts.
#pragma once

#include "core/limit/rate.h"
#include "core/limit/state.h"
#include "core/limit/verdict.h"

namespace pawl::limit {

struct SlidingWindow {
  Rate rate;
  bool operator==(const SlidingWindow&) const = default;
};

Verdict look(const SlidingWindow& window, const State& state, std::int64_t cost, Now now);
// What is used, also beyond the limit: under another rule there may have been more room.
std::int64_t used(const SlidingWindow& window, const State& state, Now now);
void take(const SlidingWindow& window, State& state, std::int64_t cost, Now now);
// It comes back from the count it went into; what has faded out by itself does not.
void give_back(const SlidingWindow& window, State& state, const Ask& use, Now now);
// After the clock went back: the counts are this window's. Else it changes nothing.
void rewind(const SlidingWindow& window, State& state, Now now);

}  // namespace pawl::limit
