#include "gateway/near_marks.h"

#include <bit>

#include "base/assert.h"
#include "base/hash.h"
#include "core/limit/usage.h"

namespace pawl::gateway {
namespace {

constexpr std::size_t line = 16;  // where one may stand: two lines of a processor's cache
constexpr std::uint64_t lower_half = 0xffff'ffff;

std::uint64_t second_of(Instant at) {
  return static_cast<std::uint64_t>(at.ns() / Duration::seconds(1).ns()) & lower_half;
}

// A window that began before this one is over, unless the clock has only gone back a little.
bool was_told(std::uint64_t told, std::uint64_t window, Instant now) {
  return told == window || (told > window && told <= second_of(now + bounds::clock_step_max));
}

}  // namespace

NearMarks::NearMarks(std::uint64_t seed, std::size_t most) : seed_(seed), marks_(most) {
  PAWL_ASSERT(most >= line && std::has_single_bit(most));
}

bool NearMarks::is_first(std::string_view tenant, const limit::Policy& policy, Instant now) {
  const Hash128 hash = hash_of(tenant, seed_ ^ policy.id ^ policy.shape);
  const std::uint64_t owner = hash.high | std::uint64_t{1} << 63;
  const std::uint64_t window = second_of(limit::window_start(policy.rule, now));
  const std::uint64_t mark = (owner & ~lower_half) | window;
  std::atomic<std::uint64_t>* const marks = &marks_[hash.low & (marks_.size() - line)];
  for (;;) {
    std::size_t at = hash.low >> 60;  // if all are others'
    std::uint64_t evicted = 0;
    for (std::size_t i = 0; i < line; ++i) {
      const std::uint64_t kept = marks[i].load(std::memory_order_relaxed);
      const bool own = (kept ^ owner) <= lower_half;
      if (own && was_told(kept & lower_half, window, now)) return false;
      if (i == at) evicted = kept;
      if (!own && kept != 0) continue;
      at = i;
      evicted = kept;
      break;
    }
    // Another thread was faster: it may have been about this very mark.
    if (marks[at].compare_exchange_strong(evicted, mark, std::memory_order_relaxed)) return true;
  }
}

}  // namespace pawl::gateway
