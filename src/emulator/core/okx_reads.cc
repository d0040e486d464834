#include "emulator/core/okx_reads.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include "emulator/core/calls.h"

namespace pawl::emulator {
namespace {

constexpr std::uint64_t page_max = 100;
constexpr Duration canceled_kept = Duration::hours(2);
constexpr Duration history_kept = Duration::days(7);
constexpr Duration archive_kept = Duration::days(90);
constexpr Duration fills_kept = Duration::days(3);
constexpr std::uint64_t whole_max = std::numeric_limits<std::uint64_t>::max();

bool matches(std::string_view query, std::string_view name, std::string_view value) {
  const std::optional<std::string> wanted = parameter(query, name);
  return !wanted || wanted->empty() || *wanted == value;
}

bool fits(std::string_view query, const OkxOrder& order) {
  return matches(query, "instType", order.inst_type) && matches(query, "instId", order.inst_id) &&
         matches(query, "ordType", order.ord_type) &&
         matches(query, "state", to_string(order.state));
}

Instant instant_of_ms(std::uint64_t ms) {
  constexpr auto ms_max = std::uint64_t{std::numeric_limits<std::int64_t>::max()} / 1'000'000;
  return Instant() + Duration::milliseconds(static_cast<std::int64_t>(std::min(ms, ms_max)));
}

// Pages of what is numbered: "after" gives older ones, "before" newer ones, "begin" and "end" are
// of the time it was made.
struct Page {
  explicit Page(std::string_view query)
      : older_than(number_parameter(query, "after", whole_max)),
        newer_than(number_parameter(query, "before", 0)),
        begin(instant_of_ms(number_parameter(query, "begin", 0))),
        end(instant_of_ms(number_parameter(query, "end", whole_max))),
        size(std::clamp<std::uint64_t>(number_parameter(query, "limit", page_max), 1, page_max)) {}

  bool takes(std::uint64_t number, Instant made) const {
    return number < older_than && number > newer_than && made >= begin && made <= end;
  }

