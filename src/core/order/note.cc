#include "core/order/note.h"

#include "core/order/names.h"

namespace pawl::order {
namespace {

constexpr Names<18> told_names = {
    "executing_operation",
    "operation_failed",
    "conflict_no_retry",
    "trade_not_completed_no_retry",
    "client_error_no_retry",
    "retrying_after_delay",
    "max_retries_exhausted",
    "reconciling_before_retry",
    "order_found_in_reconciliation",
    "order_found_skipping_retry",
    "safe_to_retry_after_reconciliation",
    "no_order_found_retrying",
    "order_placement_failed_final",
    "order_confirmed",
    "order_unresolved",
    "order_settled",
    "order_save_retry",
    "order_not_saved",
};

}  // namespace

std::string_view to_string(Told told) {
  return name_in(told_names, told);
}

Weight weight_of(Told told) {
  switch (told) {
    case Told::executing_operation:
    case Told::retrying_after_delay:
    case Told::reconciling_before_retry:
    case Told::order_found_in_reconciliation:
    case Told::order_found_skipping_retry:
    case Told::safe_to_retry_after_reconciliation:
    case Told::no_order_found_retrying:
    case Told::order_confirmed:
      return Weight::info;
    case Told::operation_failed:
    case Told::order_settled:
    case Told::order_save_retry:
      return Weight::warning;
    case Told::conflict_no_retry:
    case Told::trade_not_completed_no_retry:
    case Told::client_error_no_retry:
    case Told::max_retries_exhausted:
    case Told::order_placement_failed_final:
    case Told::order_unresolved:
    case Told::order_not_saved:
      return Weight::error;
  }
  __builtin_unreachable();
}

std::string_view category_of(const Answer& answer) {
  if (answer.code == not_completed_code) return "trade_not_completed";
  switch (answer.sent) {
    case Sent::rate_limited:
      return "rate_limited";
    case Sent::duplicate:
      return "conflict";
    case Sent::refused:
      return "client_error";
    case Sent::not_sent:
      return "transient_network";
    case Sent::accepted:
    case Sent::unknown:
      break;
  }
  if (answer.status >= 500) return "server_error";
  return answer.status == 0 ? "transient_network" : "unknown";
}

}  // namespace pawl::order
