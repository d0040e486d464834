// The token bucket, kept as one number a key (GCRA): the moment at which the bucket would be full
// again.
//
// Why:      one number is compared and swapped without a lock, and a full bucket equals an absent
//           one, so forgetting a key that has rested changes nothing.
// Contract: pure. The interval between two tokens is rounded up to a whole nanosecond, so the pace
//           is never passed; it falls short of it by less than one nanosecond a token. A clock that
//           went back counts as one that stood still, and never keeps a caller out for longer than
//           an empty bucket would; one that leaps forward gives a full bucket and no more.
// State:    cell.a is the moment at which the bucket is full. cell.b is what it owes beyond an
//           empty bucket, in nanoseconds: what was used under another rule and has no room here.
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
  Duration interval;             // between two tokens
  Duration refill;               // from an empty bucket to a full one
  std::uint64_t reciprocal = 0;  // 2^64 / interval, so that a decision needs no division

  TokenBucket(Rate rate_, std::int64_t burst_);

  std::int64_t capacity() const { return burst + 1; }
  bool operator==(const TokenBucket& other) const {
    return rate == other.rate && burst == other.burst;
  }
};

// Tokens that are not there: missing time over the interval, rounded up. The product's upper half
// is the quotient or one less, which the remainder puts right.
inline std::int64_t missing_tokens(const TokenBucket& bucket, Duration missing) {
  __extension__ using Wide = unsigned __int128;
  const std::int64_t interval = bucket.interval.ns();
  const Wide product = static_cast<Wide>(missing.ns()) * bucket.reciprocal;
  auto tokens = static_cast<std::int64_t>(product >> 64);
  const std::int64_t rest = missing.ns() - tokens * interval;
  tokens += rest > 0 ? 1 : 0;
  return tokens + (rest > interval ? 1 : 0);
}

// No more debt than there was, though a clock went back.
inline Duration until_full(const TokenBucket& bucket, const Cell& cell, Moment now) {
  if (cell.a <= now.ns()) return {};
  const Duration most = bucket.refill + Duration::nanoseconds(cell.b);
  return std::min(Duration::nanoseconds(cell.a - now.ns()), most);
}

inline void fill_in(const TokenBucket& bucket, Cell& cell, Duration missing, Moment now) {
  cell.a = (now + missing).ns();
  cell.b = std::max(Duration(), missing - bucket.refill).ns();
}

// What it says to an ask of `cost`, as if charged when that is allowed. Cost 0 looks. In the
// header, with take(), because it is what most decisions consist of.
inline Verdict look(const TokenBucket& bucket, const Cell& cell, std::int64_t cost, Now now) {
  const Duration missing = until_full(bucket, cell, now.moment);
  Verdict verdict;
  verdict.before = cell;
  verdict.limit = bucket.rate.count;
  verdict.full_after = missing;
  if (cost > bucket.capacity()) {
    verdict.retry_after = Duration::max();
  } else {
    const Duration full_after = missing + bucket.interval * cost;
    verdict.allowed = full_after <= bucket.refill || cost == 0;
    if (verdict.allowed) {
      verdict.full_after = full_after;
    } else {
      verdict.retry_after = full_after - bucket.refill;
    }
  }
  const std::int64_t missing_all = missing_tokens(bucket, verdict.full_after);
  const std::int64_t gone = std::min(missing_all, bucket.capacity());
  verdict.remaining = bucket.capacity() - gone;
  if (gone > 0) {
    verdict.more_after =
        Duration::nanoseconds(verdict.full_after.ns() - bucket.interval.ns() * (gone - 1));
  }
  return verdict;
}

inline Verdict look(const TokenBucket& bucket, const State& state, std::int64_t cost, Now now) {
  return look(bucket, state.cell, cost, now);
}

// Takes `cost` tokens, or what is left of them.
inline void take(const TokenBucket& bucket, Cell& cell, std::int64_t cost, Now now) {
  const Duration before = until_full(bucket, cell, now.moment);
  const Duration after = std::min(before + bucket.interval * cost, std::max(before, bucket.refill));
  fill_in(bucket, cell, after, now.moment);
}
inline void take(const TokenBucket& bucket, State& state, std::int64_t cost, Now now) {
  take(bucket, state.cell, cost, now);
}

// Tokens that are used, also those beyond an empty bucket.
inline std::int64_t used(const TokenBucket& bucket, const State& state, Now now) {
  return missing_tokens(bucket, until_full(bucket, state.cell, now.moment));
}

void give_back(const TokenBucket& bucket, State& state, const Ask& use, Now now);
// After the clock went back: no more debt than there was. Else it changes nothing.
void rewind(const TokenBucket& bucket, State& state, Now now);

}  // namespace pawl::limit
