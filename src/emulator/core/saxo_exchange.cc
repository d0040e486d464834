#include "emulator/core/saxo_exchange.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "emulator/core/calls.h"
#include "emulator/core/rush.h"
#include "emulator/core/saxo_replies.h"

namespace pawl::emulator {
namespace {

// Faults that only other venues know.
constexpr FaultKind not_here[] = {FaultKind::s_code_in_0,       FaultKind::push_before_reply,
                                  FaultKind::push_silence,      FaultKind::push_close,
                                  FaultKind::condition_ignored, FaultKind::wrong_tag};

std::string_view without_prefix(std::string_view path) {
  for (const std::string_view prefix : {"/sim/openapi", "/openapi"}) {
    if (path.starts_with(std::string(prefix) + "/")) return path.substr(prefix.size());
  }
  return path;
}

bool is(const Fault* fault, FaultKind kind) {
  return fault != nullptr && fault->kind == kind;
}

Reply told_error(const Fault& fault) {
  const int status = fault.status == 0 ? 500 : fault.status;
  return saxo_error(status, fault.code.empty() ? "InternalServerError" : fault.code,
                    "Something went wrong.");
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) parts.emplace_back(take_until(text, separator));
  return parts;
}

}  // namespace

SaxoExchange::SaxoExchange()
    : book_(settings_.fill_price),
      desk_(book_, settings_),
      views_(book_, settings_),
      tokens_(settings_),
      limits_(settings_),
      repeats_(settings_) {}

Reply SaxoExchange::answer(const Call& call, Instant now) {
  book_.tick(now);
  const Route route = route_of(call);
  if (!call.held) ++calls_[route.operation.empty() ? "unknown" : route.operation];
  const Sighting sighting{.operation = route.operation, .reference = reference_of(call, route)};
  Reply reply = with_faults(faults_, call, sighting, [&](const Fault* fault) {
    return serve({.call = call, .route = route, .fault = fault, .now = now});
  });
  if (reply.order_id.empty() && route.ids.size() == 1) reply.order_id = route.ids.front();
  return reply;
}

SaxoExchange::Route SaxoExchange::route_of(const Call& call) {
  std::vector<std::string> parts = path_parts(without_prefix(call.path));
  Route route{.group = parts.empty() ? "" : parts.front()};
  std::string path;
  for (const std::string& part : parts) path.append("/").append(part);
  const bool is_get = call.method == "GET";
  const bool is_post = call.method == "POST";
  if (is_post && path == "/token") route.operation = "token";
  if (is_post && path == "/trade/v2/orders") route.operation = "place";
  if (is_post && path == "/trade/v2/orders/precheck") route.operation = "precheck";
  if (call.method == "PATCH" && path == "/trade/v2/orders") route.operation = "modify";
  if (call.method == "DELETE" && path.starts_with("/trade/v2/orders") && parts.size() <= 4) {
    route.operation = "cancel";
    if (parts.size() == 4) route.ids = split(parts[3], ',');
  }
  if (is_get && path == "/cs/v1/audit/orderactivities") route.operation = "activities";
  if (is_get && path == "/ens/v1/activities") route.operation = "events";
  if (is_get && path == "/port/v1/accounts/me") route.operation = "accounts";
  if (is_get && (path == "/port/v1/users/me" || path == "/port/v1/clients/me")) {
    route.operation = "user";
  }
  if (is_get && path.starts_with("/port/v1/orders")) {
    if (parts.size() == 3 || (parts.size() == 4 && parts[3] == "me")) {
      route.operation = "open_orders";
    } else if (parts.size() == 5) {
      const bool details = parts[4] == "details";
      route.operation = details ? "details" : "order";
      route.ids = {details ? parts[3] : parts[4]};
    }
  }
  return route;
}

std::string SaxoExchange::reference_of(const Call& call, const Route& route) const {
  if (route.ids.size() == 1) {
    const SaxoOrder* order = book_.find(route.ids.front());
    return order == nullptr ? "" : order->reference;
  }
  if (call.body.empty() || route.operation == "token") return "";
  const Result<json::Value> body = json::parse(call.body);
  if (!body) return "";
  const std::string reference = text_of(*body, "ExternalReference");
  if (!reference.empty()) return reference;
  const SaxoOrder* order = book_.find(text_of(*body, "OrderId"));
  return order == nullptr ? "" : order->reference;
}

