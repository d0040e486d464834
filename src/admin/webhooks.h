// The calls about webhooks: what became of deliveries, and a way to emit an event once.
#pragma once

#include "admin/context.h"
#include "admin/route.h"

namespace pawl::admin {

Routes webhook_routes(Context& context);

}  // namespace pawl::admin
