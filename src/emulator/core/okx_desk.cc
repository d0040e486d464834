#include "emulator/core/okx_desk.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "emulator/core/calls.h"
#include "emulator/core/okx_rules.h"

namespace pawl::emulator {
namespace {

// Why an order was canceled, as OKX numbers it.
constexpr std::string_view by_user = "1";
constexpr std::string_view not_filled_whole = "13";
constexpr std::string_view not_filled_at_once = "14";
constexpr std::string_view would_have_taken = "31";

OkxItem item_of(const json::Value& item) {
  return {.order_id = text_of(item, "ordId"),
          .reference = text_of(item, "clOrdId"),
          .tag = text_of(item, "tag"),
          .request = text_of(item, "reqId")};
}

OkxItem refused(OkxItem item, OkxRefusal why) {
  item.refusal = std::move(why);
  return item;
}

}  // namespace

bool OkxDesk::is_repeat(const OkxOrder& order, Instant now) const {
  if (order.cl_ord_id.empty()) return false;
  return std::ranges::any_of(book_.all_named(order.cl_ord_id), [&](const OkxOrder* other) {
    switch (settings_.dedup) {
      case OkxDedup::while_live:
        return is_open(other->state);
      case OkxDedup::for_a_time:
        return now - other->created < settings_.dedup_time;
      case OkxDedup::for_ever:
        break;
    }
    return true;
  });
}

OkxItem OkxDesk::place(const json::Value& item, Instant now, Duration lag) {
  OkxItem result = item_of(item);
  result.order_id.clear();
  auto order = read_okx_order(settings_, item);
  if (!order) return refused(std::move(result), order.error());
  if (is_repeat(*order, now)) return refused(std::move(result), okx_item(settings_.duplicate_code));
  if (OkxRefusal why = check_okx_reduction(settings_, book_, *order); why.refuses()) {
    return refused(std::move(result), std::move(why));
  }
  order->created = now;
  order->visible = now + lag;
  const OkxOrder* placed = book_.place(*std::move(order));
  if (placed == nullptr) return refused(std::move(result), okx_whole("50013"));
  result.order_id = std::to_string(placed->id);
  trade(*placed, now);
  return result;
}

// An order that was kept may be of an instrument that is no longer set.
OkxInstrument OkxDesk::instrument_of(const OkxOrder& order) const {
  const auto found = settings_.instruments.find(order.inst_id);
  if (found != settings_.instruments.end()) return found->second;
  return {.type = order.inst_type,
          .price = parse_decimal(order.px.empty() ? "1" : order.px).value_or(Decimal()),
          .lot = order.size,
          .minimum = order.size};
}

void OkxDesk::trade(const OkxOrder& order, Instant now) {
  const OkxInstrument instrument = instrument_of(order);
  const Decimal limit = parse_decimal(order.px).value_or(Decimal());
  const bool crosses =
      order.px.empty() || (order.is_buy() ? limit >= instrument.price : limit <= instrument.price);
  if (order.ord_type == "post_only" && crosses) {
    book_.cancel(order.id, would_have_taken, now);
  } else if (crosses) {
    book_.fill(order.id, {.size = okx_rest(order, instrument), .price = instrument.price}, now);
  } else if (order.ord_type == "ioc") {
    book_.cancel(order.id, not_filled_at_once, now);
  } else if (order.ord_type == "fok") {
    book_.cancel(order.id, not_filled_whole, now);
  }
}

// ordId wins where both are there.
const OkxOrder* OkxDesk::find(const json::Value& item) const {
  const std::string id = text_of(item, "ordId");
  const OkxOrder* found = nullptr;
  if (!id.empty()) {
    std::uint64_t number = 0;
    std::from_chars(id.data(), id.data() + id.size(), number);
    found = book_.find(number);
  } else {
    found = book_.find_named(text_of(item, "clOrdId"));
  }
  const bool is_it = found != nullptr && found->inst_id == text_of(item, "instId");
  return is_it && is_open(found->state) ? found : nullptr;
}

OkxItem OkxDesk::cancel(const json::Value& item, Instant now) {
  OkxItem result = item_of(item);
  if (text_of(item, "instId").empty()) return refused(std::move(result), okx_missing("instId"));
  if (result.order_id.empty() && result.reference.empty()) {
    return refused(std::move(result), okx_whole("50015"));
  }
  const OkxOrder* order = find(item);
  if (order == nullptr) return refused(std::move(result), okx_item("51400"));
  result.order_id = std::to_string(order->id);
  result.reference = order->cl_ord_id;
  book_.cancel(order->id, by_user, now);
  return result;
}

OkxItem OkxDesk::amend(const json::Value& item, Instant now) {
  OkxItem result = item_of(item);
  if (text_of(item, "instId").empty()) return refused(std::move(result), okx_missing("instId"));
  if (result.order_id.empty() && result.reference.empty()) {
    return refused(std::move(result), okx_whole("50015"));
  }
  const OkxOrder* order = find(item);
  if (order == nullptr) return refused(std::move(result), okx_item("51503"));
  const auto change = read_okx_change(settings_, item, *order);
  if (!change) return refused(std::move(result), change.error());
  result.order_id = std::to_string(order->id);
  result.reference = order->cl_ord_id;
  book_.amend(order->id, *change, now);
  if (is_open(order->state)) trade(*order, now);
  return result;
}

void OkxDesk::fill(const OkxOrder& order, bool halfway, Instant now) {
  const OkxInstrument instrument = instrument_of(order);
  Decimal size = okx_rest(order, instrument);
  const Decimal half = divide_down(size, parse_decimal("2").value_or(size));
  const Decimal whole_lots = half.round_down_to(instrument.lot).value_or(half);
  if (halfway && whole_lots > Decimal()) size = whole_lots;
  const Decimal price = parse_decimal(order.px).value_or(instrument.price);
  book_.fill(order.id, {.size = size, .price = price, .is_maker = true}, now);
}

}  // namespace pawl::emulator
