// Order: what a caller wants to trade, in the words all venues share.
//
// Why:      prices and sizes are decimal text from the caller to the wire; nothing here is binary
//           floating point.
// Contract: a value. check() refuses what no venue takes; what one venue does not take is its own
//           to say (port/venue.h), before anything is reserved.
// Reference: external_reference names the intent, is made once and never changes. Whoever wants a
//           placement to be repeatable gives it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/decimal.h"
#include "base/id.h"
#include "base/json.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::order {

enum class Side : std::uint8_t { buy, sell };
std::string_view to_string(Side side);
std::optional<Side> side_of(std::string_view name);

enum class Type : std::uint8_t { market, limit, stop, stop_limit, post_only };
std::string_view to_string(Type type);
std::optional<Type> type_of(std::string_view name);

// How long it stands in the market; none: what the venue takes for its kind.
enum class Validity : std::uint8_t { day, gtc, ioc, fok };
std::string_view to_string(Validity validity);
std::optional<Validity> validity_of(std::string_view name);

struct Order {
  std::string venue = {};       // as the configuration calls it: saxo, okx
  std::string instrument = {};  // OKX: instId; Saxo: Uic
  std::string asset_type = {};  // Saxo alone
  Side side = Side::buy;
  Type type = Type::limit;
  Decimal size = {};
  std::optional<Decimal> price = {};       // of limit, stop_limit and post_only
  std::optional<Decimal> stop_price = {};  // of stop and stop_limit
  std::optional<Validity> validity = {};
  bool reduce_only = false;
  std::string trade_mode = {};     // OKX: cash, cross, isolated; empty: by the instrument
  std::string position_side = {};  // OKX: long, short, net; empty: not sent
  bool operator==(const Order&) const = default;
};

Result<void> check(const Order& order);

// What order_history and the log call inst_id: "BTC-USDT-SWAP", "211:Stock".
std::string instrument_name(const Order& order);
// "BTC-USDT-SWAP buy 0.1".
std::string brief(const Order& order);

// Members as the contract's `--json` and POST /v1/orders have them: venue, inst (or uic,
// asset_type), side, type, size, price … Numbers are text.
json::Value to_json(const Order& order);
// Unknown members are an error that names them. `besides`: one that stands there and is the
// caller's.
Result<Order> order_of(const json::Value& value, std::string_view besides = {});
// Same reference, other order: told apart by this (SHA-256 of the canonical JSON). Equal for orders
// that are equal, so "1.10" is "1.1".
std::string fingerprint(const Order& order);
// What of `now` is not as it was: "size was 0.1 and is 0.2; side was buy and is sell". Empty for
// equal orders.
std::string difference(const Order& before, const Order& now);

// 1 to 50 characters of letters, digits and `_ - . :`; 50 is the most that Saxo takes.
Result<void> check_reference(std::string_view reference);
// For a caller who gave none: unique, sorts by time.
std::string make_reference(Instant now, const Entropy16& entropy);

}  // namespace pawl::order
