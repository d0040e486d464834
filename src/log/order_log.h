// Writes what an order desk notes to the log. Where people were promised certain words, they stand
// in the field `message`; what is about one order carries external_reference and request_id.
//
//   info   order_frequency_limit_loaded     message
//   info   order_frequency_check_passed     message, summary, inst_id, side, size, used, limit,
//                                           week_start
//   warn   order_frequency_limit_exceeded   the same
//   info   order_frequency_reduce_only      the same
//   warn   order_reduce_only_unproven       message
//   info   order_frequency_limit_bypassed   message
//   warn   order_frequency_check_retry      attempt, max_attempts, delay_seconds, error
//   error  order_frequency_check_failed     message, error
//   warn   order_record_retry               attempt, max_attempts, delay_seconds, error
//   error  order_record_failed              message, error
//   debug  order_recorded                   message, order_id, inst_id, side, size, week_start
//   info   order_status_updated             message, venue, order_id, status
//   warn   order_history_empty              message
//   info   order_history_initialized        message
//   info   order_history_backfilled         message, venue, orders
//   info   orders_resumed                   taken, resolved, unresolved
//   error  orders_unresolved                message, count
//   error  orders_left_open                 message, count
//
//   and those of core/order/note.h by their own names: executing_operation, operation_failed,
//   conflict_no_retry, retrying_after_delay, reconciling_before_retry …
//
// Contract: waits are told in hundredths of a second, rounded up. What is not known is empty.
// Threads:  any.
#pragma once

#include <cstddef>

#include "core/order/note.h"
#include "core/order/quota.h"
#include "log/logger.h"
#include "runtime/order_notes.h"

namespace pawl::log {

void write(const Logger& logger, const order::Note& note);
void write(const Logger& logger, const desk::Note& note);

// At the start: what the weekly limit is. `given`: the configuration says so itself.
void write_limit(const Logger& logger, const order::FrequencyLimit& limit, bool given);
// The tables were made just now.
void write_history_initialized(const Logger& logger);
// At the start, and whenever there are any.
void write_unresolved(const Logger& logger, std::size_t count);
// Of processes that ended before they knew the outcome.
void write_left_open(const Logger& logger, std::size_t count);

}  // namespace pawl::log
