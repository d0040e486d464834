#include "venue/okx/okx_history.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>
#include <vector>

#include "base/bounds.h"
#include "venue/common/wire.h"
#include "venue/okx/okx_answer.h"
#include "venue/okx/okx_order.h"

namespace pawl::okx {
namespace {

constexpr std::size_t kinds = std::size(all_kinds);

bool needs_archive(const HistoryAsk& ask) {
  return ask.from < ask.now - history_kept + bounds::okx_retention_margin;
}

std::size_t lists_of(const HistoryAsk& ask) {
  return 1 + kinds + (needs_archive(ask) ? kinds : 0);
}

std::string text_of(const HistoryPlace& place) {
  return std::to_string(place.list) + ":" + place.after;
}

std::string what_is_gone(const HistoryAsk& ask) {
  std::string note = "OKX keeps orders that were canceled without a fill for " +
                     to_string(canceled_kept) +
                     " only: older ones are missing here, and are not counted";
  if (ask.from < ask.now - archive_kept) {
    note += "; of what is older than " + to_string(archive_kept) + " it keeps nothing";
  }
  return note;
}

}  // namespace

Result<HistoryPlace> parse_place(std::string_view page, const HistoryAsk& ask) {
  HistoryPlace place;
  if (page.empty()) return place;
  const auto colon = page.find(':');
  const char* const end = page.data() + std::min(colon, page.size());
  const auto read = std::from_chars(page.data(), end, place.list);
  place.after = colon == std::string_view::npos ? "" : page.substr(colon + 1);
  const bool is_id = std::ranges::all_of(place.after, [](char c) { return c >= '0' && c <= '9'; });
  if (colon == std::string_view::npos || read.ec != std::errc() || read.ptr != end || !is_id ||
      place.list >= lists_of(ask) || place.after.size() > bounds::venue_id_bytes_max) {
    return failure(Code::invalid, "'" + venue::for_people(page) + "' is no page of OKX's history");
  }
  return place;
}

ReadCall history_call(const HistoryAsk& ask, const HistoryPlace& place) {
  const auto path = [](std::string_view name,
                       const std::vector<std::pair<std::string_view, std::string>>& parameters) {
    return "/api/v5/" + std::string(name) + "?" + venue::query_of(parameters);
  };
  const std::string limit = std::to_string(bounds::okx_page_rows);
  if (place.list == 0) {
    constexpr std::string_view name = "trade/orders-pending";
    return {.kind = ReadKind::pending,
            .name = std::string(name),
            .path = path(name, {{"after", place.after}, {"limit", limit}})};
  }
  const bool archived = place.list > kinds;
  const Kind kind = all_kinds[(place.list - 1) % kinds];
  const std::string_view name = archived ? "trade/orders-history-archive" : "trade/orders-history";
  return {.kind = archived ? ReadKind::archive : ReadKind::history,
          .name = std::string(name),
          .path = path(name, {{"instType", std::string(to_string(kind))},
                              {"begin", to_milliseconds(ask.from)},
                              {"end", to_milliseconds(ask.to + Duration::milliseconds(1))},
                              {"after", place.after},
                              {"limit", limit}})};
}

Result<HistoryPage> history_page(const HistoryAsk& ask, const HistoryPlace& place,
                                 const HttpAnswer& answer) {
  const std::string name = history_call(ask, place).name;
  auto orders = PAWL_TRY(orders_of(answer, name));
  HistoryPage page;
  HistoryPlace next{.list = place.list + 1};
  if (orders.size() >= bounds::okx_page_rows) {
    next = {.list = place.list, .after = orders.back().order_id};
    if (next.after == place.after)
      return failure(Code::unavailable, name + ": the same page twice");
  }
  page.lists_done = next.list;
  page.lists = lists_of(ask);
  if (next.list < page.lists) page.next = text_of(next);
  if (place.list == 0 && place.after.empty()) page.note = what_is_gone(ask);
  for (order::VenueOrder& order : orders) {
    if (order.placed_at >= ask.from && order.placed_at < ask.to) {
      page.orders.push_back(std::move(order));
    }
  }
  return page;
}

}  // namespace pawl::okx
