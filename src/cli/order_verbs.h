// `pawl order …` and `pawl backfill-orders`. Each gives an exit code: 3 for what was denied or
// rejected, 4 for what is unresolved.
#pragma once

#include "cli/verb.h"

namespace pawl::cli {

int order_place(const Arguments& arguments);
int order_precheck(const Arguments& arguments);
int order_modify(const Arguments& arguments);
int order_cancel(const Arguments& arguments);
int order_status(const Arguments& arguments);
int order_list(const Arguments& arguments);
int order_reconcile(const Arguments& arguments);
int order_resolve(const Arguments& arguments);
int order_quota(const Arguments& arguments);
int order_batch(const Arguments& arguments);
int order_reopen(const Arguments& arguments);
int backfill_orders(const Arguments& arguments);

}  // namespace pawl::cli
