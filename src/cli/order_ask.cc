#include "cli/order_ask.h"

#include <optional>
#include <string>
#include <utility>

#include "base/bounds.h"
#include "base/decimal.h"
#include "base/json.h"
#include "base/text.h"
#include "pawl/time.h"
#include "runtime/placed_json.h"

namespace pawl::cli {
namespace {

std::unexpected<Error> usage(std::string_view verb, std::string message) {
  return std::unexpected(usage_error(verb, std::move(message)));
}

std::string text_of(const Arguments& arguments, std::string_view name) {
  return arguments.has(name) ? arguments.value(name) : "";
}

Result<std::optional<Decimal>> number_of(const Arguments& arguments, std::string_view name,
                                         std::string_view verb) {
  if (!arguments.has(name)) return std::optional<Decimal>();
  const Result<Decimal> number = parse_decimal(arguments.value(name));
  if (!number) return usage(verb, std::string(name) + ": " + number.error().message);
  return std::optional(*number);
}

// Which of the venue's instruments.
Result<void> read_instrument(const Arguments& arguments, std::string_view verb,
                             order::Order& order) {
  const bool saxo = order.venue == "saxo";
  const bool inst = arguments.has("--inst");
  const bool uic = arguments.has("--uic") && arguments.has("--asset-type");
  const bool parts_of_uic = arguments.has("--uic") || arguments.has("--asset-type");
  if (saxo && (!uic || inst)) {
    return usage(verb,
                 "saxo's instruments are named by --uic and --asset-type, as in --uic 211 "
                 "--asset-type Stock");
  }
  if (!saxo && (!inst || parts_of_uic)) {
    return usage(verb, order.venue +
                           "'s instruments are named by --inst, as in --inst "
                           "BTC-USDT-SWAP");
  }
  order.instrument = arguments.value(saxo ? "--uic" : "--inst");
  order.asset_type = text_of(arguments, "--asset-type");
  return {};
}

Result<Duration> wait_of(const Arguments& arguments, std::string_view verb) {
  const Result<Duration> wait = parse_duration(arguments.value("--wait"));
  if (!wait) return usage(verb, "--wait: " + wait.error().message);
  if (*wait > Duration()) return *wait;
  return usage(verb, "--wait is 0s, in which nothing can be sent; give it some time, or --dry-run");
}

Result<PlaceRequest> request_of(std::string_view line) {
  return place_request_of_json(PAWL_TRY(json::parse(line)));
}

}  // namespace

Result<order::Order> order_of(const Arguments& arguments, std::string_view verb) {
  order::Order order;
  for (const std::string_view name : {"--venue", "--side", "--type", "--size"}) {
    if (!arguments.has(name)) return usage(verb, std::string(name) + " is missing");
  }
  order.venue = arguments.value("--venue");
  PAWL_TRY(read_instrument(arguments, verb, order));
  order.side = order::side_of(arguments.value("--side")).value();  // the table has the choices
  order.type = order::type_of(arguments.value("--type")).value();
  order.size = PAWL_TRY(number_of(arguments, "--size", verb)).value();
  order.price = PAWL_TRY(number_of(arguments, "--price", verb));
  order.stop_price = PAWL_TRY(number_of(arguments, "--stop-price", verb));
  if (arguments.has("--validity")) {
    order.validity = order::validity_of(arguments.value("--validity"));
  }
  order.reduce_only = arguments.has("--reduce-only");
  order.trade_mode = text_of(arguments, "--trade-mode");
  order.position_side = text_of(arguments, "--position-side");
  if (const Result<void> checked = check(order); !checked) {
    return usage(verb, checked.error().message);
  }
  return order;
}

Result<PlaceRequest> place_request_of(const Arguments& arguments, std::string_view verb) {
  PlaceRequest request{.order = PAWL_TRY(order_of(arguments, verb))};
  request.reference = text_of(arguments, "--ref");
  if (arguments.has("--ref")) {
    const Result<void> checked = order::check_reference(request.reference);
    if (!checked) return usage(verb, "--ref: " + checked.error().message);
  }
  if (arguments.has("--wait")) request.wait_max = PAWL_TRY(wait_of(arguments, verb));
  return request;
}

Result<OrderChange> change_of(const Arguments& arguments) {
  constexpr std::string_view verb = "order modify";
  OrderChange change{.size = PAWL_TRY(number_of(arguments, "--size", verb)),
                     .price = PAWL_TRY(number_of(arguments, "--price", verb)),
                     .stop_price = PAWL_TRY(number_of(arguments, "--stop-price", verb))};
  if (!change.size && !change.price && !change.stop_price) {
    return usage(verb, "give what is to change: --size, --price or --stop-price");
  }
  for (const std::string_view name : {"--size", "--price", "--stop-price"}) {
    const std::optional<Decimal> number = PAWL_TRY(number_of(arguments, name, verb));
    if (number && *number <= Decimal()) {
      return usage(verb, std::string(name) + " is " + to_string(*number) +
                             "; it must be greater than 0" +
                             (name == "--size" ? ". 'pawl order cancel' takes an order back" : ""));
    }
  }
  return change;
}

Result<order::Resolution> resolution_of(const Arguments& arguments, std::string_view who) {
  constexpr std::string_view verb = "order resolve";
  if (!arguments.has("--as")) return usage(verb, "--as is missing; say what became of it");
  const std::string reason = text_of(arguments, "--reason");
  if (trim_blanks(reason).empty()) {
    return usage(verb, "--reason is missing; say how you know");
  }
  const std::string by = text_of(arguments, "--by");
  if (arguments.has("--by") && trim_blanks(by).empty()) {
    return usage(verb, "--by is empty; say who settles it, or leave it out");
  }
  order::Resolution resolution{
      .as = order::resolution_of(arguments.value("--as")).value(),
      .order_id = text_of(arguments, "--order-id"),
      .reason = reason,
      .who = by.empty() ? std::string(who) : by + " (user " + std::string(who) + ")"};
  if (resolution.as == order::Resolution::As::placed && resolution.order_id.empty()) {
    return usage(verb, "--order-id is missing; a placed order has the venue's id");
  }
  return resolution;
}

Result<std::vector<PlaceRequest>> batch_of(std::string_view text) {
  std::vector<PlaceRequest> requests;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = trim_blanks(take_until(text, '\n'));
    if (line.empty()) continue;
    Result<PlaceRequest> request = request_of(line);
    if (!request) {
      return failure(Code::invalid,
                     "line " + std::to_string(number) + ": " + request.error().message);
    }
    requests.push_back(*std::move(request));
    if (requests.size() > bounds::order_batch_file_max) {
      return failure(Code::invalid, "more than " + std::to_string(bounds::order_batch_file_max) +
                                        " orders; send them in several batches");
    }
  }
  if (requests.empty()) return failure(Code::invalid, "there is no order in it");
  return requests;
}

}  // namespace pawl::cli
