#include "venue/okx/okx_order.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/json.h"
#include "base/text.h"
#include "venue/okx/okx_client_id.h"

namespace pawl::okx {
namespace {

using order::Order;
using order::Side;
using order::Type;
using order::Validity;

std::unexpected<Error> not_taken(std::string what) {
  return failure(Code::invalid, "OKX does not take this order: " + std::move(what));
}

bool is_name_part(std::string_view part) {
  return !part.empty() && std::ranges::all_of(part, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  });
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// ordType. Nothing: OKX has no order of these terms.
std::optional<std::string_view> order_type(const Order& order) {
  const auto validity = order.validity;
  const bool stands = !validity || *validity == Validity::gtc;
  switch (order.type) {
    case Type::limit:
      if (stands) return "limit";
      if (*validity == Validity::ioc) return "ioc";
      if (*validity == Validity::fok) return "fok";
      return std::nullopt;
    case Type::post_only:
      if (stands) return "post_only";
      return std::nullopt;
    case Type::market:
      // What a market order does not get at once is canceled: it is immediate or cancel.
      if (!validity || *validity == Validity::ioc) return "market";
      return std::nullopt;
    case Type::stop:
    case Type::stop_limit:
      return std::nullopt;
  }
  return std::nullopt;
}

Result<void> check_modes(const Order& order, Kind named) {
  const std::string& mode = order.trade_mode;
  const bool derived = named == Kind::swap || named == Kind::futures;
  if (!mode.empty() && mode != "cross" && mode != "isolated" && mode != "cash") {
    return not_taken("its trade mode is '" + mode + "'; there are cash, cross and isolated");
  }
  if (derived && mode == "cash") {
    return not_taken(order.instrument + " is traded cross or isolated, not cash");
  }
  const std::string& side = order.position_side;
  if (side.empty()) return {};
  if (side != "long" && side != "short" && side != "net") {
    return not_taken("its position side is '" + side + "'; there are long, short and net");
  }
  if (!derived) return not_taken("only FUTURES and SWAP have a position side; leave it out");
  return {};
}

bool heeds_reduce_only(Kind kind) {
  return kind == Kind::margin || kind == Kind::swap || kind == Kind::futures;
}

json::Object place_object(const PlaceAsk& ask, PositionMode mode) {
  const Order& order = ask.order;
  const Kind kind = kind_of(order);
  const auto type = order_type(order);
  PAWL_ASSERT(type);
  json::Object body{{"instId", order.instrument},
                    {"tdMode", trade_mode(order)},
                    {"clOrdId", client_order_id(ask.reference)},
                    {"side", order::to_string(order.side)},
                    {"ordType", *type},
                    {"sz", to_string(order.size)}};
  if (order.price) body.emplace("px", to_string(*order.price));
  if (kind == Kind::spot && order.type == Type::market) body.emplace("tgtCcy", "base_ccy");
  if (!order.position_side.empty()) body.emplace("posSide", order.position_side);
  const bool hedged = mode == PositionMode::long_short || order.position_side == "long" ||
                      order.position_side == "short";
  if (order.reduce_only && heeds_reduce_only(kind) && !hedged) {
    body.emplace("reduceOnly", true);
    if (kind != Kind::margin && mode == PositionMode::net) body.emplace("posSide", "net");
  }
  return body;
}

// ordId where there is one; it wins at OKX, too.
json::Object order_object(const ChangeAsk& ask) {
  json::Object body{{"instId", ask.order.instrument}};
  if (!ask.order_id.empty()) {
    body.emplace("ordId", ask.order_id);
  } else {
    body.emplace("clOrdId", client_order_id(ask.reference));
  }
  return body;
}

}  // namespace

std::string_view to_string(Kind kind) {
  constexpr std::array<std::string_view, 5> names = {"SPOT", "MARGIN", "SWAP", "FUTURES", "OPTION"};
  return names[static_cast<std::size_t>(kind)];
}

std::optional<Kind> kind_of(std::string_view instrument) {
  std::vector<std::string_view> parts;
  if (instrument.ends_with('-')) return std::nullopt;
  for (std::string_view rest = instrument; !rest.empty();) {
    parts.push_back(take_until(rest, '-'));
    if (!is_name_part(parts.back()) || parts.size() > 5) return std::nullopt;
  }
  if (parts.size() == 2) return Kind::spot;
  if (parts.size() == 3 && parts[2] == "SWAP") return Kind::swap;
  const bool dated = parts.size() >= 3 && parts[2].size() == 6 && is_digits(parts[2]);
  if (parts.size() == 3 && dated) return Kind::futures;
  if (parts.size() == 5 && dated && (parts[4] == "C" || parts[4] == "P")) return Kind::option;
  return std::nullopt;
}

Kind kind_of(const Order& order) {
  const Kind named = kind_of(order.instrument).value_or(Kind::spot);
  const bool borrowed = order.trade_mode == "cross" || order.trade_mode == "isolated";
  return named == Kind::spot && borrowed ? Kind::margin : named;
}

std::string trade_mode(const Order& order) {
  if (!order.trade_mode.empty()) return order.trade_mode;
  return kind_of(order) == Kind::spot ? "cash" : "cross";
}

PositionMode position_mode_of(std::string_view pos_mode) {
  if (pos_mode == "net_mode") return PositionMode::net;
  if (pos_mode == "long_short_mode") return PositionMode::long_short;
  return PositionMode::unknown;
}

Result<void> check_order(const Order& order) {
  const auto named = kind_of(order.instrument);
  if (!named) {
    return not_taken("'" + order.instrument +
                     "' is no instrument of OKX; one is written BTC-USDT, BTC-USDT-SWAP or "
                     "BTC-USD-261225");
  }
  if (!order.asset_type.empty()) {
    return not_taken("it has an asset type, which is Saxo's; leave it out");
  }
  if (order.type == Type::stop || order.type == Type::stop_limit) {
    return not_taken("a " + std::string(order::to_string(order.type)) +
                     " order is an algo order there, which pawl does not place");
  }
  if (!order_type(order)) {
    return not_taken("a " + std::string(order::to_string(order.type)) + " order cannot be " +
                     std::string(order::to_string(order.validity.value_or(Validity::day))));
  }
  PAWL_TRY(check_modes(order, *named));
  if (kind_of(order) == Kind::margin && order.type == Type::market && order.side == Side::buy) {
    return not_taken(
        "the size of a market order that buys on margin would be read in quote "
        "currency; give a limit price");
  }
  return {};
}

bool enforces_reduce_only(const Order& order, PositionMode mode) {
  const bool hedged = order.position_side == "long" || order.position_side == "short";
  return order.reduce_only && mode == PositionMode::net && !hedged &&
         kind_of(order.instrument).has_value() && heeds_reduce_only(kind_of(order));
}

std::string place_body(const PlaceAsk& ask, PositionMode mode) {
  return json::print(place_object(ask, mode));
}

std::string batch_body(std::span<const PlaceAsk> asks, PositionMode mode) {
  json::Array orders;
  for (const PlaceAsk& ask : asks) orders.emplace_back(place_object(ask, mode));
  return json::print(orders);
}

Result<std::string> amend_body(const ChangeAsk& ask) {
  if (ask.change.stop_price) {
    return failure(Code::invalid, "an order on OKX has no stop price here; change size or price");
  }
  if (!ask.change.size && !ask.change.price) {
    return failure(Code::invalid, "nothing is to be changed; give a size or a price");
  }
  json::Object body = order_object(ask);
  if (ask.change.size) body.emplace("newSz", to_string(*ask.change.size));
  if (ask.change.price) body.emplace("newPx", to_string(*ask.change.price));
  return json::print(body);
}

std::string cancel_body(const ChangeAsk& ask) {
  return json::print(order_object(ask));
}

}  // namespace pawl::okx
