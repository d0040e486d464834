#include "venue/okx/okx_reading.h"

#include <algorithm>
#include <utility>

#include "base/bounds.h"
#include "venue/common/wire.h"
#include "venue/okx/okx_answer.h"
#include "venue/okx/okx_client_id.h"
#include "venue/okx/okx_order.h"

namespace pawl::okx {
namespace {

using Found = order::SourceRead::Found;
using order::VenueOrder;
using Parameters = std::vector<std::pair<std::string_view, std::string>>;

ReadCall call_of(ReadKind kind, std::string name, const Parameters& parameters) {
  std::string path = "/api/v5/" + name;
  const std::string query = venue::query_of(parameters);
  if (!query.empty()) path += "?" + query;
  return {.kind = kind, .name = std::move(name), .path = std::move(path)};
}

std::string brief(const VenueOrder& order) {
  return "order " + order.order_id + " " + order.says + ", filled " + to_string(order.filled) +
         " of " + to_string(order.size);
}

}  // namespace

ReadCall time_call() {
  ReadCall call = call_of(ReadKind::time, "public/time", {});
  call.is_public = true;
  return call;
}

ReadCall order_call(const std::string& instrument, const std::string& order_id,
                    const std::string& client_id) {
  return call_of(ReadKind::order, "trade/order",
                 {{"instId", instrument},
                  {"ordId", order_id},
                  {"clOrdId", order_id.empty() ? client_id : std::string()}});
}

OkxReading::OkxReading(ReadAsk ask)
    : ask_(std::move(ask)), client_id_(client_order_id(ask_.reference)) {
  steps_ = {Source::time};
  if (!ask_.order_id.empty()) steps_.push_back(Source::by_order_id);
  steps_.insert(steps_.end(), {Source::by_client_id, Source::pending, Source::history});
}

// How long ago the first copy may have left.
Duration OkxReading::age() const {
  const Duration ours = ask_.now - ask_.since;
  return reading_.venue_time ? std::max(ours, *reading_.venue_time - ask_.since) : ours;
}

ReadCall OkxReading::list_call(Source source) const {
  // Of an order that was made before `since` by whichever clock, with room for its being off.
  const Instant now = reading_.venue_time.value_or(ask_.now);
  const Duration back = std::max(age(), Duration()) + bounds::okx_retention_margin;
  const Instant begin = std::min(now, ask_.now) - back;
  Parameters parameters = {{"instType", std::string(to_string(kind_of(ask_.order)))},
                           {"instId", ask_.order.instrument}};
  if (source != Source::pending) parameters.emplace_back("begin", to_milliseconds(begin));
  parameters.emplace_back("after", after_);
  parameters.emplace_back("limit", std::to_string(bounds::okx_page_rows));
  if (source == Source::pending) {
    return call_of(ReadKind::pending, "trade/orders-pending", parameters);
  }
  if (source == Source::history) {
    return call_of(ReadKind::history, "trade/orders-history", parameters);
  }
  return call_of(ReadKind::archive, "trade/orders-history-archive", parameters);
}

ReadCall OkxReading::fills_call() const {
  const Parameters parameters = {{"instType", std::string(to_string(kind_of(ask_.order)))},
                                 {"ordId", ask_.order_id}};
  if (age() < fills_kept - bounds::okx_retention_margin) {
    return call_of(ReadKind::fills, "trade/fills", parameters);
  }
  return call_of(ReadKind::fills_history, "trade/fills-history", parameters);
}

std::optional<ReadCall> OkxReading::next() const {
  if (steps_.empty()) return std::nullopt;
  switch (steps_.front()) {
    case Source::time:
      return time_call();
    case Source::by_order_id:
      return order_call(ask_.order.instrument, ask_.order_id, client_id_);
    case Source::by_client_id:
      return order_call(ask_.order.instrument, {}, client_id_);
    case Source::pending:
    case Source::history:
    case Source::archive:
      return list_call(steps_.front());
    case Source::fills:
      return fills_call();
  }
  return std::nullopt;
}

void OkxReading::heard(const Result<HttpAnswer>& answer, Instant at) {
  switch (steps_.front()) {
    case Source::time:
      time_heard(answer, at);
      break;
    case Source::by_order_id:
    case Source::by_client_id:
      order_heard(answer, at);
      break;
    case Source::pending:
    case Source::history:
    case Source::archive:
      list_heard(answer, at);
      break;
    case Source::fills:
      fills_heard(answer, at);
      break;
  }
}

void OkxReading::read(Found found, std::string says, Instant at) {
  const ReadCall call = *next();
  reading_.sources.push_back({.source = "GET " + call.path.substr(0, call.path.find('?')),
                              .at = at,
                              .found = found,
                              .says = std::move(says)});
  steps_.pop_front();
}

void OkxReading::unreadable(const std::string& why, Instant at) {
  if (unread_.empty()) unread_ = why;
  read(Found::unreadable, why, at);
}

void OkxReading::time_heard(const Result<HttpAnswer>& answer, Instant at) {
  const auto time =
      answer ? venue_time_of(*answer) : Result<Instant>(std::unexpected(answer.error()));
  if (time) {
    reading_.venue_time = *time;
    steps_.pop_front();
  } else {
    unreadable(time.error().message, at);
  }
  if (age() >= history_kept - bounds::okx_retention_margin) steps_.push_back(Source::archive);
}

std::size_t OkxReading::keep(const std::vector<VenueOrder>& orders) {
  std::size_t ours = 0;
  for (const VenueOrder& order : orders) {
    const bool named = order.reference == client_id_;
    if (!named && (ask_.order_id.empty() || order.order_id != ask_.order_id)) continue;
    ++ours;
    const auto known = std::ranges::find(reading_.orders, order.order_id, &VenueOrder::order_id);
    VenueOrder& kept = known == reading_.orders.end() ? reading_.orders.emplace_back() : *known;
    kept = order;  // the later look is the newer one
    if (named) kept.reference = ask_.reference;
  }
  return ours;
}

void OkxReading::order_heard(const Result<HttpAnswer>& answer, Instant at) {
  if (!answer) return unreadable(answer.error().message, at);
  const auto orders = orders_of(*answer, next()->name);
  if (!orders) {
    if (orders.error().code != Code::not_found) return unreadable(orders.error().message, at);
    return read(Found::absent, orders.error().message, at);
  }
  if (orders->empty()) return unreadable("trade/order: neither an order nor 51603", at);
  if (keep(*orders) == 0) return unreadable("trade/order: another order than was asked for", at);
  read(Found::present, brief(orders->front()), at);
}

void OkxReading::list_heard(const Result<HttpAnswer>& answer, Instant at) {
  const std::string name = next()->name;
  const auto end = [&] {
    after_.clear();
    pages_ = rows_ = ours_ = 0;
    const bool last = steps_.empty();
    if (last && reading_.orders.empty() && !ask_.order_id.empty()) steps_ = {Source::fills};
  };
  const auto give_up = [&](const std::string& why) {
    unreadable(why, at);
    end();
  };
  if (!answer) return give_up(answer.error().message);
  const auto orders = orders_of(*answer, name);
  if (!orders) return give_up(orders.error().message);
  ++pages_;
  rows_ += orders->size();
  ours_ += keep(*orders);
  if (orders->size() >= bounds::okx_page_rows) {
    const std::string last = orders->back().order_id;
    if (last == after_) return give_up(name + ": the same page twice");
    if (pages_ >= bounds::okx_read_pages_max) {
      return give_up(name + ": more than " + std::to_string(rows_) +
                     " orders; its end was not read");
    }
    after_ = last;
    return;
  }
  const std::string among = " among " + std::to_string(rows_) + " orders";
  if (ours_ == 0) {
    read(Found::absent, "absent" + among, at);
  } else {
    read(Found::present, std::to_string(ours_) + " of it" + among, at);
  }
  end();
}

void OkxReading::fills_heard(const Result<HttpAnswer>& answer, Instant at) {
  if (!answer) return unreadable(answer.error().message, at);
  const auto fills = data_of(*answer, next()->name);
  if (!fills) return unreadable(fills.error().message, at);
  const auto ours = std::ranges::count_if(*fills, [&](const json::Value& row) {
    return venue::text_of(row, "ordId") == ask_.order_id;
  });
  if (ours == 0) return read(Found::absent, "no fill of order " + ask_.order_id, at);
  unread_ = "order " + ask_.order_id + " has fills, though no list shows it";
  read(Found::probable, std::to_string(ours) + " fills of order " + ask_.order_id, at);
}

std::string OkxReading::why_not_whole() const {
  if (!steps_.empty()) return "not all was read";
  if (!unread_.empty()) return unread_;
  if (ask_.now - ask_.since < -bounds::okx_retention_margin) {
    return "the intent is from the future: this machine's clock was set back";
  }
  if (age() >= canceled_kept - bounds::okx_retention_margin) {
    return "the intent is " + to_string(Duration::minutes(age().ns() / Duration::minutes(1).ns())) +
           " old, and OKX keeps canceled orders without a fill for " + to_string(canceled_kept);
  }
  return {};
}

order::Reading OkxReading::result() const {
  order::Reading reading = reading_;
  reading.why_not_whole = why_not_whole();
  reading.whole = reading.why_not_whole.empty();
  return reading;
}

}  // namespace pawl::okx
