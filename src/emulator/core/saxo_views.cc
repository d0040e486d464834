#include "emulator/core/saxo_views.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "emulator/core/calls.h"
#include "emulator/core/saxo_replies.h"

namespace pawl::emulator {
namespace {

constexpr std::uint64_t page_rows = 1'000;  // where the call names no $top

std::string number(std::uint64_t value) {
  std::string text;
  append_number(text, value);
  return text;
}

std::string_view shown_status(SaxoState state) {
  switch (state) {
    case SaxoState::pending:
      return "LockedPlacementPending";
    case SaxoState::working:
      return "Working";
    case SaxoState::not_working:
      return "NotWorking";
    default:
      return "Unknown";
  }
}

void copy(json::Object& to, std::string_view as, const json::Value& from, std::string_view name) {
  if (const json::Value* value = from.find(name)) to[std::string(as)] = *value;
}

// A page of `rows`, with the address of the next one.
Reply page(const Call& call, json::Array rows, std::string_view cursor) {
  const std::uint64_t top =
      std::max<std::uint64_t>(1, number_parameter(call.query, "$top", page_rows));
  const std::uint64_t skip =
      std::min<std::uint64_t>(number_parameter(call.query, cursor, 0), rows.size());
  const std::uint64_t end = std::min<std::uint64_t>(skip + top, rows.size());
  json::Object body;
  body["__count"] = static_cast<std::int64_t>(rows.size());
  if (end < rows.size()) {
    std::string next = "http://" + std::string(field(call, "host")) + call.path + "?";
    std::string_view query = call.query;
    while (!query.empty()) {
      const std::string_view pair = take_until(query, '&');
      if (!parameter(pair, cursor)) next.append(pair).append("&");
    }
    body["__next"] = next.append(cursor).append("=").append(number(end));
  }
  const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(skip);
  body["Data"] =
      json::Array(std::make_move_iterator(begin),
                  std::make_move_iterator(rows.begin() + static_cast<std::ptrdiff_t>(end)));
  return saxo_reply(200, std::move(body));
}

std::optional<Instant> moment(const Call& call, std::string_view name) {
  const std::optional<std::string> text = parameter(call.query, name);
  if (!text) return std::nullopt;
  const Result<Instant> parsed = parse_instant(*text);
  return parsed ? std::optional(*parsed) : std::nullopt;
}

// Which rows of activities a call asks for.
struct Filter {
  std::optional<std::string> order_id;
  std::optional<std::string> status;
  Instant from;
  Instant to;
  bool last_only;

  explicit Filter(const Call& call)
      : order_id(parameter(call.query, "OrderId")),
        status(parameter(call.query, "Status")),
        from(moment(call, "FromDateTime").value_or(Instant())),
        to(moment(call, "ToDateTime").value_or(Instant::max())),
        last_only(parameter(call.query, "EntryType") == "Last") {}

