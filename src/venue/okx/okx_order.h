// An order in OKX's words: what it takes, and the bodies of the calls that place and change one.
//
// Contract: pure. Sizes and prices are decimal text as the caller wrote them; every number on the
//           wire is a text. check_order() refuses what OKX has no word for, before anything is
//           reserved: stop orders (algo orders there, with ids of their own), day orders, and
//           sizes that OKX would read in another currency.
// Sizes:    of a SPOT market order OKX would take a buyer's size for quote currency; it is told
//           that it is base currency, so that a size always means the same.
// Reducing: `reduceOnly` is sent where OKX heeds it: MARGIN, FUTURES and SWAP. In net mode the
//           order of a FUTURES or SWAP says posSide `net` as well, so that OKX refuses it if the
//           account has been switched to long/short mode, where reduceOnly would mean nothing.
// Threads:  any.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/order/order.h"
#include "pawl/result.h"
#include "port/venue.h"

namespace pawl::okx {

enum class Kind : std::uint8_t { spot, margin, swap, futures, option };
inline constexpr Kind all_kinds[] = {Kind::spot, Kind::margin, Kind::swap, Kind::futures,
                                     Kind::option};
// OKX's instType: "SPOT".
std::string_view to_string(Kind kind);
// By the form of the name: BTC-USDT, BTC-USDT-SWAP, BTC-USD-261225, BTC-USD-261225-50000-C.
// Nothing: no instrument of OKX is called that.
std::optional<Kind> kind_of(std::string_view instrument);
// SPOT that is traded cross or isolated is MARGIN. The order must have passed check_order().
Kind kind_of(const order::Order& order);
// tdMode: the order's own, else cash for SPOT and cross for the rest.
std::string trade_mode(const order::Order& order);

// How the account counts positions; unknown until it was asked.
enum class PositionMode : std::uint8_t { unknown, net, long_short };
PositionMode position_mode_of(std::string_view pos_mode);

Result<void> check_order(const order::Order& order);
// OKX itself will hold it to reducing.
bool enforces_reduce_only(const order::Order& order, PositionMode mode);

std::string place_body(const PlaceAsk& ask, PositionMode mode);
std::string batch_body(std::span<const PlaceAsk> asks, PositionMode mode);
// Errors: a stop price, which no order here has.
Result<std::string> amend_body(const ChangeAsk& ask);
std::string cancel_body(const ChangeAsk& ask);

}  // namespace pawl::okx
