// The token bucket, kept as one number a key (GCRA): the moment at which the bucket would be full
// again.
//
// Why:      one number is compared and swapped without a lock, and a full bucket equals an absent
//           one, so forgetting a key that has rested changes nothing.
// Contract: pure. The interval between two tokens is rounded up to a whole nanosecond, so the pace
//           is never passed; it falls short of it by less than one nanosecond a token. A clock that
//           went back counts as one that stood still, and never keeps a caller out for longer than
//           an empty bucket would; one that leaps forward gives a full bucket and no more.
// State:    cell.a is the moment at which the bucket is full.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/limit/rate.h"
#include "core/limit/state.h"
#include "core/limit/verdict.h"

namespace pawl::limit {

// `burst` may come at once on top of the even pace, so a rested key has burst + 1 tokens.
struct TokenBucket {
  Rate rate;
  std::int64_t burst = 0;
  Duration interval;                  // between two tokens
  Duration refill;                    // from an empty bucket to a full one
  double intervals_a_nanosecond = 0;  // so that a decision needs no division

  TokenBucket(Rate rate_, std::int64_t burst_);

  std::int64_t capacity() const { return burst + 1; }
  bool operator==(const TokenBucket& other) const {
    return rate == other.rate && burst == other.burst;
  }
};

// Tokens that are not there: missing time over the interval, rounded up. No bucket has more than
// about 10^9 tokens, so the product of doubles is off by far less than one: its whole part is the
// quotient's or, next to a whole number, the one beside it, which the remainder puts right.
inline std::int64_t missing_tokens(const TokenBucket& bucket, Duration missing) {
  const std::int64_t interval = bucket.interval.ns();
  auto tokens =
      static_cast<std::int64_t>(static_cast<double>(missing.ns()) * bucket.intervals_a_nanosecond);
  const std::int64_t rest = missing.ns() - tokens * interval;
  if (rest > 0) ++tokens;
  if (rest > interval) ++tokens;
  return tokens;
}

// The moment at which it is full. No debt beyond an empty bucket, though a clock went back.
inline Moment full_at(const TokenBucket& bucket, const Cell& cell, Moment now) {
  return std::clamp(Moment::from_ns(cell.a), now, now + bucket.refill);
}

// What it says to an ask of `cost`, as if charged when that is allowed. Cost 0 looks. In the
// header, with take(), because it is what most decisions consist of.
inline Verdict look(const TokenBucket& bucket, const Cell& cell, std::int64_t cost, Now now) {
  const Moment full = full_at(bucket, cell, now.moment);
  const Duration need = bucket.interval * cost;
  Verdict verdict;
  verdict.before = cell;
  verdict.limit = bucket.rate.count;
  verdict.full_after = Duration::nanoseconds(full.ns() - now.moment.ns());
  verdict.retry_after = std::max(Duration(), need - (bucket.refill - verdict.full_after));
  if (cost > bucket.capacity()) verdict.retry_after = Duration::max();
  verdict.allowed = verdict.retry_after == Duration();
  if (verdict.allowed) verdict.full_after = verdict.full_after + need;
  const std::int64_t missing = missing_tokens(bucket, verdict.full_after);
  verdict.remaining = bucket.capacity() - missing;
  if (missing > 0) verdict.more_after = verdict.full_after - bucket.interval * (missing - 1);
  return verdict;
}

inline Verdict look(const TokenBucket& bucket, const State& state, std::int64_t cost, Now now) {
  return look(bucket, state.cell, cost, now);
}

// Takes `cost` tokens, or what is left of them.
inline void take(const TokenBucket& bucket, Cell& cell, std::int64_t cost, Now now) {
  const Moment full = full_at(bucket, cell, now.moment) + bucket.interval * cost;
  cell.a = std::min(full, now.moment + bucket.refill).ns();
}
inline void take(const TokenBucket& bucket, State& state, std::int64_t cost, Now now) {
  take(bucket, state.cell, cost, now);
}

void give_back(const TokenBucket& bucket, State& state, const Ask& use, Now now);
// After the clock went back: no debt beyond an empty bucket. Else it changes nothing.
void rewind(const TokenBucket& bucket, State& state, Now now);

}  // namespace pawl::limit
