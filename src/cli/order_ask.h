// What was typed, or stands in a file, as the order desk takes it.
#pragma once

#include <string_view>
#include <vector>

#include "cli/verb.h"
#include "runtime/order_desk.h"

namespace pawl::cli {

// Of --venue, --inst or --uic and --asset-type, --side, --type, --size and the rest. Code::usage.
Result<order::Order> order_of(const Arguments& arguments, std::string_view verb);
// The same with --ref and --wait.
Result<PlaceRequest> place_request_of(const Arguments& arguments, std::string_view verb);
// Of --size, --price and --stop-price, at least one of them.
Result<OrderChange> change_of(const Arguments& arguments);
// `who`: as the system calls them; --by says more.
Result<order::Resolution> resolution_of(const Arguments& arguments, std::string_view who);

// JSON, one order a line, as POST /v1/orders takes it; empty lines are passed over. The error names
// the line.
Result<std::vector<PlaceRequest>> batch_of(std::string_view text);

}  // namespace pawl::cli