Reply SaxoExchange::serve(const Visit& visit) {
  if (is(visit.fault, FaultKind::error_before)) {
    Reply reply = told_error(*visit.fault);
    dress(visit, {}, reply);
    return reply;
  }
  Reply reply = admit(visit);
  if (!is(visit.fault, FaultKind::error_after)) return reply;
  Reply told = told_error(*visit.fault);
  dress(visit, {}, told);
  told.order_id = reply.order_id;
  told.accepted = reply.accepted;
  return told;
}

// Everything that stands before the work.
Reply SaxoExchange::admit(const Visit& visit) {
  const std::string& operation = visit.route.operation;
  if (operation == "token") return tokens_.refresh(visit.call, visit.now);
  if (!tokens_.admits(visit.call, visit.now)) {
    Reply reply{.status = 401};
    dress(visit, {}, reply);
    return reply;
  }
  if (operation.empty()) return saxo_error(404, "NotFound", "There is nothing at this address.");
  const bool trades = settings_.orders_calls.contains(operation);
  const bool may_repeat = operation == "place" || operation == "precheck" || operation == "modify";
  std::string_view exhausted;
  if (is(visit.fault, FaultKind::rate_limited)) {
    exhausted = trades ? "SessionOrders" : "Session";
  } else {
    exhausted = limits_.take({.group = visit.route.group, .trades = trades}, visit.now);
  }
  Reply reply;
  if (!exhausted.empty()) {
    if (settings_.repeat_after_limit && may_repeat) repeats_.see(visit.call, visit.now);
    reply = saxo_error(429, "RateLimitExceeded",
                       "The limit of " + std::string(exhausted) + " is used up.");
  } else if (may_repeat && repeats_.see(visit.call, visit.now)) {
    ++repeats_refused_;
    reply = saxo_error(409, "DuplicateOperation", "The same operation was received just now.");
  } else {
    reply = work(visit);
  }
  dress(visit, exhausted, reply);
  return reply;
}

Reply SaxoExchange::work(const Visit& visit) {
  const Route& route = visit.route;
  const auto id = [&] { return route.ids.front(); };
  if (route.operation == "place") return desk_.place(visit.call, visit.fault, visit.now);
  if (route.operation == "precheck") return desk_.precheck(visit.call, visit.fault);
  if (route.operation == "modify") return desk_.modify(visit.call, visit.now);
  if (route.operation == "cancel") return desk_.cancel(visit.call, route.ids, visit.now);
  if (route.operation == "open_orders") return views_.open_orders(visit.call, visit.now);
  if (route.operation == "order") return views_.order(visit.call, id(), visit.now);
  if (route.operation == "details") return views_.details(id(), visit.now);
  if (route.operation == "activities") return views_.activities(visit.call, visit.now);
  if (route.operation == "events") return views_.events(visit.call, visit.now);
  if (route.operation == "accounts") return views_.accounts(visit.call);
  return views_.user();
}

// The fields that every answer of Saxo's has.
void SaxoExchange::dress(const Visit& visit, std::string_view exhausted, Reply& reply) {
  std::string correlation = "emulated-";
  append_number(correlation, visit.call.number);
  reply.fields.push_back({.name = "X-Correlation", .value = std::move(correlation)});
  const std::string_view request_id = field(visit.call, "x-request-id");
  if (!request_id.empty()) {
    reply.fields.push_back({.name = "X-Request-ID", .value = std::string(request_id)});
  }
  const bool hidden = !settings_.rate_headers || is(visit.fault, FaultKind::headers_missing);
  if (hidden || visit.route.operation.empty() || reply.status == 401) return;
  const SaxoLimits::Ask ask{.group = visit.route.group,
                            .trades = settings_.orders_calls.contains(visit.route.operation)};
  SaxoLimits::Look look{.exhausted = exhausted};
  if (is(visit.fault, FaultKind::reset_zero)) look.reset = 0;
  if (is(visit.fault, FaultKind::rate_limited)) {
    look.reset = static_cast<std::int64_t>(visit.fault->reset);
  }
  for (Field& told : limits_.fields(ask, look, visit.now)) reply.fields.push_back(std::move(told));
}

