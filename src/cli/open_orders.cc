#include "cli/open_orders.h"

#include <utility>

#include "base/bounds.h"
#include "port/answer_of.h"

namespace pawl::cli {
namespace {

using order::Intent;
using order::Status;

Result<std::vector<Intent>> listed(IntentStore& store, IntentFilter filter) {
  return answer_of<std::vector<Intent>>(
      [&](auto done) { store.list(std::move(filter), std::move(done)); });
}

}  // namespace

IntentFilter unresolved_filter() {
  return {.statuses = {Status::unresolved}, .limit = bounds::admin_list_max};
}

IntentFilter left_filter() {
  return {.statuses = {Status::sending, Status::reconciling},
          .limit = bounds::admin_list_max,
          .unattended = true};
}

Result<OpenOrders> open_orders(IntentStore& store) {
  return OpenOrders{.unresolved = PAWL_TRY(listed(store, unresolved_filter())),
                    .left = PAWL_TRY(listed(store, left_filter()))};
}

std::string open_orders_summary(std::size_t unresolved, std::size_t left) {
  std::string out;
  if (unresolved > 0) {
    out = std::to_string(unresolved) + (unresolved == 1 ? " order is" : " orders are") +
          " unresolved";
  }
  if (left > 0) {
    out.append(out.empty() ? "" : "; ").append(std::to_string(left));
    out.append(left == 1 ? " order was" : " orders were")
        .append(" left open by a process that ended");
  }
  return out;
}

}  // namespace pawl::cli
