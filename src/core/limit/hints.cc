#include "core/limit/hints.h"

#include <algorithm>

#include "base/bounds.h"

namespace pawl::limit {
namespace {

// With few slots a refill is soon over, and turns that begin anew bring callers together.
constexpr Duration reach_min = Duration::minutes(1);

Turns turns_of_rate(const Rate& rate) {
  return {.slot = Duration::nanoseconds((rate.period.ns() + rate.count - 1) / rate.count),
          .reach = std::max(rate.period, reach_min)};
}

Duration spread(Duration wait, std::uint64_t key_hash) {
  constexpr int bits = 24;  // of the hash: the product stays within 64 bits
  const Duration most = std::min(wait / 8, bounds::limit_hint_spread_max);
  const auto share = static_cast<std::int64_t>(key_hash >> (64 - bits));
  return Duration::nanoseconds((most.ns() * share) >> bits);
}

}  // namespace

Turns turns_of(const Rule& rule) {
  struct Of {
    Turns operator()(const TokenBucket& bucket) {
      return {
          .slot = bucket.interval,
          .reach = std::max({bucket.rate.period, bucket.interval * bucket.capacity(), reach_min})};
    }
    Turns operator()(const SlidingWindow& window) { return turns_of_rate(window.rate); }
    Turns operator()(const SlidingLog& log) { return turns_of_rate(log.rate); }
    // Most holders are done before their lease; nobody knows when.
    Turns operator()(const Concurrency& rule) {
      return turns_of_rate({.count = rule.slots, .period = rule.lease});
    }
    Turns operator()(const Calendar&) { return {}; }
  };
  return std::visit(Of(), rule);
}

Duration hint(Moment& last_told, const Turns& turns, const Refusal& refusal) {
  if (refusal.retry_after == Duration::max()) return Duration::max();
  const Moment next_slot = refusal.now + refusal.retry_after;
  Moment turn = last_told < next_slot ? next_slot : last_told + turns.slot;
  if (turn > next_slot + turns.reach) turn = next_slot;
  last_told = turn;
  const Duration wait = turn - refusal.now;
  return wait + spread(wait, refusal.key_hash);
}

}  // namespace pawl::limit