Result<void> SaxoExchange::play(const Script& script) {
  PAWL_TRY(check_kinds(script.faults, not_here, "Saxo"));
  if (!script.settings.is_null()) {
    settings_ = PAWL_TRY(parse_saxo_settings(script.settings));
    book_.set_fill_price(settings_.fill_price);
    tokens_.change(settings_);
    limits_ = SaxoLimits(settings_);
    repeats_ = SaxoRepeats(settings_);
  }
  faults_ = script.faults;
  return {};
}

void SaxoExchange::forget() {
  limits_.forget();
  repeats_.forget();
}

void SaxoExchange::reset() {
  forget();
  book_.clear();
  faults_.forget();
  calls_.clear();
  repeats_refused_ = 0;
  tokens_ = SaxoTokens(settings_);
  limits_ = SaxoLimits(settings_);
  static_cast<void>(book_.take_changes());
  changes_ = {R"({"reset":true})"};
}

std::vector<std::string> SaxoExchange::take_changes() {
  std::vector<std::string> changes = std::exchange(changes_, {});
  for (std::string& line : book_.take_changes()) changes.push_back(std::move(line));
  std::string tokens = tokens_.take_change();
  if (!tokens.empty()) changes.push_back(std::move(tokens));
  return changes;
}

Result<void> SaxoExchange::restore(std::string_view line) {
  const json::Value value = PAWL_TRY(json::parse(line));
  if (const json::Value* order = value.find("order")) return book_.restore(*order);
  if (const json::Value* tokens = value.find("tokens")) return tokens_.restore(*tokens);
  if (value.find("reset") != nullptr) {
    book_.clear();
    tokens_ = SaxoTokens(settings_);
    return {};
  }
  return failure(Code::invalid, "a line of the book is none of order, tokens, reset");
}

json::Value SaxoExchange::orders() const {
  json::Array rows;
  for (const auto& [id, order] : book_.all()) {
    json::Value row = to_json(order);
    json::Object shown = *row.if_object();
    shown["placed"] = to_string(order.placed);
    shown["visible"] = to_string(order.visible);
    shown["open"] = is_open(order.state);
    for (const std::string_view inner : {"resolved", "activities", "hides_reference"}) {
      shown.erase(std::string(inner));
    }
    if (order.state != SaxoState::pending) shown.erase("resolves");
    rows.emplace_back(std::move(shown));
  }
  json::Object out;
  out["orders"] = std::move(rows);
  return out;
}

json::Value SaxoExchange::stats() const {
  Rush rush;
  json::Object references;
  std::map<std::string, std::int64_t> accepted;
  for (const auto& [id, order] : book_.all()) {
    rush.placed.push_back(order.placed);
    if (order.state != SaxoState::rejected) ++accepted[order.reference];
  }
  for (const auto& [reference, count] : accepted) references[reference] = count;
  json::Object calls;
  for (const auto& [operation, count] : calls_) calls[operation] = count;
  json::Object breaches;
  for (const auto& [dimension, count] : limits_.breaches()) breaches[dimension] = count;
  json::Object out;
  out["accepted"] = std::move(references);
  out["orders"] = static_cast<std::int64_t>(book_.all().size());
  out["orders_per_second_max"] = rush.most_within(Duration::seconds(1));
  out["limit_breaches"] = std::move(breaches);
  out["repeats_refused"] = repeats_refused_;
  out["calls"] = std::move(calls);
  return out;
}

Result<void> SaxoExchange::act(std::string_view order_id, std::string_view verb, Instant now) {
  constexpr std::pair<std::string_view, SaxoState> verbs[] = {{"fill", SaxoState::filled},
                                                              {"cancel", SaxoState::cancelled},
                                                              {"expire", SaxoState::expired},
                                                              {"reject", SaxoState::rejected}};
  const auto* known = std::ranges::find(verbs, verb, [](const auto& row) { return row.first; });
  if (known == std::end(verbs)) {
    return failure(Code::usage, "an order can be told to fill, cancel, expire or reject");
  }
  const SaxoOrder* order = book_.find(order_id);
  if (order == nullptr) return failure(Code::not_found, "there is no such order");
  if (!is_open(order->state)) {
    return failure(Code::refused, "the order is " + std::string(to_string(order->state)));
  }
  book_.become(order->id, known->second, now);
  return {};
}

}  // namespace pawl::emulator
