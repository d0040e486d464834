// The calls of machines that watch: is it alive, is it ready, what are its numbers.
#pragma once

#include "admin/context.h"
#include "admin/route.h"

namespace pawl::admin {

Routes probe_routes(Context& context);

}  // namespace pawl::admin
