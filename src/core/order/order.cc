#include "core/order/order.h"

#include <array>
#include <functional>
#include <utility>

#include "base/assert.h"
#include "base/bounds.h"
#include "base/dot_segment.h"
#include "base/sha256.h"
#include "base/text.h"
#include "core/order/names.h"

namespace pawl::order {
namespace {

constexpr Names<2> side_names = {"buy", "sell"};
constexpr Names<5> type_names = {"market", "limit", "stop", "stop_limit", "post_only"};
constexpr Names<4> validity_names = {"day", "gtc", "ioc", "fok"};

constexpr bool has_price(Type type) {
  return type == Type::limit || type == Type::stop_limit || type == Type::post_only;
}
constexpr bool has_stop_price(Type type) {
  return type == Type::stop || type == Type::stop_limit;
}

template <std::size_t N>
std::string listed(const Names<N>& names) {
  std::string text;
  for (const std::string_view name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

std::unexpected<Error> wrong(std::string_view member, const std::string& why) {
  return failure(Code::invalid, "the order's " + std::string(member) + " " + why);
}

Result<void> check_name(std::string_view member, std::string_view text) {
  if (text.size() <= bounds::order_name_bytes_max && is_visible(text)) return {};
  return wrong(member, "must be at most " + std::to_string(bounds::order_name_bytes_max) +
                           " visible ASCII characters without blanks");
}

Result<void> check_price(std::string_view member, const std::optional<Decimal>& price, bool wanted,
                         Type type) {
  if (!wanted && price) {
    return wrong(member, "is given, and a " + std::string(to_string(type)) + " order has none");
  }
  if (!wanted) return {};
  if (!price) {
    return wrong(member, "is missing: a " + std::string(to_string(type)) + " order needs it");
  }
  if (*price <= Decimal()) {
    return wrong(member, "is " + to_string(*price) + ": it must be greater than 0");
  }
  return {};
}

// Without the zeros at its end: equal for equal numbers.
std::string plain(const Decimal& number) {
  std::string text = to_string(number);
  if (!text.contains('.')) return text;
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text;
}

// Every member that is not empty, by its name; the instrument's is `inst`, or `uic` where there is
// an asset type.
json::Object members_of(const Order& order, std::string (*text)(const Decimal&)) {
  json::Object members{{"venue", order.venue},
                       {"side", to_string(order.side)},
                       {"type", to_string(order.type)},
                       {"size", text(order.size)}};
  members[order.asset_type.empty() ? "inst" : "uic"] = order.instrument;
  if (!order.asset_type.empty()) members["asset_type"] = order.asset_type;
  if (order.price) members["price"] = text(*order.price);
  if (order.stop_price) members["stop_price"] = text(*order.stop_price);
  if (order.validity) members["validity"] = to_string(*order.validity);
  if (order.reduce_only) members["reduce_only"] = true;
  if (!order.trade_mode.empty()) members["trade_mode"] = order.trade_mode;
  if (!order.position_side.empty()) members["position_side"] = order.position_side;
  return members;
}

std::string printed(const Decimal& number) {
  return to_string(number);
}

// Reads members off an object, and says in the end which of them nobody asked for.
class Reader {
 public:
  explicit Reader(const json::Object& members) : members_(members) {}

  const json::Value* find(std::string_view name) {
    const auto found = members_.find(name);
    if (found == members_.end() || found->second.is_null()) return nullptr;
    return &found->second;
  }
  // Of a number its digits.
  Result<std::string> text(std::string_view name) {
    const json::Value* value = find(name);
    if (value == nullptr) return std::string();
    if (const std::string* found = value->if_string()) return *found;
    if (const json::Number* found = value->if_number()) return found->text;
    return wrong(name, "must be text");
  }
  Result<std::optional<Decimal>> decimal(std::string_view name) {
    const std::string found = PAWL_TRY(text(name));
    if (find(name) == nullptr) return std::optional<Decimal>();
    const auto number = parse_decimal(found);
    if (!number) return wrong(name, "is no number: " + number.error().message);
    return std::optional(*number);
  }
  Result<bool> truth(std::string_view name) {
    const json::Value* value = find(name);
    if (value == nullptr) return false;
    if (const bool* found = value->if_bool()) return *found;
    return wrong(name, "must be true or false");
  }
  // `parse` gives an optional.
  template <class Parse, std::size_t N>
  auto one_of(std::string_view name, const Parse& parse, const Names<N>& names)
      -> Result<decltype(parse(name))> {
    const std::string found = PAWL_TRY(text(name));
    const auto value = parse(found);
    if (!value && find(name) != nullptr) {
      return wrong(name, "is '" + found + "': it must be one of " + listed(names));
    }
    return value;
  }

 private:
  const json::Object& members_;
};

constexpr Names<13> member_names = {
    "venue", "inst",       "uic",      "asset_type",  "side",       "type",          "size",
    "price", "stop_price", "validity", "reduce_only", "trade_mode", "position_side",
};

Result<void> check_members(const json::Object& members, std::string_view besides) {
  for (const auto& [name, value] : members) {
    if (name == besides) continue;
    if (std::ranges::find(member_names, name) == member_names.end()) {
      return failure(Code::invalid, "the order has a member '" +
                                        name.substr(0, bounds::config_excerpt_bytes_max) +
                                        "' that none has: there are " + listed(member_names) +
                                        (besides.empty() ? "" : ", ") + std::string(besides));
    }
  }
  return {};
}

Result<void> read_terms(Reader& from, Order& order) {
  const auto side = PAWL_TRY(from.one_of("side", side_of, side_names));
  if (!side) return wrong("side", "is missing: it is one of " + listed(side_names));
  order.side = *side;
  const auto type = PAWL_TRY(from.one_of("type", type_of, type_names));
  if (!type) return wrong("type", "is missing: it is one of " + listed(type_names));
  order.type = *type;
  const auto size = PAWL_TRY(from.decimal("size"));
  if (!size) return wrong("size", "is missing");
  order.size = *size;
  order.price = PAWL_TRY(from.decimal("price"));
  order.stop_price = PAWL_TRY(from.decimal("stop_price"));
  order.validity = PAWL_TRY(from.one_of("validity", validity_of, validity_names));
  order.reduce_only = PAWL_TRY(from.truth("reduce_only"));
  return {};
}

}  // namespace

std::string_view to_string(Side side) {
  return name_in(side_names, side);
}
std::optional<Side> side_of(std::string_view name) {
  return find_in<Side>(side_names, name);
}
std::string_view to_string(Type type) {
  return name_in(type_names, type);
}
std::optional<Type> type_of(std::string_view name) {
  return find_in<Type>(type_names, name);
}
std::string_view to_string(Validity validity) {
  return name_in(validity_names, validity);
}
std::optional<Validity> validity_of(std::string_view name) {
  return find_in<Validity>(validity_names, name);
}

Result<void> check(const Order& order) {
  if (order.venue.empty()) return wrong("venue", "is missing");
  if (order.instrument.empty()) return wrong("instrument", "is missing");
  PAWL_TRY(check_name("venue", order.venue));
  PAWL_TRY(check_name("instrument", order.instrument));
  PAWL_TRY(check_name("asset_type", order.asset_type));
  PAWL_TRY(check_name("trade_mode", order.trade_mode));
  PAWL_TRY(check_name("position_side", order.position_side));
  if (order.size <= Decimal()) {
    return wrong("size", "is " + to_string(order.size) + ": it must be greater than 0");
  }
  PAWL_TRY(check_price("price", order.price, has_price(order.type), order.type));
  PAWL_TRY(check_price("stop_price", order.stop_price, has_stop_price(order.type), order.type));
  const bool at_once = order.validity == Validity::ioc || order.validity == Validity::fok;
  if (order.type == Type::post_only && at_once) {
    return wrong("validity", "is " + std::string(to_string(*order.validity)) +
                                 ": a post_only order stands in the market, or is not placed");
  }
  return {};
}

std::string instrument_name(const Order& order) {
  if (order.asset_type.empty()) return order.instrument;
  return order.instrument + ":" + order.asset_type;
}

std::string brief(const Order& order) {
  std::string text = instrument_name(order);
  text.append(" ").append(to_string(order.side)).append(" ").append(to_string(order.size));
  return text;
}

json::Value to_json(const Order& order) {
  return members_of(order, printed);
}

Result<Order> order_of(const json::Value& value, std::string_view besides) {
  const json::Object* members = value.if_object();
  if (members == nullptr) return failure(Code::invalid, "an order must be a JSON object");
  PAWL_TRY(check_members(*members, besides));
  Reader from(*members);
  if (from.find("inst") != nullptr && from.find("uic") != nullptr) {
    return wrong("instrument", "is given twice, as inst and as uic: leave one out");
  }
  Order order;
  order.venue = PAWL_TRY(from.text("venue"));
  order.instrument = PAWL_TRY(from.text(from.find("uic") == nullptr ? "inst" : "uic"));
  order.asset_type = PAWL_TRY(from.text("asset_type"));
  order.trade_mode = PAWL_TRY(from.text("trade_mode"));
  order.position_side = PAWL_TRY(from.text("position_side"));
  PAWL_TRY(read_terms(from, order));
  PAWL_TRY(check(order));
  return order;
}

std::string fingerprint(const Order& order) {
  // There is no number in it that could be out of range.
  const Result<std::string> text = json::canonical(members_of(order, plain));
  PAWL_ASSERT(text.has_value());
  return to_hex(sha256(*text));
}

std::string difference(const Order& before, const Order& now) {
  const json::Object was = members_of(before, plain);
  const json::Object is = members_of(now, plain);
  const auto value_in = [](const json::Object& members, std::string_view name) {
    const auto found = members.find(name);
    if (found == members.end()) return std::string("not given");
    const std::string* text = found->second.if_string();
    return text == nullptr ? json::print(found->second) : *text;
  };
  std::string text;
  for (const std::string_view name : member_names) {
    const std::string old_value = value_in(was, name);
    const std::string new_value = value_in(is, name);
    if (old_value == new_value) continue;
    text.append(text.empty() ? "" : "; ").append(name);
    text.append(" was ").append(old_value).append(" and is ").append(new_value);
  }
  return text;
}

Result<void> check_reference(std::string_view reference) {
  const auto is_taken = [](char c) {
    const char lower = ascii_lower(c);
    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.' || c == ':';
  };
  if (!reference.empty() && reference.size() <= bounds::order_reference_bytes_max &&
      std::ranges::all_of(reference, is_taken) && !is_dot_segment(reference)) {
    return {};
  }
  return failure(Code::usage,
                 "a reference must be 1 to " + std::to_string(bounds::order_reference_bytes_max) +
                     " characters of letters, digits and _ - . :, and neither . nor ..");
}

std::string make_reference(Instant now, const Entropy16& entropy) {
  std::string id = uuid_v7(now, entropy);
  // Letters and digits alone: OKX takes it as it is.
  std::erase(id, '-');
  return id;
}

}  // namespace pawl::order
