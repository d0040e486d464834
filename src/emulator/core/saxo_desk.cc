#include "emulator/core/saxo_desk.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/decimal.h"
#include "base/text.h"
#include "emulator/core/calls.h"
#include "emulator/core/saxo_replies.h"

namespace pawl::emulator {
namespace {

constexpr std::size_t reference_max = 50;  // of an ExternalReference
constexpr std::array<std::string_view, 7> order_types = {
    "Market", "Limit", "Stop", "StopIfTraded", "StopLimit", "TrailingStop", "TrailingStopIfTraded"};

bool is(const Fault* fault, FaultKind kind) {
  return fault != nullptr && fault->kind == kind;
}

bool is_positive(const json::Value& body, std::string_view member) {
  const json::Value* value = body.find(member);
  if (value == nullptr || value->if_number() == nullptr) return false;
  const Result<Decimal> number = parse_decimal(value->if_number()->text);
  return number && *number > Decimal();
}

// What Saxo refuses without looking at any market.
std::optional<Reply> problem_of(const json::Value& body) {
  if (body.if_object() == nullptr) return saxo_model_error("", "The body is no JSON object.");
  const json::Value* manual = body.find("ManualOrder");
  if (manual == nullptr || manual->if_bool() == nullptr) {
    return saxo_model_error("ManualOrder", "ManualOrder must be specified");
  }
  if (text_of(body, "ExternalReference").size() > reference_max) {
    return saxo_model_error("ExternalReference",
                            "The field ExternalReference must be a string with a maximum length "
                            "of 50.");
  }
  if (!is_positive(body, "Uic")) return saxo_model_error("Uic", "Uic must be set.");
  if (!is_positive(body, "Amount")) return saxo_model_error("Amount", "Amount must be above 0.");
  if (text_of(body, "AssetType").empty()) {
    return saxo_model_error("AssetType", "AssetType must be set.");
  }
  const std::string side = text_of(body, "BuySell");
  if (side != "Buy" && side != "Sell") {
    return saxo_model_error("BuySell", "BuySell must be Buy or Sell.");
  }
  const std::string type = text_of(body, "OrderType");
  if (std::ranges::find(order_types, type) == order_types.end()) {
    return saxo_model_error("OrderType", "OrderType is not known.");
  }
  const bool has_price = body.find("OrderPrice") != nullptr;
  if (type == "Market" && has_price) {
    return saxo_model_error("OrderPrice", "OrderPrice must not be set for a market order.");
  }
  if (type != "Market" && !is_positive(body, "OrderPrice")) {
    return saxo_model_error("OrderPrice", "OrderPrice must be set.");
  }
  if (type == "StopLimit" && !is_positive(body, "StopLimitPrice")) {
    return saxo_model_error("StopLimitPrice", "StopLimitPrice must be set.");
  }
  const json::Value* duration = body.find("OrderDuration");
  if (duration == nullptr || text_of(*duration, "DurationType").empty()) {
    return saxo_model_error("OrderDuration", "OrderDuration.DurationType must be set.");
  }
  return std::nullopt;
}

json::Value parsed(const Call& call) {
  Result<json::Value> body = json::parse(call.body);
  return body ? *std::move(body) : json::Value();
}

bool fills_at_once(const json::Value& body) {
  const json::Value* duration = body.find("OrderDuration");
  const std::string lasts = duration == nullptr ? "" : text_of(*duration, "DurationType");
  return text_of(body, "OrderType") == "Market" || lasts == "ImmediateOrCancel" ||
         lasts == "FillOrKill";
}

SaxoState resolution(const Fault& fault) {
  if (fault.resolves == "Working") return SaxoState::working;
  if (fault.resolves == "Rejected") return SaxoState::rejected;
  return SaxoState::filled;
}

json::Object identified(const SaxoOrder& order) {
  json::Object body;
  body["OrderId"] = order.id;
  if (!order.reference.empty()) body["ExternalReference"] = order.reference;
  return body;
}

}  // namespace

Reply SaxoDesk::place(const Call& call, const Fault* fault, Instant now) {
  const json::Value body = parsed(call);
  if (std::optional<Reply> problem = problem_of(body)) return *std::move(problem);
  if (is(fault, FaultKind::error_in_200)) {
    const std::string code = fault->code.empty() ? "InsufficientCash" : fault->code;
    json::Object answer;
    answer["ErrorInfo"] = saxo_error_info(code, "The order was refused.");
    return saxo_reply(200, std::move(answer));
  }
  return place_good(body, fault, now);
}

Reply SaxoDesk::place_good(const json::Value& body, const Fault* fault, Instant now) {
  const SaxoOrder* order = book_.place(order_of(body, fault, now), now);
  if (order == nullptr) return saxo_error(400, "TooManyOrders", "The book is full.");
  json::Object answer = identified(*order);
  const json::Value* related = body.find("Orders");
  if (related != nullptr && related->if_array() != nullptr) {
    json::Array rows;
    for (const json::Value& item : *related->if_array()) {
      SaxoOrder child = order_of(item, nullptr, now);
      child.state = SaxoState::not_working;
      const SaxoOrder* kept = book_.place(std::move(child), now);
      if (kept != nullptr) rows.emplace_back(identified(*kept));
    }
    answer["Orders"] = std::move(rows);
  }
  Reply reply;
  if (order->state == SaxoState::pending) {
    answer["ErrorInfo"] =
        saxo_error_info("TradeNotCompleted", "The trade was not completed in time.");
    reply = saxo_reply(202, std::move(answer));
  } else if (is(fault, FaultKind::order_id_in_400)) {
    json::Object failed;
    failed["ErrorInfo"] = saxo_error_info("OrderRelatedError", "A related order was refused.");
    json::Object listed;
    listed["Orders"] = json::Array{identified(*order), std::move(failed)};
    reply = saxo_reply(400, std::move(listed));
  } else {
    reply = saxo_reply(static_cast<int>(settings_.place_status), std::move(answer));
  }
  reply.order_id = order->id;
  reply.accepted = order->state != SaxoState::pending || order->resolves != SaxoState::rejected;
  return reply;
}

SaxoOrder SaxoDesk::order_of(const json::Value& body, const Fault* fault, Instant now) const {
  const bool fills = settings_.market_fills && fills_at_once(body);
  SaxoOrder order{.reference = text_of(body, "ExternalReference"),
                  .request = body,
                  .state = fills ? SaxoState::filled : SaxoState::working,
                  .visible = now + settings_.lag};
  if (is(fault, FaultKind::lag)) order.visible = now + fault->lag;
  order.hides_reference = is(fault, FaultKind::reference_missing);
  if (is(fault, FaultKind::trade_not_completed)) {
    order.state = SaxoState::pending;
    order.resolves = resolution(*fault);
    order.resolved = now + fault->after;
  }
  return order;
}

Reply SaxoDesk::precheck(const Call& call, const Fault* fault) {
  const json::Value body = parsed(call);
  if (std::optional<Reply> problem = problem_of(body)) return *std::move(problem);
  json::Object answer;
  answer["PreCheckResult"] = "Ok";
  answer["EstimatedCashRequired"] = 0;
  if (is(fault, FaultKind::error_in_200)) {
    const std::string code = fault->code.empty() ? "InsufficientCash" : fault->code;
    answer["ErrorInfo"] = saxo_error_info(code, "There is not enough cash for this order.");
  }
  return saxo_reply(200, std::move(answer));
}

Reply SaxoDesk::modify(const Call& call, Instant now) {
  const json::Value body = parsed(call);
  if (body.if_object() == nullptr) return saxo_model_error("", "The body is no JSON object.");
  const SaxoOrder* order = book_.find(text_of(body, "OrderId"));
  if (order == nullptr || !is_open(order->state) || now < order->visible) {
    return saxo_error(404, "OrderNotFound", "The order is not open; it may have executed.");
  }
  json::Object request = *order->request.if_object();
  for (const auto& [name, value] : *body.if_object()) request[name] = value;
  request.erase("OrderId");
  const std::string id = order->id;
  if (request.contains("Amount") && !is_positive(json::Value(request), "Amount")) {
    return saxo_model_error("Amount", "Amount must be above 0.");
  }
  book_.change(id, json::Value(std::move(request)), now);
  Reply reply = saxo_reply(200, identified(*book_.find(id)));
  reply.order_id = id;
  return reply;
}

Reply SaxoDesk::cancel(const Call& call, const std::vector<std::string>& ids, Instant now) {
  if (!parameter(call.query, "AccountKey")) {
    return saxo_model_error("AccountKey", "AccountKey must be set.");
  }
  json::Array rows;
  for (const std::string& id : ids.empty() ? open_ids(call) : ids) {
    json::Object row;
    row["OrderId"] = id;
    const SaxoOrder* order = book_.find(id);
    if (order != nullptr && is_open(order->state)) {
      book_.become(id, SaxoState::cancelled, now);
    } else {
      row["ErrorInfo"] = saxo_error_info("OrderNotFound", "The order is not open.");
    }
    rows.emplace_back(std::move(row));
  }
  json::Object answer;
  answer["Orders"] = std::move(rows);
  Reply reply = saxo_reply(200, std::move(answer));
  if (!ids.empty()) reply.order_id = ids.front();
  return reply;
}

std::vector<std::string> SaxoDesk::open_ids(const Call& call) const {
  const std::optional<std::string> uic = parameter(call.query, "Uic");
  const std::optional<std::string> asset = parameter(call.query, "AssetType");
  std::vector<std::string> ids;
  for (const auto& [id, order] : book_.all()) {
    if (!is_open(order.state)) continue;
    if (uic && *uic != text_of(order.request, "Uic")) continue;
    if (asset && *asset != text_of(order.request, "AssetType")) continue;
    ids.push_back(id);
  }
  return ids;
}

}  // namespace pawl::emulator
