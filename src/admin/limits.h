// The calls of programs that pace themselves by pawl's limits (core/limit/api.h).
//
// Contract: a decision is in the audit log before it is told; where the log does not take it, what
//           was charged comes back and the caller is refused.
#pragma once

#include "admin/context.h"
#include "admin/route.h"

namespace pawl::admin {

Routes limit_routes(Context& context);

}  // namespace pawl::admin
