#include "runtime/retry_hints.h"

#include "core/limit/hints.h"

namespace pawl {
namespace {

constexpr std::int64_t mark_bits = 0x3ff;

// Rounded up, so that the turn after it is no earlier than it should be.
std::int64_t packed(limit::Moment last_told, std::int64_t mark) {
  return ((last_told + Duration::nanoseconds(mark_bits)).ns() & ~mark_bits) | mark;
}

limit::Moment unpacked(std::int64_t place, std::int64_t mark) {
  if ((place & mark_bits) != mark) return {};
  return limit::Moment::from_ns(place & ~mark_bits);
}

}  // namespace

Duration RetryHints::wait(limit::Counts counts, const limit::Answer& answer) {
  const limit::Count& count = counts[answer.binding];
  const limit::Turns turns = limit::turns_of(count.policy->rule);
  const Hash128 hash = count.key.hash(count.policy->id);
  const limit::Refusal refusal{
      .now = answer.now.moment, .retry_after = answer.retry_after, .key_hash = hash.high};
  const auto mark = static_cast<std::int64_t>(hash.high) & mark_bits;
  // One number that stands for itself: no other memory hangs on its order.
  std::atomic<std::int64_t>& place = places_[hash.low % places_.size()];
  std::int64_t seen = place.load(std::memory_order_relaxed);
  for (;;) {
    limit::Moment last_told = unpacked(seen, mark);
    const Duration wait = limit::hint(last_told, turns, refusal);
    if (place.compare_exchange_weak(seen, packed(last_told, mark), std::memory_order_relaxed)) {
      return wait;
    }
  }
}

}  // namespace pawl
