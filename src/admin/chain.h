// GET /v1/audit/chain: whether the audit log is as it was written, a piece at a time.
//
// Why:      a log may be long, and this is no place to wait: each call reads
//           bounds::audit_chain_bytes_max of it, and the next one goes on.
// Contract: the judgement is that of AuditCheck, which `pawl audit verify` gives too.
// Bounds:   bounds::audit_checks_max checks under way; the oldest goes.
#pragma once

#include "admin/context.h"
#include "admin/route.h"

namespace pawl::admin {

Routes chain_routes(Context& context);

}  // namespace pawl::admin
