// The correlation of an event about an order.
//
// Why:      readers of the audit log filter by correlation_id. An operation of the executor has one
//           of its caller's; what an order is called by its caller is its external_reference.
// Contract: a correlation_id that is there stays. What is about no order has none.
#pragma once

#include <utility>

#include "base/correlation.h"

namespace pawl::audit {

inline Correlation found_by_reference(Correlation ids) {
  if (ids.correlation_id.empty()) ids.correlation_id = ids.external_reference;
  return ids;
}

}  // namespace pawl::audit
