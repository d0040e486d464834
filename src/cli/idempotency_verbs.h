// What operators do with the records of intents in idempotency.store.
//
// Contract: clear and settle are in the audit log, durably, before they are done. What the machine
//           would refuse is refused before that, and leaves nothing in the log.
#pragma once

#include "cli/verb.h"

namespace pawl::cli {

int idempotency_list(const Arguments& arguments);
int idempotency_show(const Arguments& arguments);
int idempotency_clear(const Arguments& arguments);
int idempotency_settle(const Arguments& arguments);

}  // namespace pawl::cli
