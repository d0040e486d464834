// What is sent to Saxo: orders, changes and prechecks as JSON.
//
// Why:      pure and apart from the calls, so that every byte of an order is shown by a test.
// Contract: prices and sizes keep the digits they were given with. ManualOrder is always there: an
//           order without it is refused. check() refuses what Saxo does not take before anything
//           is reserved; the bodies are made of orders that passed it.
// Threads:  any.
#pragma once

#include <string>
#include <string_view>

#include "core/order/order.h"
#include "pawl/result.h"
#include "port/venue.h"

namespace pawl::saxo {

inline constexpr std::size_t reference_bytes_max = 50;

// Where orders are placed, and by whom.
struct Account {
  std::string client_key = {};
  std::string account_key = {};
  bool manual = false;  // ManualOrder: a person decided on each order
};

Result<void> check(const order::Order& order, std::string_view reference);

// Market, Limit, StopIfTraded (Stop for FX), StopLimit.
std::string_view order_type(const order::Order& order);
// The words of Saxo for what an order is, as VenueOrder::type has them: ours where there is one.
std::string type_text(std::string_view order_type);

// POST /trade/v2/orders
std::string place_body(const order::Order& order, std::string_view reference,
                       const Account& account);
// POST /trade/v2/orders/precheck
std::string precheck_body(const order::Order& order, std::string_view reference,
                          const Account& account);
// PATCH /trade/v2/orders: the whole order as it is to be; ask.order is the order as it is now.
std::string change_body(const ChangeAsk& ask, const Account& account);

}  // namespace pawl::saxo