  std::uint64_t older_than;
  std::uint64_t newer_than;
  Instant begin;
  Instant end;
  std::uint64_t size;
};

// Is an order that is over still shown?
bool is_kept(const OkxView& view, const OkxOrder& order, bool keeps_canceled) {
  const Duration age = view.now - order.updated;
  return keeps_canceled || !order.is_trace_of_nothing() || age < canceled_kept;
}

using Filter = std::function<bool(const OkxOrder&)>;

json::Array list_orders(const OkxView& view, std::string_view query, const Filter& filter) {
  const Page page(query);
  json::Array rows;
  const auto& all = view.book.all();
  for (auto at = all.rbegin(); at != all.rend() && rows.size() < page.size; ++at) {
    const OkxOrder& order = at->second;
    const bool is_shown = order.visible <= view.now && page.takes(order.id, order.created) &&
                          fits(query, order) && filter(order);
    if (is_shown) rows.push_back(shown(order));
  }
  return rows;
}

OkxRows list_completed(const OkxView& view, std::string_view query, Duration kept,
                       bool keeps_canceled) {
  if (!parameter(query, "instType")) return std::unexpected(okx_missing("instType"));
  return list_orders(view, query, [&](const OkxOrder& order) {
    return !is_open(order.state) && view.now - order.updated < kept &&
           is_kept(view, order, keeps_canceled);
  });
}

OkxRows list_fills(const OkxView& view, std::string_view query, Duration kept) {
  const Page page(query);
  const std::optional<std::string> of = parameter(query, "ordId");
  json::Array rows;
  const auto& all = view.book.fills();
  for (auto at = all.rbegin(); at != all.rend() && rows.size() < page.size; ++at) {
    const OkxOrder* order = view.book.find(at->order);
    if (order == nullptr || order->visible > view.now || view.now - at->time >= kept) continue;
    const bool is_wanted = (!of || *of == std::to_string(at->order)) && fits(query, *order) &&
                           page.takes(at->trade, at->time);
    if (is_wanted) rows.push_back(shown(*at, *order));
  }
  return rows;
}

}  // namespace

OkxRows show_order(const OkxView& view, std::string_view query) {
  const std::optional<std::string> inst_id = parameter(query, "instId");
  if (!inst_id || inst_id->empty()) return std::unexpected(okx_missing("instId"));
  const auto instrument = view.settings.instruments.find(*inst_id);
  if (instrument == view.settings.instruments.end() || !instrument->second.is_live) {
    return std::unexpected(okx_whole("51001"));
  }
  const std::optional<std::string> id = parameter(query, "ordId");
  const std::optional<std::string> name = parameter(query, "clOrdId");
  if (!id && !name) return std::unexpected(okx_whole("50015"));

  // Of several with one clOrdId the latest that can be seen.
  std::vector<const OkxOrder*> candidates;
  if (id) {
    candidates.push_back(view.book.find(number_parameter(query, "ordId", 0)));
  } else {
    candidates = view.book.all_named(*name);
  }
  const bool keeps_canceled = view.settings.order_keeps_canceled;
  for (auto at = candidates.rbegin(); at != candidates.rend(); ++at) {
    const OkxOrder* order = *at;
    const bool is_shown =
        order != nullptr && order->inst_id == *inst_id && order->visible <= view.now &&
        (is_open(order->state) ||
         (is_kept(view, *order, keeps_canceled) && view.now - order->updated < archive_kept));
    if (is_shown) return json::Array{shown(*order)};
  }
  return std::unexpected(okx_whole("51603"));
}

OkxRows show_pending(const OkxView& view, std::string_view query) {
  const Page page(query);
  json::Array rows;
  const auto& open = view.book.open();
  for (auto at = open.rbegin(); at != open.rend() && rows.size() < page.size; ++at) {
    const OkxOrder& order = *view.book.find(*at);
    const bool is_shown =
        order.visible <= view.now && page.takes(order.id, order.created) && fits(query, order);
    if (is_shown) rows.push_back(shown(order));
  }
  return rows;
}

OkxRows show_history(const OkxView& view, std::string_view query) {
  return list_completed(view, query, history_kept, false);
}

OkxRows show_archive(const OkxView& view, std::string_view query) {
  return list_completed(view, query, archive_kept, view.settings.archive_keeps_canceled);
}

OkxRows show_fills(const OkxView& view, std::string_view query) {
  return list_fills(view, query, fills_kept);
}

OkxRows show_fills_history(const OkxView& view, std::string_view query) {
  if (!parameter(query, "instType")) return std::unexpected(okx_missing("instType"));
  return list_fills(view, query, archive_kept);
}

OkxRows show_positions(const OkxView& view, std::string_view query) {
  json::Array rows;
  for (const auto& [key, position] : view.book.positions()) {
    const bool is_wanted = position.size != Decimal() &&
                           matches(query, "instType", position.inst_type) &&
                           matches(query, "instId", position.inst_id);
    if (is_wanted) rows.push_back(shown(position));
  }
  return rows;
}

OkxRows show_config(const OkxView& view, std::string_view) {
  return json::Array{
      json::Object{{"acctLv", "2"},
                   {"acctStpMode", "cancel_maker"},
                   {"autoLoan", false},
                   {"level", "Lv1"},
                   {"mainUid", okx_user_id},
                   {"perm", "read_only,trade"},
                   {"posMode", view.settings.long_short ? "long_short_mode" : "net_mode"},
                   {"uid", okx_user_id}}};
}

OkxRows show_rate_limit(const OkxView& view, std::string_view) {
  const std::string limit = std::to_string(view.settings.limits.at("account"));
  return json::Array{json::Object{{"accRateLimit", limit},
                                  {"fillRatio", "0"},
                                  {"mainFillRatio", "0"},
                                  {"nextAccRateLimit", limit},
                                  {"ts", okx_ms(view.now)}}};
}

OkxRows show_instruments(const OkxView& view, std::string_view query) {
  const std::optional<std::string> type = parameter(query, "instType");
  if (!type || type->empty()) return std::unexpected(okx_missing("instType"));
  json::Array rows;
  std::int64_t code = 0;
  for (const auto& [name, instrument] : view.settings.instruments) {
    ++code;
    const std::string_view wanted = *type == "MARGIN" ? "SPOT" : std::string_view(*type);
    if (wanted != instrument.type || !matches(query, "instId", name)) continue;
    rows.push_back(json::Object{{"ctVal", instrument.type == "SPOT" ? "" : "1"},
                                {"instId", name},
                                {"instIdCode", code},
                                {"instType", *type},
                                {"lotSz", to_string(instrument.lot)},
                                {"minSz", to_string(instrument.minimum)},
                                {"state", instrument.is_live ? "live" : "expired"},
                                {"tickSz", "0.00000001"}});
  }
  return rows;
}

OkxRows show_time(const OkxView& view, std::string_view) {
  return json::Array{json::Object{{"ts", okx_ms(view.now)}}};
}

}  // namespace pawl::emulator
