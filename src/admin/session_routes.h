// The calls by which a browser signs in and out, and learns what is here.
//
// Why:      who signs in sends the token once, as any program does (gate.h), and gets a cookie.
#pragma once

#include "admin/context.h"
#include "admin/route.h"
#include "admin/sessions.h"

namespace pawl::admin {

Routes session_routes(Context& context, Sessions& sessions);

}  // namespace pawl::admin
