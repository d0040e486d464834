// Reads all that Saxo shows of an intent: order activities by OrderId where one is known, open
// orders, order activities since the intent; and where an order looks like ours but shows no
// reference, the events and the details of that order.
//
//   by OrderId ─▶ open orders ─▶ activities ─▶ (undecided?) events ─▶ details …  ─▶ Reading
//
// Why:      absence must be shown by every source. Open orders do not show what filled at once, and
//           activities may lag behind.
// Contract: a Reading is whole when the first three were read to their last page, row by row. A
//           page that is full, names no next one and tells no count may have been cut: not whole.
// Time:     the window of activities is counted by Saxo's clock (the Date of its answers), and
//           begins bounds::venue_look_back before the intent: a local clock that runs ahead must
//           not hide an order.
// Bounds:   bounds::venue_pages_max pages a source, venue_details_max details.
// Threads:  any; `done` is called exactly once.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "pawl/clock.h"
#include "port/venue.h"
#include "venue/saxo/saxo_caller.h"
#include "venue/saxo/saxo_reading.h"

namespace pawl::saxo {

inline constexpr std::string_view open_orders_path = "/port/v1/orders/me";
inline constexpr std::string_view activities_path = "/cs/v1/audit/orderactivities";
inline constexpr std::string_view events_path = "/ens/v1/activities";

// All rows of an address, page by page.
struct Rows {
  json::Array rows = {};
  std::string problem = {};                // empty: they are all there
  std::optional<Instant> venue_time = {};  // of the first answer
};
void read_rows(const std::shared_ptr<Caller>& caller, std::string_view path, std::string query,
               std::move_only_function<void(Rows)> done);

struct ActivityWindow {
  std::string order_id = {};
  std::optional<Instant> from = {};
  std::optional<Instant> to = {};
};
std::string activities_query(const Account& account, const ActivityWindow& window);
std::string open_orders_query();

struct ReaderPorts {
  std::shared_ptr<Caller> caller;
  Clock& clock;
};
void read_intent(ReaderPorts ports, const Account& account, ReadAsk ask,
                 std::move_only_function<void(order::Reading)> done);
// The order with ask.order_id. not_found: neither activities nor open orders show it.
void look_at_order(ReaderPorts ports, const Account& account, const std::string& order_id,
                   std::move_only_function<void(Result<order::VenueOrder>)> done);
// The same, with the terms that it has now: open orders first, for activities may lag behind a
// change. unavailable: open orders were not read, or the terms are not shown.
void look_at_terms(ReaderPorts ports, const Account& account, const std::string& order_id,
                   std::move_only_function<void(Result<order::VenueOrder>)> done);

}  // namespace pawl::saxo
