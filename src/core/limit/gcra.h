// The token bucket, kept as one number a key (GCRA): the instant at which the bucket would be full
// again.
//
// Why:      one number is compared and swapped without a lock, and a full bucket equals an absent
//           one, so forgetting a key that has rested changes nothing.
// Contract: pure. A refused ask leaves the cell as it was, to the bit. The interval between two
//           tokens is rounded up to a whole nanosecond, so the pace is never passed; it falls short
//           of it by less than one nanosecond a token. A clock that went back counts as one that
//           stood still, and never keeps a caller out for longer than an empty bucket would.
#pragma once

#include <cstdint>

#include "core/limit/rate.h"
#include "pawl/time.h"

namespace pawl::limit {

struct Cell {
  SteadyInstant full_at;
  bool operator==(const Cell&) const = default;
};

// `burst` may come at once on top of the even pace, so a rested key has burst + 1 tokens.
struct TokenBucket {
  Rate rate;
  std::int64_t burst = 0;

  Duration token_interval() const;
  std::int64_t capacity() const { return burst + 1; }
};

struct Verdict {
  bool allowed = false;
  std::int64_t limit = 0;      // tokens a period, as configured
  std::int64_t remaining = 0;  // asks of cost 1 that would be allowed right now
  Duration retry_after = {};  // until this ask would be allowed; Duration::max() when it never will
  Duration more_after = {};   // until `remaining` grows by one; zero when the bucket is full
  Duration full_after = {};   // until the bucket is full again
};

// Charges `cost` tokens or none. cost 0 looks without touching.
Verdict decide(const TokenBucket& bucket, Cell& cell, std::int64_t cost, SteadyInstant now);

// True when the cell is as good as absent.
bool is_full(const Cell& cell, SteadyInstant now);

}  // namespace pawl::limit
