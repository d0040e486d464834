// An order of the emulated OKX, a fill and a position, and the JSON in which each is shown and
// kept.
//
// Contract: pure values. Sizes and prices are decimal. What is shown has the names, and the texts
//           in place of numbers, of OKX v5; what is kept is ours.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/decimal.h"
#include "base/json.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::emulator {

enum class OkxState : std::uint8_t { live, partially_filled, filled, canceled };
std::string_view to_string(OkxState state);
constexpr bool is_open(OkxState state) {
  return state == OkxState::live || state == OkxState::partially_filled;
}

struct OkxOrder {
  std::uint64_t id = 0;
  std::string inst_id = {};
  std::string inst_type = {};  // MARGIN for a spot pair that is not traded in cash
  std::string td_mode = {};
  std::string side = {};
  std::string ord_type = {};
  std::string pos_side = {};
  std::string cl_ord_id = {};
  std::string tag = {};
  std::string tgt_ccy = {};
  std::string px = {};  // empty: at the market
  bool reduce_only = false;
  Decimal size = {};      // in quote currency where tgt_ccy says so
  Decimal filled = {};    // in base currency or contracts
  Decimal turnover = {};  // what its fills cost
  Decimal last_size = {};
  Decimal last_price = {};
  std::uint64_t last_trade = 0;
  OkxState state = OkxState::live;
  std::string cancel_source = {};
  Instant created = {};
  Instant updated = {};
  Instant visible = {};  // from then on reading calls show it

  bool is_buy() const { return side == "buy"; }
  bool is_sized_in_quote() const { return tgt_ccy == "quote_ccy"; }
  // Canceled without any fill.
  bool is_trace_of_nothing() const { return state == OkxState::canceled && filled == Decimal(); }
};

struct OkxFill {
  std::uint64_t trade = 0;
  std::uint64_t order = 0;
  Decimal size = {};
  Decimal price = {};
  bool is_maker = false;
  Instant time = {};
};

struct OkxPosition {
  std::string inst_id = {};
  std::string inst_type = {};
  std::string mode = {};      // cross, isolated
  std::string pos_side = {};  // net, long, short
  Decimal size = {};          // below zero: a net position that is short
  Decimal average = {};
  Instant created = {};
  Instant updated = {};
};

json::Value shown(const OkxOrder& order);
json::Value shown(const OkxFill& fill, const OkxOrder& order);
json::Value shown(const OkxPosition& position);

json::Value kept(const OkxOrder& order);
json::Value kept(const OkxFill& fill);
Result<OkxOrder> order_of(const json::Value& kept);
Result<OkxFill> fill_of(const json::Value& kept);

// Milliseconds and microseconds since 1970, as OKX writes them.
std::string okx_ms(Instant instant);
std::string okx_us(Instant instant);

// a / b with eight places, rounded down; both must be above zero. Zero where it does not fit.
Decimal divide_down(const Decimal& a, const Decimal& b);

}  // namespace pawl::emulator
