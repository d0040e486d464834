#include "emulator/core/okx_book.h"

#include <utility>

#include "base/bounds.h"

namespace pawl::emulator {
namespace {

// As long as OKX's are, and still a number that a double does not hold.
constexpr std::uint64_t id_base = 680'800'019'749'904'384;
constexpr std::uint64_t trade_base = 744'800'000;

// Sizes and prices are short enough for sums and products of them (okx_rules.h).
Decimal sum(const Decimal& a, const Decimal& b) {
  return add(a, b).value_or(Decimal());
}

Decimal difference(const Decimal& a, const Decimal& b) {
  return subtract(a, b).value_or(Decimal());
}

Decimal product(const Decimal& a, const Decimal& b) {
  return multiply(a, b).value_or(Decimal());
}

Decimal magnitude(const Decimal& number) {
  return number < Decimal() ? difference(Decimal(), number) : number;
}

bool has_position(const OkxOrder& order) {
  return order.td_mode == "cross" || order.td_mode == "isolated";
}

OkxBook::PositionKey key_of(const OkxOrder& order) {
  return {order.inst_id, order.td_mode, order.pos_side};
}

// By how much the fill changes the position: a short one, of which there is a side of its own,
// grows by selling.
Decimal change_of(const OkxOrder& order, const Decimal& size) {
  const bool grows = order.is_buy() != (order.pos_side == "short");
  return grows ? size : difference(Decimal(), size);
}

bool same_sign(const Decimal& a, const Decimal& b) {
  return (a < Decimal()) == (b < Decimal());
}

}  // namespace

const OkxOrder* OkxBook::place(OkxOrder order) {
  if (orders_.size() >= bounds::emulator_orders_max) return nullptr;
  order.id = orders_.empty() ? id_base : orders_.rbegin()->first + 1;
  order.updated = order.created;
  const OkxOrder& placed = orders_.emplace(order.id, std::move(order)).first->second;
  enter(placed);
  changed(placed);
  return &placed;
}

void OkxBook::fill(std::uint64_t id, const OkxTrade& trade, Instant now) {
  OkxOrder& order = orders_.at(id);
  const OkxFill fill{.trade = fills_.empty() ? trade_base : fills_.back().trade + 1,
                     .order = id,
                     .size = trade.size,
                     .price = trade.price,
                     .is_maker = trade.is_maker,
                     .time = now};
  order.filled = sum(order.filled, trade.size);
  order.turnover = sum(order.turnover, product(trade.size, trade.price));
  order.last_size = trade.size;
  order.last_price = trade.price;
  order.last_trade = fill.trade;
  order.updated = now;
  const bool is_whole = order.is_sized_in_quote() || order.filled >= order.size;
  order.state = is_whole ? OkxState::filled : OkxState::partially_filled;
  changes_.push_back(json::print(json::Object{{"fill", kept(fill)}}));
  apply(order, fill);
  changed(order);
}

void OkxBook::cancel(std::uint64_t id, std::string_view source, Instant now) {
  OkxOrder& order = orders_.at(id);
  order.state = OkxState::canceled;
  order.cancel_source = source;
  order.updated = now;
  changed(order);
}

void OkxBook::amend(std::uint64_t id, const OkxChange& change, Instant now) {
  OkxOrder& order = orders_.at(id);
  if (change.size) order.size = *change.size;
  if (change.px) order.px = *change.px;
  if (order.filled >= order.size) order.state = OkxState::filled;
  order.updated = now;
  changed(order);
}

void OkxBook::clear() {
  *this = {};
}

const OkxOrder* OkxBook::find(std::uint64_t id) const {
  const auto found = orders_.find(id);
  return found == orders_.end() ? nullptr : &found->second;
}

const OkxOrder* OkxBook::find_named(std::string_view cl_ord_id) const {
  const auto found = names_.find(cl_ord_id);
  return found == names_.end() ? nullptr : find(found->second.back());
}

std::vector<const OkxOrder*> OkxBook::all_named(std::string_view cl_ord_id) const {
  std::vector<const OkxOrder*> orders;
  const auto found = names_.find(cl_ord_id);
  if (found == names_.end()) return orders;
  for (const std::uint64_t id : found->second) orders.push_back(find(id));
  return orders;
}

const OkxPosition* OkxBook::position(const OkxOrder& order) const {
  const auto found = positions_.find(key_of(order));
  const bool is_there = found != positions_.end() && found->second.size != Decimal();
  return is_there ? &found->second : nullptr;
}

Result<void> OkxBook::restore(const json::Value& line) {
  if (const json::Value* value = line.find("order")) {
    const OkxOrder order = PAWL_TRY(order_of(*value));
    const bool is_new = orders_.insert_or_assign(order.id, order).second;
    if (is_new) enter(order);
    if (!is_open(order.state)) open_.erase(order.id);
    return {};
  }
  if (const json::Value* value = line.find("fill")) {
    const OkxFill fill = PAWL_TRY(fill_of(*value));
    const OkxOrder* order = find(fill.order);
    if (order != nullptr) {
      apply(*order, fill);
      return {};
    }
  }
  return failure(Code::invalid,
                 "the order book: a line is neither an order nor a fill of one: move the file away "
                 "to begin anew");
}

void OkxBook::changed(const OkxOrder& order) {
  if (!is_open(order.state)) open_.erase(order.id);
  changes_.push_back(json::print(json::Object{{"order", kept(order)}}));
  rows_.push_back(shown(order));
}

void OkxBook::enter(const OkxOrder& order) {
  open_.insert(order.id);
  if (!order.cl_ord_id.empty()) names_[order.cl_ord_id].push_back(order.id);
}

void OkxBook::apply(const OkxOrder& order, const OkxFill& fill) {
  fills_.push_back(fill);
  if (!has_position(order)) return;
  auto [found, is_new] = positions_.try_emplace(key_of(order));
  OkxPosition& position = found->second;
  if (position.size == Decimal()) {
    position = {.inst_id = order.inst_id,
                .inst_type = order.inst_type,
                .mode = order.td_mode,
                .pos_side = order.pos_side,
                .created = fill.time};
  }
  const Decimal before = position.size;
  const Decimal change = change_of(order, fill.size);
  position.size = sum(before, change);
  position.updated = fill.time;
  if (before == Decimal() || !same_sign(before, position.size)) {
    position.average = fill.price;
  } else if (same_sign(before, change)) {
    const Decimal cost =
        sum(product(magnitude(before), position.average), product(magnitude(change), fill.price));
    position.average = divide_down(cost, magnitude(position.size));
  }
}

}  // namespace pawl::emulator
