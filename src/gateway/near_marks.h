// NearMarks: which tenants were told, in this window, that a limit of theirs is nearly used up.
//
// Why:      a tenant that is near its limit is so with every request; it is told once a window.
// Contract: is_first() says yes once for each tenant, policy and window (once a second where
//           windows are shorter). A clock that goes back a little does not say yes again. Where
//           more are near at once than there is room for, one may be told twice, by the same id.
// Bounds:   8 bytes each, taken at once.
// Threads:  any; no locks.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bounds.h"
#include "core/limit/policy.h"

namespace pawl::gateway {

class NearMarks {
 public:
  // `most` is a power of two.
  explicit NearMarks(std::uint64_t seed, std::size_t most = bounds::tenants_near_max);

  bool is_first(std::string_view tenant, const limit::Policy& policy, Instant now);

 private:
  const std::uint64_t seed_;
  // Whose it is in the upper half, the second its window began in the lower. Zero: nobody's.
  std::vector<std::atomic<std::uint64_t>> marks_;
};

}  // namespace pawl::gateway
