#include "emulator/core/okx_exchange.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "emulator/core/calls.h"
#include "emulator/core/okx_gate.h"
#include "emulator/core/okx_reads.h"
#include "emulator/core/rush.h"

namespace pawl::emulator {
namespace {

constexpr std::size_t batch_max = 20;
constexpr std::string_view usual_error = "50004";    // of the faults error_before, error_after
constexpr std::string_view usual_refusal = "51008";  // of the fault s_code_in_0

struct Route {
  std::string_view method;
  std::string_view path;
  std::string_view operation;
};

constexpr Route routes[] = {
    {"GET", "/api/v5/public/time", "time"},
    {"GET", "/api/v5/public/instruments", "instruments"},
    {"POST", "/api/v5/trade/order", "place"},
    {"POST", "/api/v5/trade/batch-orders", "batch"},
    {"POST", "/api/v5/trade/cancel-order", "cancel"},
    {"POST", "/api/v5/trade/cancel-batch-orders", "cancel_batch"},
    {"POST", "/api/v5/trade/amend-order", "amend"},
    {"GET", "/api/v5/trade/order", "order"},
    {"GET", "/api/v5/trade/orders-pending", "pending"},
    {"GET", "/api/v5/trade/orders-history", "history"},
    {"GET", "/api/v5/trade/orders-history-archive", "archive"},
    {"GET", "/api/v5/trade/fills", "fills"},
    {"GET", "/api/v5/trade/fills-history", "fills_history"},
    {"GET", "/api/v5/trade/account-rate-limit", "rate_limit"},
    {"GET", "/api/v5/account/positions", "positions"},
    {"GET", "/api/v5/account/config", "config"},
};

using Show = OkxRows (*)(const OkxView&, std::string_view);

constexpr std::pair<std::string_view, Show> readers[] = {{"time", show_time},
                                                         {"instruments", show_instruments},
                                                         {"order", show_order},
                                                         {"pending", show_pending},
                                                         {"history", show_history},
                                                         {"archive", show_archive},
                                                         {"fills", show_fills},
                                                         {"fills_history", show_fills_history},
                                                         {"positions", show_positions},
                                                         {"config", show_config},
                                                         {"rate_limit", show_rate_limit}};

// Faults that only other venues know.
constexpr FaultKind not_here[] = {FaultKind::headers_missing,     FaultKind::reset_zero,
                                  FaultKind::trade_not_completed, FaultKind::error_in_200,
                                  FaultKind::order_id_in_400,     FaultKind::reference_missing,
                                  FaultKind::condition_ignored,   FaultKind::wrong_tag};

std::string_view operation_of(const Call& call) {
  const auto* found = std::ranges::find_if(routes, [&](const Route& route) {
    return route.method == call.method && route.path == call.path;
  });
  return found == std::end(routes) ? std::string_view() : found->operation;
}

bool is(const Fault* fault, FaultKind kind) {
  return fault != nullptr && fault->kind == kind;
}

bool is_any_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

bool is_public(std::string_view operation) {
  return is_any_of(operation, {"time", "instruments"});
}

bool is_batch(std::string_view operation) {
  return is_any_of(operation, {"batch", "cancel_batch"});
}

// New orders, and amendments: expTime and the account's limit are about these.
bool is_counted(std::string_view operation) {
  return is_any_of(operation, {"place", "batch", "amend"});
}

// What a body is about; nothing when it is not what it must be.
std::vector<json::Value> items_of(const Call& call, std::string_view operation) {
  if (call.method != "POST") return {};
  Result<json::Value> body = json::parse(call.body);
  if (!body) return {};
  if (!is_batch(operation)) {
    return body->if_object() == nullptr ? std::vector<json::Value>()
                                        : std::vector<json::Value>{*std::move(body)};
  }
  return body->if_array() == nullptr ? std::vector<json::Value>() : *body->if_array();
}

std::string references_of(const Call& call, const std::vector<json::Value>& items) {
  if (call.method != "POST") return parameter(call.query, "clOrdId").value_or("");
  std::string references;
  for (const json::Value& item : items) {
    if (!references.empty()) references += ",";
    references += text_of(item, "clOrdId");
  }
  return references;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

OkxExchange::OkxExchange()
    : settings_(default_okx_settings()), desk_(settings_, book_), limits_(settings_) {}

Reply OkxExchange::answer(const Call& call, Instant now) {
  const std::string_view operation = operation_of(call);
  if (operation.empty()) {
    Reply reply = okx_refused({.code = "404", .message = "Not Found", .is_whole = true});
    reply.status = 404;
    return reply;
  }
  if (!call.held) ++calls_[std::string(operation)];
  const std::vector<json::Value> items = items_of(call, operation);
  const Sighting sighting{.operation = std::string(operation),
                          .reference = references_of(call, items)};
  return with_faults(faults_, call, sighting, [&](const Fault* fault) {
    return serve(
        {.call = call, .operation = operation, .items = items, .fault = fault, .now = now});
  });
}

Reply OkxExchange::serve(const Visit& visit) {
  if (const OkxRefusal refusal = admit(visit); refusal.refuses()) return refuse(visit, refusal);
  const bool fails = is(visit.fault, FaultKind::error_before);
  const bool fails_after = is(visit.fault, FaultKind::error_after);
  OkxRefusal error;
  if (fails || fails_after) {
    error = okx_item(visit.fault->code.empty() ? usual_error : std::string_view(visit.fault->code));
    error.is_whole = okx_status(error.code) != 200;
  }
  if (fails) return refuse(visit, error);
  Reply reply = visit.call.method == "POST" ? tell(visit, work(visit)) : read(visit);
  push(visit.fault);
  if (!fails_after) return reply;
  const Reply told = refuse(visit, error);
  reply.status = told.status;
  reply.body = told.body;
  return reply;
}

// In the shape that the call's answers have.
Reply OkxExchange::refuse(const Visit& visit, const OkxRefusal& refusal) const {
  Reply reply;
  if (refusal.is_whole || visit.items.empty()) {
    reply = okx_refused(refusal);
  } else {
    std::vector<OkxItem> items;
    for (const json::Value& item : visit.items) {
      items.push_back({.reference = text_of(item, "clOrdId"), .refusal = refusal});
    }
    reply = okx_items(items, visit.now, false);
  }
  if (refusal.code == "50061") reply.status = static_cast<int>(settings_.account_limit_status);
  if (visit.fault != nullptr && visit.fault->status != 0) reply.status = visit.fault->status;
  return reply;
}

OkxRefusal OkxExchange::admit(const Visit& visit) {
  if (!is_public(visit.operation)) {
    OkxRefusal refusal = check_okx_call(settings_, visit.call, visit.now);
    if (refusal.refuses()) return refusal;
  }
  if (is(visit.fault, FaultKind::rate_limited)) return okx_whole("50011");
  OkxLimits::Ask ask{.operation = visit.operation};
  for (const json::Value& item : visit.items) {
    ask.instruments.push_back(text_of(item, "instId"));
    const bool is_cash = text_of(item, "tdMode") == "cash";
    if (is_counted(visit.operation) && !is_cash) ++ask.counted_by_account;
  }
  if (visit.operation == "order") {
    ask.instruments.push_back(parameter(visit.call.query, "instId").value_or(""));
  }
  if (OkxRefusal refusal = limits_.take(ask, visit.now); refusal.refuses()) return refusal;

  if (visit.call.method != "POST") return {};
  if (visit.call.body.empty()) return okx_whole("50000");
  if (visit.items.empty()) return okx_whole("50002");
  if (visit.items.size() > batch_max) return okx_whole("50025");
  const std::string_view expires = field(visit.call, "exptime");
  if (expires.empty() || !is_counted(visit.operation)) return {};
  const std::optional<std::int64_t> at = whole_number(expires);
  if (!at) return okx_parameter("expTime");
  return visit.now.ns() / 1'000'000 > *at ? okx_item(settings_.expired_code) : OkxRefusal();
}

Reply OkxExchange::read(const Visit& visit) const {
  const OkxView view{.settings = settings_, .book = book_, .now = visit.now};
  const auto* reader =
      std::ranges::find(readers, visit.operation, [](const auto& row) { return row.first; });
  OkxRows rows = reader->second(view, visit.call.query);
  return rows ? okx_data(*std::move(rows)) : refuse(visit, rows.error());
}

OkxItem OkxExchange::work_on(const Visit& visit, const json::Value& item) {
  if (is_any_of(visit.operation, {"cancel", "cancel_batch"})) return desk_.cancel(item, visit.now);
  if (visit.operation == "amend") return desk_.amend(item, visit.now);
  const Duration lag = is(visit.fault, FaultKind::lag) ? visit.fault->lag : settings_.lag;
  return desk_.place(item, visit.now, lag);
}

std::vector<OkxItem> OkxExchange::work(const Visit& visit) {
  std::vector<OkxItem> items;
  for (const json::Value& item : visit.items) {
    if (is(visit.fault, FaultKind::s_code_in_0) && items.empty()) {
      const std::string& code = visit.fault->code;
      items.push_back({.reference = text_of(item, "clOrdId"),
                       .refusal = okx_item(code.empty() ? usual_refusal : std::string_view(code))});
    } else {
      items.push_back(work_on(visit, item));
    }
  }
  return items;
}

Reply OkxExchange::tell(const Visit& visit, const std::vector<OkxItem>& items) {
  const bool places = is_any_of(visit.operation, {"place", "batch"});
  std::string ids;
  bool accepted = false;
  for (const OkxItem& item : items) {
    if (item.refusal.code == settings_.duplicate_code) ++repeats_refused_;
    if (item.refusal.refuses()) continue;
    if (!ids.empty()) ids += ",";
    ids += item.order_id;
    accepted = accepted || places;
  }
  Reply reply;
  const OkxRefusal& first = items.front().refusal;
  if (first.is_whole && !is_batch(visit.operation) && settings_.parameter_is_whole) {
    reply = okx_refused(first);
  } else {
    reply = okx_items(items, visit.now, is(visit.fault, FaultKind::s_code_in_0));
  }
  reply.order_id = std::move(ids);
  reply.accepted = accepted;
  return reply;
}

// What has happened in the book, to the order channel.
void OkxExchange::push(const Fault* fault) {
  std::vector<json::Value> rows = book_.take_rows();
  if (!is(fault, FaultKind::push_silence)) {
    for (const json::Value& row : rows) {
      pushes_.push_back({.channel = std::string(okx_orders_push),
                         .text = json::print(row),
                         .before_reply = is(fault, FaultKind::push_before_reply)});
    }
  }
  if (is(fault, FaultKind::push_close)) {
    pushes_.push_back({.channel = std::string(okx_close_push)});
  }
}

Result<void> OkxExchange::play(const Script& script) {
  PAWL_TRY(check_kinds(script.faults, not_here, "OKX"));
  if (!script.settings.is_null()) {
    settings_ = PAWL_TRY(parse_okx_settings(script.settings));
    limits_ = OkxLimits(settings_);
  }
  faults_ = script.faults;
  return {};
}

void OkxExchange::reset() {
  book_.clear();
  faults_.forget();
  limits_ = OkxLimits(settings_);
  pushes_.clear();
  calls_.clear();
  repeats_refused_ = 0;
  changes_ = {R"({"reset":true})"};
}

std::vector<std::string> OkxExchange::take_changes() {
  std::vector<std::string> changes = std::exchange(changes_, {});
  for (std::string& line : book_.take_changes()) changes.push_back(std::move(line));
  return changes;
}

Result<void> OkxExchange::restore(std::string_view line) {
  const json::Value value = PAWL_TRY(json::parse(line));
  if (value.find("reset") == nullptr) return book_.restore(value);
  book_.clear();
  return {};
}

json::Value OkxExchange::orders() const {
  json::Array rows;
  for (const auto& [id, order] : book_.all()) {
    json::Object row = *shown(order).if_object();
    row["id"] = std::to_string(id);
    row["reference"] = order.cl_ord_id;
    row["open"] = is_open(order.state);
    row["placed"] = to_string(order.created);
    row["visible"] = to_string(order.visible);
    rows.emplace_back(std::move(row));
  }
  return json::Object{{"orders", std::move(rows)}};
}

json::Value OkxExchange::stats() const {
  Rush rush;
  std::map<std::string, std::int64_t> accepted;
  for (const auto& [id, order] : book_.all()) {
    rush.placed.push_back(order.created);
    ++accepted[order.cl_ord_id];
  }
  const auto object_of = [](const std::map<std::string, std::int64_t>& counts) {
    json::Object object;
    for (const auto& [name, count] : counts) object[name] = count;
    return object;
  };
  return json::Object{{"accepted", object_of(accepted)},
                      {"orders", static_cast<std::int64_t>(book_.all().size())},
                      {"orders_per_second_max", rush.most_within(Duration::seconds(1))},
                      {"limit_breaches", object_of(limits_.breaches())},
                      {"repeats_refused", repeats_refused_},
                      {"calls", object_of(calls_)}};
}

Result<void> OkxExchange::act(std::string_view order_id, std::string_view verb, Instant now) {
  // Why an order was canceled, as OKX numbers it: by the user, at its end, by the system.
  constexpr std::pair<std::string_view, std::string_view> ends[] = {
      {"cancel", "1"}, {"expire", "20"}, {"reject", "0"}};
  const bool fills = is_any_of(verb, {"fill", "fill_half"});
  const auto* end = std::ranges::find(ends, verb, [](const auto& row) { return row.first; });
  if (!fills && end == std::end(ends)) {
    return failure(Code::usage,
                   "an order can be told to fill, fill_half, cancel, expire or reject");
  }
  const auto id = whole_number(order_id);
  const OkxOrder* order = id ? book_.find(static_cast<std::uint64_t>(*id)) : nullptr;
  if (order == nullptr) return failure(Code::not_found, "there is no such order");
  if (!is_open(order->state)) {
    return failure(Code::refused, "the order is " + std::string(to_string(order->state)));
  }
  if (fills) {
    desk_.fill(*order, verb == "fill_half", now);
  } else {
    book_.cancel(order->id, end->second, now);
  }
  push(nullptr);
  return {};
}

}  // namespace pawl::emulator
