#include "core/retry/backoff.h"

#include <algorithm>

#include "base/assert.h"
#include "base/hash.h"

namespace pawl::retry {
namespace {

struct Range {
  std::int64_t low;
  std::int64_t high;
};

// bounds::retry_delay_max times bounds::retry_multiplier_milli_max fits.
std::int64_t scaled(std::int64_t ns, std::int64_t milli) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(ns) *
                                   static_cast<std::uint64_t>(milli) / 1000);
}

// Before jitter.
std::int64_t grown(const Policy& policy, int attempt) {
  if (!policy.delays.empty()) {
    const auto at = std::min(static_cast<std::size_t>(attempt), policy.delays.size()) - 1;
    return policy.delays[at].ns();
  }
  std::int64_t delay = policy.base_delay.ns();
  if (policy.multiplier_milli == 1000) return delay;
  for (int i = 1; i < attempt && delay < policy.max_delay.ns(); ++i) {
    delay = scaled(delay, policy.multiplier_milli);
  }
  return std::min(delay, policy.max_delay.ns());
}

Range range_of(const Policy& policy, int attempt, Duration previous) {
  if (policy.jitter == Jitter::decorrelated) {
    const Duration before = std::max(previous, policy.base_delay);
    return {policy.base_delay.ns(), (before * 3).ns()};
  }
  const std::int64_t delay = grown(policy, attempt);
  switch (policy.jitter) {
    case Jitter::proportional: {
      const std::int64_t part = scaled(delay, policy.jitter_milli);
      return {delay - part, delay + part};
    }
    case Jitter::full:
      return {0, delay};
    case Jitter::equal:
      return {delay - delay / 2, delay};
    case Jitter::none:
    case Jitter::decorrelated:
      break;
  }
  return {delay, delay};
}

}  // namespace

std::uint64_t jitter_key(std::string_view key) {
  return hash_of(key, 0).low;
}

Duration backoff(const Policy& policy, std::uint64_t key, int attempt, Duration previous) {
  PAWL_ASSERT(attempt >= 1);
  const Range range = range_of(policy, attempt, previous);
  const std::int64_t least = policy.min_delay.ns();
  const std::int64_t most = policy.max_delay.ns();
  const std::int64_t low = std::clamp(range.low, least, most);
  const std::int64_t high = std::clamp(range.high, low, most);
  const Hash128 dice = hash_of(Hash128{key, static_cast<std::uint64_t>(attempt)}, 0);
  const auto choices = static_cast<std::uint64_t>(high - low) + 1;
  __extension__ using Wide = unsigned __int128;
  const auto chosen = static_cast<std::int64_t>(static_cast<Wide>(dice.low) * choices >> 64);
  return Duration::nanoseconds(low + chosen);
}

}  // namespace pawl::retry
