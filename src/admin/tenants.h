// The calls about tenants: who they are, what they have used, and live changes of it.
#pragma once

#include "admin/context.h"
#include "admin/route.h"

namespace pawl::admin {

Routes tenant_routes(Context& context);

}  // namespace pawl::admin
