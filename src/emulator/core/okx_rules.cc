#include "emulator/core/okx_rules.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace pawl::emulator {
namespace {

constexpr std::size_t client_id_max = 32;
constexpr std::size_t tag_max = 16;
constexpr std::size_t digits_before_point_max = 9;
constexpr std::size_t digits_behind_point_max = 8;

using Words = std::initializer_list<std::string_view>;

bool is_one_of(std::string_view text, Words words) {
  return std::ranges::find(words, text) != words.end();
}

bool is_alphanumeric(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

// Reads members one by one; the first that is wrong is remembered.
class Reader {
 public:
  explicit Reader(const json::Value& item) : item_(item) {}

  // A text; empty when there is none. Numbers must be texts, as OKX has them.
  std::string word(std::string_view name) {
    const json::Value* value = item_.find(name);
    if (value == nullptr) return {};
    if (const std::string* text = value->if_string()) return *text;
    fail(okx_parameter(name));
    return {};
  }

  std::string needed(std::string_view name) {
    std::string text = word(name);
    if (text.empty()) fail(okx_missing(name));
    return text;
  }

  std::string needed(std::string_view name, Words words) {
    std::string text = needed(name);
    if (!is_one_of(text, words)) fail(okx_parameter(name));
    return text;
  }

  std::string letters(std::string_view name, std::size_t max) {
    std::string text = word(name);
    if (text.size() > max || !is_alphanumeric(text)) fail(okx_parameter(name));
    return text;
  }

  Decimal amount(std::string_view name) {
    const std::string text = needed(name);
    const Result<Decimal> read = parse_decimal(text);
    const std::size_t point = std::min(text.find('.'), text.size());
    const bool is_short =
        point <= digits_before_point_max && text.size() - point <= digits_behind_point_max + 1;
    if (!read || *read <= Decimal() || !is_short) {
      fail(okx_parameter(name));
      return {};
    }
    return *read;
  }

  bool truth(std::string_view name) {
    const json::Value* value = item_.find(name);
    if (value == nullptr) return false;
    if (const bool* is = value->if_bool()) return *is;
    const std::string text = word(name);
    if (!is_one_of(text, {"", "true", "false"})) fail(okx_parameter(name));
    return text == "true";
  }

  void fail(OkxRefusal refusal) {
    if (!refusal_.refuses()) refusal_ = std::move(refusal);
  }
  const OkxRefusal& refusal() const { return refusal_; }

 private:
  const json::Value& item_;
  OkxRefusal refusal_;
};

bool is_derivative(std::string_view type) {
  return type == "SWAP" || type == "FUTURES";
}

bool is_at_market(std::string_view ord_type) {
  return ord_type == "market" || ord_type == "optimal_limit_ioc";
}

std::string type_of(const OkxInstrument& instrument, std::string_view td_mode) {
  const bool is_margin = instrument.type == "SPOT" && is_one_of(td_mode, {"cross", "isolated"});
  return is_margin ? "MARGIN" : instrument.type;
}

void read_side_of_position(Reader& reader, OkxOrder& order, bool long_short) {
  const std::string given = reader.word("posSide");
  if (is_derivative(order.inst_type) && long_short) {
    if (!is_one_of(given, {"long", "short"})) reader.fail(okx_parameter("posSide"));
    order.pos_side = given;
    order.reduce_only = false;  // the side of the position says it
    return;
  }
  if (!is_one_of(given, {"", "net"})) reader.fail(okx_parameter("posSide"));
  order.pos_side = "net";
}

void read_currency_of_size(Reader& reader, OkxOrder& order) {
  const std::string given = reader.word("tgtCcy");
  if (!is_one_of(given, {"", "base_ccy", "quote_ccy"})) reader.fail(okx_parameter("tgtCcy"));
  const bool matters = order.inst_type == "SPOT" && order.ord_type == "market";
  if (!matters) return;
  order.tgt_ccy = !given.empty() ? given : order.is_buy() ? "quote_ccy" : "base_ccy";
}

OkxRefusal check_size(const OkxOrder& order, const OkxInstrument& instrument) {
  if (!order.is_sized_in_quote() && !order.size.is_multiple_of(instrument.lot)) {
    return okx_item("51121");
  }
  return okx_rest(order, instrument) < instrument.minimum ? okx_item("51020") : OkxRefusal();
}

}  // namespace

Decimal okx_rest(const OkxOrder& order, const OkxInstrument& instrument) {
  if (!order.is_sized_in_quote()) {
    return subtract(order.size, order.filled).value_or(Decimal());
  }
  const Decimal exact = divide_down(order.size, instrument.price);
  return exact.round_down_to(instrument.lot).value_or(exact);
}

std::expected<OkxOrder, OkxRefusal> read_okx_order(const OkxSettings& settings,
                                                   const json::Value& item) {
  Reader reader(item);
  OkxOrder order;
  order.inst_id = reader.needed("instId");
  order.td_mode = reader.needed("tdMode", {"cash", "cross", "isolated", "spot_isolated"});
  order.side = reader.needed("side", {"buy", "sell"});
  order.ord_type =
      reader.needed("ordType", {"market", "limit", "post_only", "fok", "ioc", "optimal_limit_ioc"});
  order.size = reader.amount("sz");
  order.cl_ord_id = reader.letters("clOrdId", client_id_max);
  order.tag = reader.letters("tag", tag_max);
  order.reduce_only = reader.truth("reduceOnly");
  if (!is_at_market(order.ord_type)) {
    reader.amount("px");
    order.px = reader.word("px");
  }
  if (reader.refusal().refuses()) return std::unexpected(reader.refusal());

  const auto found = settings.instruments.find(order.inst_id);
  if (found == settings.instruments.end() || !found->second.is_live) {
    return std::unexpected(okx_item("51001"));
  }
  const OkxInstrument& instrument = found->second;
  order.inst_type = type_of(instrument, order.td_mode);
  const bool is_borrowed = is_one_of(order.td_mode, {"cross", "isolated"});
  if (is_derivative(order.inst_type) && !is_borrowed) reader.fail(okx_parameter("tdMode"));
  read_side_of_position(reader, order, settings.long_short);
  read_currency_of_size(reader, order);
  if (reader.refusal().refuses()) return std::unexpected(reader.refusal());
  if (OkxRefusal wrong = check_size(order, instrument); wrong.refuses()) {
    return std::unexpected(std::move(wrong));
  }
  return order;
}

std::expected<OkxChange, OkxRefusal> read_okx_change(const OkxSettings& settings,
                                                     const json::Value& item,
                                                     const OkxOrder& order) {
  Reader reader(item);
  OkxChange change;
  if (!reader.word("newSz").empty()) change.size = reader.amount("newSz");
  if (const std::string px = reader.word("newPx"); !px.empty()) {
    reader.amount("newPx");
    change.px = px;
  }
  if (reader.refusal().refuses()) return std::unexpected(reader.refusal());
  if (!change.size && !change.px) return std::unexpected(okx_item("51500"));
  if (change.size) {
    if (*change.size < order.filled) return std::unexpected(okx_parameter("newSz"));
    const auto found = settings.instruments.find(order.inst_id);
    if (found != settings.instruments.end() && !change.size->is_multiple_of(found->second.lot)) {
      return std::unexpected(okx_item("51121"));
    }
  }
  return change;
}

OkxRefusal check_okx_reduction(const OkxSettings& settings, const OkxBook& book,
                               const OkxOrder& order) {
  if (order.inst_type == "SPOT") return order.reduce_only ? okx_item("51205") : OkxRefusal();
  const OkxPosition* position = book.position(order);
  if (is_derivative(order.inst_type) && settings.long_short) {
    const bool closes = order.is_buy() == (order.pos_side == "short");
    const bool has_enough = position != nullptr && position->size >= order.size;
    return closes && !has_enough ? okx_item("51169") : OkxRefusal();
  }
  if (!order.reduce_only) return {};
  if (position == nullptr) return okx_item("51169");
  const bool is_long = position->size > Decimal();
  if (is_long == order.is_buy()) return okx_item("51170");
  const Decimal held =
      is_long ? position->size : subtract(Decimal(), position->size).value_or(Decimal());
  return order.size > held ? okx_item("51148") : OkxRefusal();
}

}  // namespace pawl::emulator
