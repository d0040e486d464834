#include "core/limit/gcra.h"

#include <algorithm>

#include "base/assert.h"

namespace pawl::limit {
namespace {

// How long until a bucket that is full at `full_at` holds `tokens` tokens.
Duration until_tokens(const TokenBucket& bucket, SteadyInstant full_at, std::int64_t tokens,
                      SteadyInstant now) {
  if (tokens > bucket.capacity()) return Duration::max();
  const SteadyInstant when = full_at - bucket.token_interval() * (bucket.capacity() - tokens);
  return std::max(Duration(), when - now);
}

std::int64_t tokens_at(const TokenBucket& bucket, SteadyInstant full_at, SteadyInstant now) {
  const std::int64_t missing_ns = (full_at - now).ns();
  const std::int64_t interval_ns = bucket.token_interval().ns();
  return bucket.capacity() - missing_ns / interval_ns - (missing_ns % interval_ns > 0 ? 1 : 0);
}

}  // namespace

Duration TokenBucket::token_interval() const {
  return Duration::nanoseconds((rate.period.ns() + rate.count - 1) / rate.count);
}

Verdict decide(const TokenBucket& bucket, Cell& cell, std::int64_t cost, SteadyInstant now) {
  PAWL_ASSERT(bucket.rate.count > 0 && bucket.rate.period > Duration() && bucket.burst >= 0);
  PAWL_ASSERT(cost >= 0);
  const Duration interval = bucket.token_interval();
  // The upper end is for a clock that went back: no debt beyond an empty bucket.
  SteadyInstant full_at = std::clamp(cell.full_at, now, now + interval * bucket.capacity());

  Verdict verdict;
  verdict.limit = bucket.rate.count;
  verdict.retry_after = until_tokens(bucket, full_at, cost, now);
  verdict.allowed = verdict.retry_after == Duration();
  if (verdict.allowed && cost > 0) {
    full_at = full_at + interval * cost;
    cell.full_at = full_at;
  }
  verdict.remaining = tokens_at(bucket, full_at, now);
  verdict.full_after = full_at - now;
  if (verdict.remaining < bucket.capacity()) {
    verdict.more_after = until_tokens(bucket, full_at, verdict.remaining + 1, now);
  }
  return verdict;
}

bool is_full(const Cell& cell, SteadyInstant now) {
  return cell.full_at <= now;
}

}  // namespace pawl::limit
