// The calls about writes with a key: what is on record, what was answered without being executed,
// and an operator's ways to forget one or to settle one that nobody knows the end of.
//
// Contract: a client's key may stand for several records, one a method and path; all of them are
//           meant unless the query names one. Records are looked for among the latest of the tenant
//           (bounds::record_list_max); one that the query names is found whatever its age. Who
//           changes what is in the audit log before it is done.
#pragma once

#include "admin/context.h"
#include "admin/route.h"

namespace pawl::admin {

Routes idempotency_routes(Context& context);

}  // namespace pawl::admin
