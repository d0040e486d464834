// What a log is told of an order's way. The names are those of the seed's log events.
//
// Contract: a value. Every note carries external_reference and request_id. Nothing in it is secret.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/order/answer.h"
#include "pawl/time.h"

namespace pawl::order {

enum class Told : std::uint8_t {
  executing_operation,                 // info
  operation_failed,                    // warning
  conflict_no_retry,                   // error
  trade_not_completed_no_retry,        // error
  client_error_no_retry,               // error
  retrying_after_delay,                // info
  max_retries_exhausted,               // error
  reconciling_before_retry,            // info
  order_found_in_reconciliation,       // info
  order_found_skipping_retry,          // info
  safe_to_retry_after_reconciliation,  // info
  no_order_found_retrying,             // info
  order_placement_failed_final,        // error; also when the caller withdrew it
  order_confirmed,                     // info
  order_unresolved,                    // error
  order_settled,                       // warning; by a person
  order_save_retry,                    // warning
  order_not_saved,                     // error
};
std::string_view to_string(Told told);
enum class Weight : std::uint8_t { info, warning, error };
Weight weight_of(Told told);

struct Note {
  Told what = Told::executing_operation;
  std::string operation = {};  // place_order, modify_order, cancel_order
  std::string venue = {};
  std::string external_reference = {};
  std::string request_id = {};
  int attempt = 0;
  int max_attempts = 0;
  std::string order_id = {};
  int status = 0;                  // of HTTP, where there was an answer
  std::string_view category = {};  // of operation_failed: the seed's words
  std::string limits = {};         // rate-limit headers, where the answer had some
  std::string correlation = {};    // the venue's
  Duration delay = {};             // of retrying_after_delay and order_save_retry
  std::string message = {};        // for people
};

// transient_network, rate_limited, conflict, trade_not_completed, client_error, server_error,
// unknown.
std::string_view category_of(const Answer& answer);

}  // namespace pawl::order
