#include "emulator/core/okx_order.h"

#include <optional>
#include <utility>

#include "base/member_reader.h"

namespace pawl::emulator {
namespace {

constexpr std::string_view states[] = {"live", "partially_filled", "filled", "canceled"};

std::string text(const Decimal& number) {
  return to_string(number);
}

// Empty for none.
std::string text_unless_zero(const Decimal& number) {
  return number == Decimal() ? std::string() : to_string(number);
}

json::Value truth_text(bool is) {
  return is ? "true" : "false";
}

json::Value kept_time(Instant instant) {
  return std::to_string(instant.ns());
}

Decimal decimal_of(MemberReader& reader, std::string_view name) {
  const Result<Decimal> read = parse_decimal(reader.word(name));
  if (!read) reader.fail(name);
  return read.value_or(Decimal());
}

Instant instant_of(MemberReader& reader, std::string_view name) {
  return Instant() + reader.time(name);
}

std::optional<OkxState> state_of(std::string_view name) {
  for (std::size_t i = 0; i < std::size(states); ++i) {
    if (states[i] == name) return OkxState(i);
  }
  return std::nullopt;
}

std::unexpected<Error> damaged(std::string_view what, const std::string& member) {
  return failure(Code::invalid, "the order book: a line has a damaged " + std::string(what) + " (" +
                                    member + "): move the file away to begin anew");
}

}  // namespace

std::string_view to_string(OkxState state) {
  return states[static_cast<std::size_t>(state)];
}

std::string okx_ms(Instant instant) {
  return std::to_string(instant.ns() / 1'000'000);
}

std::string okx_us(Instant instant) {
  return std::to_string(instant.ns() / 1'000);
}

Decimal divide_down(const Decimal& a, const Decimal& b) {
  static constexpr std::string_view units[] = {
      "1000000000", "100000000", "10000000", "1000000",  "100000",    "10000",
      "1000",       "100",       "10",       "1",        "0.1",       "0.01",
      "0.001",      "0.0001",    "0.00001",  "0.000001", "0.0000001", "0.00000001"};
  Decimal rest = a;
  Decimal quotient;
  for (const std::string_view digits : units) {
    const Decimal unit = parse_decimal(digits).value_or(Decimal());
    const Result<Decimal> step = multiply(b, unit);
    if (!step) continue;
    while (rest >= *step) {
      const Result<Decimal> less = subtract(rest, *step);
      const Result<Decimal> more = add(quotient, unit);
      if (!less || !more) return {};
      rest = *less;
      quotient = *more;
    }
  }
  return quotient;
}

json::Value shown(const OkxOrder& order) {
  const bool has_fill = order.last_trade != 0;
  json::Object row = {
      {"accFillSz", text(order.filled)},
      {"algoClOrdId", ""},
      {"algoId", ""},
      {"attachAlgoOrds", json::Array()},
      {"avgPx", has_fill ? text(divide_down(order.turnover, order.filled)) : std::string()},
      {"cTime", okx_ms(order.created)},
      {"cancelSource", order.cancel_source},
      {"cancelSourceReason", ""},
      {"category", "normal"},
      {"ccy", ""},
      {"clOrdId", order.cl_ord_id},
      {"fee", "0"},
      {"feeCcy", ""},
      {"fillPx", text_unless_zero(order.last_price)},
      {"fillSz", has_fill ? text(order.last_size) : std::string("0")},
      {"fillTime", has_fill ? okx_ms(order.updated) : std::string()},
      {"instId", order.inst_id},
      {"instType", order.inst_type},
      {"lever", order.td_mode == "cash" ? "" : "1"},
      {"ordId", std::to_string(order.id)},
      {"ordType", order.ord_type},
      {"pnl", "0"},
      {"posSide", order.pos_side},
      {"px", order.px},
      {"rebate", "0"},
      {"rebateCcy", ""},
      {"reduceOnly", truth_text(order.reduce_only)},
      {"side", order.side},
      {"source", ""},
      {"state", to_string(order.state)},
      {"stpMode", "cancel_maker"},
      {"sz", text(order.size)},
      {"tag", order.tag},
      {"tdMode", order.td_mode},
      {"tgtCcy", order.tgt_ccy},
      {"tradeId", has_fill ? std::to_string(order.last_trade) : std::string()},
      {"uTime", okx_ms(order.updated)},
  };
  return row;
}

json::Value shown(const OkxFill& fill, const OkxOrder& order) {
  return json::Object{
      {"billId", std::to_string(fill.trade)},
      {"clOrdId", order.cl_ord_id},
      {"execType", fill.is_maker ? "M" : "T"},
      {"fee", "0"},
      {"feeCcy", ""},
      {"fillPx", text(fill.price)},
      {"fillSz", text(fill.size)},
      {"fillTime", okx_ms(fill.time)},
      {"instId", order.inst_id},
      {"instType", order.inst_type},
      {"ordId", std::to_string(order.id)},
      {"posSide", order.pos_side},
      {"side", order.side},
      {"tag", order.tag},
      {"tradeId", std::to_string(fill.trade)},
      {"ts", okx_ms(fill.time)},
  };
}

json::Value shown(const OkxPosition& position) {
  return json::Object{
      {"availPos", text(position.size)},
      {"avgPx", text(position.average)},
      {"cTime", okx_ms(position.created)},
      {"ccy", ""},
      {"instId", position.inst_id},
      {"instType", position.inst_type},
      {"lever", "1"},
      {"mgnMode", position.mode},
      {"pos", text(position.size)},
      {"posId", position.inst_id + "-" + position.mode + "-" + position.pos_side},
      {"posSide", position.pos_side},
      {"uTime", okx_ms(position.updated)},
      {"upl", "0"},
  };
}

json::Value kept(const OkxOrder& order) {
  return json::Object{
      {"id", std::to_string(order.id)},
      {"inst_id", order.inst_id},
      {"inst_type", order.inst_type},
      {"td_mode", order.td_mode},
      {"side", order.side},
      {"ord_type", order.ord_type},
      {"pos_side", order.pos_side},
      {"cl_ord_id", order.cl_ord_id},
      {"tag", order.tag},
      {"tgt_ccy", order.tgt_ccy},
      {"px", order.px},
      {"reduce_only", order.reduce_only},
      {"size", text(order.size)},
      {"filled", text(order.filled)},
      {"turnover", text(order.turnover)},
      {"last_size", text(order.last_size)},
      {"last_price", text(order.last_price)},
      {"last_trade", std::to_string(order.last_trade)},
      {"state", to_string(order.state)},
      {"cancel_source", order.cancel_source},
      {"created", kept_time(order.created)},
      {"updated", kept_time(order.updated)},
      {"visible", kept_time(order.visible)},
  };
}

json::Value kept(const OkxFill& fill) {
  return json::Object{
      {"trade", std::to_string(fill.trade)},
      {"order", std::to_string(fill.order)},
      {"size", text(fill.size)},
      {"price", text(fill.price)},
      {"is_maker", fill.is_maker},
      {"time", kept_time(fill.time)},
  };
}

Result<OkxOrder> order_of(const json::Value& kept) {
  MemberReader reader(kept);
  const auto word = [&](std::string_view name) { return std::string(reader.word(name)); };
  OkxOrder order{
      .id = reader.id("id"),
      .inst_id = word("inst_id"),
      .inst_type = word("inst_type"),
      .td_mode = word("td_mode"),
      .side = word("side"),
      .ord_type = word("ord_type"),
      .pos_side = word("pos_side"),
      .cl_ord_id = word("cl_ord_id"),
      .tag = word("tag"),
      .tgt_ccy = word("tgt_ccy"),
      .px = word("px"),
      .reduce_only = reader.truth("reduce_only"),
      .size = decimal_of(reader, "size"),
      .filled = decimal_of(reader, "filled"),
      .turnover = decimal_of(reader, "turnover"),
      .last_size = decimal_of(reader, "last_size"),
      .last_price = decimal_of(reader, "last_price"),
      .last_trade = reader.id("last_trade"),
      .state = reader.one_of("state", state_of),
      .cancel_source = word("cancel_source"),
      .created = instant_of(reader, "created"),
      .updated = instant_of(reader, "updated"),
      .visible = instant_of(reader, "visible"),
  };
  if (!reader.wrong().empty()) return damaged("order", reader.wrong());
  return order;
}

Result<OkxFill> fill_of(const json::Value& kept) {
  MemberReader reader(kept);
  const OkxFill fill{
      .trade = reader.id("trade"),
      .order = reader.id("order"),
      .size = decimal_of(reader, "size"),
      .price = decimal_of(reader, "price"),
      .is_maker = reader.truth("is_maker"),
      .time = instant_of(reader, "time"),
  };
  if (!reader.wrong().empty()) return damaged("fill", reader.wrong());
  return fill;
}

}  // namespace pawl::emulator
