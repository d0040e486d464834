// The calls of proxies that stand before a service already, and ask about each request.
//
//   nginx   auth_request sends GET /v1/authorize; X-Original-URI and X-Original-Method say what its
//           client asked for. It takes no other refusal than 401 and 403 for one: ?deny=403.
//   Envoy   ext_authz (HTTP service, path_prefix /v1/authorize) sends the client's method, and its
//           path behind the prefix. Fields that a client could have sent decide nothing.
//
// Contract: 200 with the rate fields, 429 with Retry-After, 401 for a tenant that cannot be
//           believed; the decision itself is Context::authorize's.
#pragma once

#include "admin/context.h"
#include "admin/route.h"

namespace pawl::admin {

Routes authorize_routes(Context& context);

}  // namespace pawl::admin
