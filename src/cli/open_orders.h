// OpenOrders: what somebody has to look at: orders whose outcome nobody knows, and orders that a
// process left open when it ended.
//
// Contract: unresolved: pawl has done what it can, and a person may have to settle it. left: they
//           were being sent or looked for, and nobody works on them now; reconciling takes them up.
//           An order that some process works on is neither.
// Bounds:   bounds::admin_list_max of each.
// Threads:  any.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/order/intent.h"
#include "pawl/result.h"
#include "port/intent_store.h"

namespace pawl::cli {

struct OpenOrders {
  std::vector<order::Intent> unresolved = {};
  std::vector<order::Intent> left = {};
};

IntentFilter unresolved_filter();
IntentFilter left_filter();

Result<OpenOrders> open_orders(IntentStore& store);

// "1 order is unresolved; 2 orders were left open by a process that ended"; empty: there are none.
std::string open_orders_summary(std::size_t unresolved, std::size_t left);

}  // namespace pawl::cli
