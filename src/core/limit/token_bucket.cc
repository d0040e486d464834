#include "core/limit/token_bucket.h"

#include <algorithm>

#include "base/assert.h"

namespace pawl::limit {

TokenBucket::TokenBucket(Rate rate_, std::int64_t burst_) : rate(rate_), burst(burst_) {
  PAWL_ASSERT(rate.count > 0 && rate.period > Duration() && burst >= 0);
  interval = Duration::nanoseconds((rate.period.ns() + rate.count - 1) / rate.count);
  refill = interval * capacity();
  reciprocal = ~std::uint64_t{0} / static_cast<std::uint64_t>(interval.ns());
}

void give_back(const TokenBucket& bucket, State& state, const Ask& use, Now now) {
  // Time has been paying the debt off since: only what it cannot have paid comes back.
  const Duration since = std::max(Duration(), now.moment - use.charged.moment);
  const Duration back = std::max(Duration(), bucket.interval * use.cost - since);
  const Duration missing = until_full(bucket, state.cell, now.moment) - back;
  fill_in(bucket, state.cell, std::max(Duration(), missing), now.moment);
}

void rewind(const TokenBucket& bucket, State& state, Now now) {
  const Duration most = bucket.refill + Duration::nanoseconds(state.cell.b);
  state.cell.a = std::min(state.cell.a, (now.moment + most).ns());
}

}  // namespace pawl::limit
