#include "venue/saxo/saxo_wire.h"

#include <algorithm>
#include <utility>

#include "base/json.h"

namespace pawl::saxo {
namespace {

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  });
}

std::string_view duration_type(const order::Order& order) {
  switch (order.validity.value_or(order::Validity::day)) {
    case order::Validity::day:
      return "DayOrder";
    case order::Validity::gtc:
      return "GoodTillCancel";
    case order::Validity::ioc:
      return "ImmediateOrCancel";
    case order::Validity::fok:
      return "FillOrKill";
  }
  return "DayOrder";
}

json::Value number(const Decimal& decimal) {
  return json::Number{to_string(decimal)};
}

json::Object order_object(const order::Order& order, std::string_view reference,
                          const Account& account) {
  json::Object body;
  body["AccountKey"] = account.account_key;
  body["Uic"] = json::Number{order.instrument};
  body["AssetType"] = order.asset_type;
  body["BuySell"] = order.side == order::Side::buy ? "Buy" : "Sell";
  body["Amount"] = number(order.size);
  body["OrderType"] = order_type(order);
  body["OrderDuration"] = json::Object{{"DurationType", duration_type(order)}};
  body["ManualOrder"] = account.manual;
  body["ExternalReference"] = reference;
  // Of a StopLimit the OrderPrice is the one that wakes it.
  const auto& first = order.stop_price ? order.stop_price : order.price;
  if (order.type != order::Type::market && first) body["OrderPrice"] = number(*first);
  if (order.type == order::Type::stop_limit && order.price) {
    body["StopLimitPrice"] = number(*order.price);
  }
  return body;
}

}  // namespace

Result<void> check(const order::Order& order, std::string_view reference) {
  const auto bad = [](const std::string& why) {
    return failure(Code::invalid, "Saxo does not take this order: " + why);
  };
  PAWL_TRY(order::check_reference(reference));
  if (reference.size() > reference_bytes_max) {
    return bad("its reference has " + std::to_string(reference.size()) +
               " characters, and an ExternalReference at most 50");
  }
  if (!is_digits(order.instrument) || order.instrument.size() > 10 ||
      order.instrument.starts_with('0')) {
    return bad("an instrument is named by its Uic, a number, not by '" + order.instrument + "'");
  }
  if (!is_word(order.asset_type)) {
    return bad("it names no asset type (Stock, FxSpot, CfdOnStock …)");
  }
  if (order.type == order::Type::post_only) return bad("there are no post_only orders there");
  if (order.type == order::Type::market && order.validity == order::Validity::gtc) {
    return bad("a market order cannot be good till canceled: leave the validity out");
  }
  if (!order.trade_mode.empty() || !order.position_side.empty()) {
    return bad("trade mode and position side are words of OKX: leave them out");
  }
  return {};
}

std::string_view order_type(const order::Order& order) {
  switch (order.type) {
    case order::Type::market:
      return "Market";
    case order::Type::limit:
    case order::Type::post_only:
      return "Limit";
    case order::Type::stop:
      return order.asset_type.starts_with("Fx") ? "Stop" : "StopIfTraded";
    case order::Type::stop_limit:
      return "StopLimit";
  }
  return "Limit";
}

std::string type_text(std::string_view order_type) {
  if (order_type == "Market") return "market";
  if (order_type == "Limit") return "limit";
  if (order_type == "Stop" || order_type == "StopIfTraded") return "stop";
  if (order_type == "StopLimit") return "stop_limit";
  return std::string(order_type);
}

std::string place_body(const order::Order& order, std::string_view reference,
                       const Account& account) {
  return json::print(order_object(order, reference, account));
}

std::string precheck_body(const order::Order& order, std::string_view reference,
                          const Account& account) {
  json::Object body = order_object(order, reference, account);
  body["FieldGroups"] = json::Array{"Costs", "MarginImpactBuySell"};
  return json::print(std::move(body));
}

std::string change_body(const ChangeAsk& ask, const Account& account) {
  json::Object body = order_object(changed(ask.order, ask.change), ask.reference, account);
  body["OrderId"] = ask.order_id;
  return json::print(std::move(body));
}

}  // namespace pawl::saxo
