// The calls about tenants: who they are, what they have used, and live changes of it.
#pragma once

#include "admin/context.h"
#include "admin/route.h"

namespace pawl::admin {

Routes tenant_routes(Context& context);

json::Value usage_json(const TenantUsage& usage);

}  // namespace pawl::admin
