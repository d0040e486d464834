// GET /v1/policies: the limits, plans and retry policies in force.
#pragma once

#include "admin/context.h"
#include "admin/route.h"

namespace pawl::admin {

Routes policy_routes(Context& context);

}  // namespace pawl::admin
