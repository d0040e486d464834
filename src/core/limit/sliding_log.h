// The sliding log: every use is remembered until the window has passed over it.
//
// Why:      exact. In no stretch of one period, wherever it is laid, do more than the limit pass.
// Contract: pure. A use at t counts in [t, t + period). A clock that went back counts as one that
//           stood still: what was used "later" counts as used now.
// Bounds:   at most `limit` marks a key (and one for each reservation that used more than it had
//           reserved), so bounds::limit_log_count_max bounds the limit; a decision costs time in
//           proportion to the marks. For larger limits take a sliding window.
// State:    the marks, oldest first.
#pragma once

#include "core/limit/rate.h"
#include "core/limit/state.h"
#include "core/limit/verdict.h"

namespace pawl::limit {

struct SlidingLog {
  Rate rate;
  bool operator==(const SlidingLog&) const = default;
};

Verdict look(const SlidingLog& log, const State& state, std::int64_t cost, Now now);
// What is used, also beyond the limit: under another rule there may have been more room.
std::int64_t used(const SlidingLog& log, const State& state, Now now);
// `use` says how much and whose; it is made now.
void take(const SlidingLog& log, State& state, Mark use, Now now);
// A holder gets back what it took itself, so that nobody else's use is forgotten too early. Without
// one (a refund) the newest uses go first, as if they were the ones that are meant.
void give_back(const SlidingLog& log, State& state, Ask use, Now now);
// After the clock went back: nothing was used later than now. Else it changes nothing.
void rewind(const SlidingLog& log, State& state, Now now);

}  // namespace pawl::limit
