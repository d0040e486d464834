// The OpenAPI 3.1 document of the admin API, made of its routes.
//
// Contract: pure. Every route is in it, with the answers it names and those that every call of its
//           access may get.
#pragma once

#include <string_view>

#include "admin/route.h"
#include "base/json.h"

namespace pawl::admin {

json::Value openapi(const Routes& routes, std::string_view version);

}  // namespace pawl::admin
