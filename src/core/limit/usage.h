// Usage: how much of a limit is used, and whether that is nearly all of it: for panels, bills, and
// the hint that a larger plan would fit.
//
// Contract: pure. limit = used + remaining, whatever the algorithm: of a token bucket what can be
//           used at once, of slots how many there are. What is closed counts as all used. Near is
//           80 % and more. A window is what a tenant is told of once: a calendar's own, else a
//           period counted from 1970 (of slots, the time each is lent for), so that programs that
//           share a limit agree on it.
// See:      explain.h says the same in sentences, headers.h to clients.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/limit/policy.h"
#include "core/limit/verdict.h"

namespace pawl::limit {

struct Usage {
  std::int64_t limit = 0;
  std::int64_t used = 0;
  std::int64_t remaining = 0;
  std::int64_t reset_seconds = 0;  // until nothing is used any more; rounded up
  bool near = false;
  bool operator==(const Usage&) const = default;
};

Usage usage_of(const Policy& policy, const Verdict& verdict);

// In the header: every request is asked.
inline bool is_near(const Policy& policy, const Verdict& verdict) {
  return verdict.remaining * 5 <= capacity_of(policy.rule);
}

// Of the window that holds `now`.
Instant window_start(const Rule& rule, Instant now);

// Names the one time that a tenant came near this policy in the window that began at `window`: the
// same wherever it is noticed.
std::string near_id(std::string_view tenant, const Policy& policy, Instant window);

}  // namespace pawl::limit
