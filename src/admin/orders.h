// The calls about orders: place, look, change, find out, settle.
//
// Contract: a placement is answered with 200 (confirmed), 202 (unresolved: it stays so until it is
//           reconciled), 422 (rejected) or 429 (denied by the weekly limit, with Retry-After). All
//           four have the same body.
// Paths:    /v1/orders/quota is the week's. An order whose reference is `quota` is found at
//           /v1/orders/quota/status, as every other is. What is about no one order stands beside
//           /v1/orders, under names of its own.
#pragma once

#include "admin/context.h"
#include "admin/route.h"

namespace pawl::admin {

Routes order_routes(Context& context);

}  // namespace pawl::admin
