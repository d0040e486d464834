// The weekly order limit: weeks from Monday 00:00 UTC, placements counted whatever became of them.
//
// Contract: pure. An open intent holds a slot, a confirmed one has used it, a rejected one has
//           given it back. The store counts; this decides and words it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/order/order.h"
#include "pawl/time.h"

namespace pawl::order {

struct FrequencyLimit {  // order_control.frequency_limit
  bool enabled = true;
  std::int64_t weekly_max_orders = 5;
  bool exclude_reduce_only = true;
  bool operator==(const FrequencyLimit&) const = default;
};

struct Quota {
  std::int64_t used = 0;  // history and slots that are held
  std::int64_t limit = 0;
  Instant week_start = {};
  bool enabled = true;
  bool operator==(const Quota&) const = default;
};

// "2025-12-01".
std::string week_text(Instant instant);
// Whether an order of these terms takes a slot. `enforced`: Venue::enforces_reduce_only.
bool counts(const FrequencyLimit& limit, const Order& order, bool enforced);
inline bool has_room(const Quota& quota) {
  return !quota.enabled || quota.used < quota.limit;
}

// Words of the seed (log lines and errors), tested word for word.
std::string passed_text(const Quota& quota, const Order& order);
std::string rejected_text(const Quota& quota, const Order& order);
std::string reduce_only_text(const Quota& quota, const Order& order);
std::string exceeded_text(const Quota& quota);  // to the caller
// To the caller of an order that the limit could not be checked for.
std::string unverified_text(std::string_view why);
}  // namespace pawl::order