  bool takes(const SaxoActivity& activity) const {
    return activity.time >= from && activity.time <= to && (!status || *status == activity.status);
  }
};

}  // namespace

Reply SaxoViews::open_orders(const Call& call, Instant now) const {
  const bool all = parameter(call.query, "Status") == "All";
  json::Array rows;
  for (const auto& [id, order] : book_.all()) {
    if (!is_open(order.state) || now < order.visible || !settings_.open_orders) continue;
    if (!all && order.state != SaxoState::working) continue;
    rows.emplace_back(open_row(order));
  }
  return page(call, std::move(rows), "$skip");
}

Reply SaxoViews::order(const Call& call, const std::string& id, Instant now) const {
  json::Array rows;
  if (const SaxoOrder* found = find_open(id, now)) rows.emplace_back(open_row(*found));
  return page(call, std::move(rows), "$skip");
}

Reply SaxoViews::details(const std::string& id, Instant now) const {
  const SaxoOrder* found = find_open(id, now);
  if (found == nullptr) return saxo_error(404, "NotFound", "There is no such open order.");
  return saxo_reply(200, open_row(*found));
}

Reply SaxoViews::activities(const Call& call, Instant now) const {
  return activity_rows(call, now, settings_.activities_reference);
}

Reply SaxoViews::events(const Call& call, Instant now) const {
  return activity_rows(call, now, true);
}

Reply SaxoViews::user() const {
  json::Object body;
  body["ClientKey"] = settings_.client_key;
  body["UserKey"] = settings_.client_key;
  body["UserId"] = "1";
  body["Name"] = "Emulated";
  return saxo_reply(200, std::move(body));
}

Reply SaxoViews::accounts(const Call& call) const {
  json::Object account;
  account["AccountKey"] = settings_.account_key;
  account["ClientKey"] = settings_.client_key;
  account["AccountId"] = "1";
  account["Currency"] = "EUR";
  account["Active"] = true;
  return page(call, {std::move(account)}, "$skip");
}

json::Object SaxoViews::open_row(const SaxoOrder& order) const {
  json::Object row;
  row["OrderId"] = order.id;
  row["ClientKey"] = settings_.client_key;
  row["Status"] = shown_status(order.state);
  row["OrderTime"] = to_string(order.placed);
  row["CorrelationKey"] = "order-" + order.id;
  row["FilledAmount"] = 0;
  if (!order.hides_reference && !order.reference.empty()) {
    row["ExternalReference"] = order.reference;
  }
  for (const std::string_view same : {"AccountKey", "Uic", "AssetType", "BuySell", "Amount"}) {
    copy(row, same, order.request, same);
  }
  copy(row, "OpenOrderType", order.request, "OrderType");
  copy(row, "Price", order.request, "OrderPrice");
  copy(row, "StopLimitPrice", order.request, "StopLimitPrice");
  copy(row, "Duration", order.request, "OrderDuration");
  return row;
}

json::Object SaxoViews::activity_row(const SaxoOrder& order, const SaxoActivity& activity) const {
  json::Object row;
  row["ActivityTime"] = to_string(activity.time);
  row["LogId"] = number(activity.log_id);
  row["OrderId"] = order.id;
  row["Status"] = activity.status;
  row["SubStatus"] = activity.sub_status;
  row["ClientKey"] = settings_.client_key;
  row["CorrelationKey"] = "order-" + order.id;
  row["ActivityType"] = "Orders";
  for (const std::string_view same :
       {"AccountKey", "Uic", "AssetType", "BuySell", "Amount", "OrderType"}) {
    copy(row, same, order.request, same);
  }
  copy(row, "Price", order.request, "OrderPrice");
  copy(row, "Duration", order.request, "OrderDuration");
  const bool has_filled = !activity.fill_amount.empty();
  row["FilledAmount"] =
      has_filled ? json::Value(json::Number{activity.fill_amount}) : json::Value(0);
  if (has_filled) {
    row["FillAmount"] = json::Number{activity.fill_amount};
    row["AveragePrice"] = json::Number{activity.price};
    row["ExecutionPrice"] = json::Number{activity.price};
    row["PositionId"] = "position-" + order.id;
  }
  return row;
}

Reply SaxoViews::activity_rows(const Call& call, Instant now, bool with_reference) const {
  const Filter filter(call);
  std::vector<std::pair<std::uint64_t, json::Object>> found;
  for (const auto& [id, order] : book_.all()) {
    if (now < order.visible || (filter.order_id && *filter.order_id != id)) continue;
    for (const SaxoActivity& activity : order.activities) {
      if (!filter.takes(activity)) continue;
      if (filter.last_only && &activity != &order.activities.back()) continue;
      json::Object row = activity_row(order, activity);
      if (with_reference && !order.hides_reference && !order.reference.empty()) {
        row["ExternalReference"] = order.reference;
      }
      found.emplace_back(activity.log_id, std::move(row));
    }
  }
  std::ranges::sort(found, {}, [](const auto& row) { return row.first; });
  json::Array rows;
  for (auto& [log_id, row] : found) rows.emplace_back(std::move(row));
  return page(call, std::move(rows), "$skiptoken");
}

const SaxoOrder* SaxoViews::find_open(const std::string& id, Instant now) const {
  const SaxoOrder* found = book_.find(id);
  const bool shown = found != nullptr && is_open(found->state) && now >= found->visible;
  return shown && settings_.open_orders ? found : nullptr;
}

}  // namespace pawl::emulator
