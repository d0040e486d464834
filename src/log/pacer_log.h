// Writes what a session's pacer notes to the log: one event a kind of note, by the name of its
// type.
//
//   info   rate_limit_waiting          operation, wait_seconds
//   info   rate_limit_token_wait       operation, wait_seconds, tokens_available
//   debug  rate_limit_token_acquired   operation, tokens_remaining
//   warn   rate_limit_not_sent         operation, error
//   warn   rate_limit_refused          operation, status, retry_at, readings
//   warn   rate_limit_reset_scheduled  reset_at, wait_seconds, operation, status, header, named
//   warn   rate_limit_reopened         elsewhere, wait_seconds
//   warn   approaching_rate_limit      remaining, operation, reading
//   warn   rate_limit_headers_ignored  operation, ignored, total; after the first time debug
//   warn   rate_limit_store_failed     error
//   error  rate_limit_unrecorded       error
//
// Contract: waits are told in hundredths of a second, rounded up. Readings are the server's limits
//           as its headers told them: dimension, limit, remaining, reset. `header` is the one that
//           decided: Retry-After, or a reading; `named` is what it said, where it is believed for
//           less. What is not known is empty. The ids of the call that a line is about are the
//           logger's (Logger::with); lines about the session alone have none.
// Threads:  any.
#pragma once

#include "core/limit/pacer.h"
#include "log/logger.h"

namespace pawl::log {

void write(const Logger& logger, const limit::pacer::Note& note);

}  // namespace pawl::log
