// Writes what a session's pacer notes to the log: one event a kind of note, by the name of its
// type.
//
//   info   rate_limit_waiting          operation, wait_seconds
//   info   rate_limit_token_wait       operation, wait_seconds, tokens_available
//   debug  rate_limit_token_acquired   operation, tokens_remaining
//   warn   rate_limit_reset_scheduled  reset_at, wait_seconds
//   warn   approaching_rate_limit      remaining, operation
//   warn   rate_limit_store_failed     error
//
// Contract: waits are told in hundredths of a second, rounded up.
// Threads:  any.
#pragma once

#include "core/limit/pacer.h"
#include "log/logger.h"

namespace pawl::log {

void write(const Logger& logger, const limit::pacer::Note& note);

}  // namespace pawl::log
