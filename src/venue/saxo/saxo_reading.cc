#include "venue/saxo/saxo_reading.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/bounds.h"
#include "base/text.h"
#include "venue/common/wire.h"
#include "venue/saxo/saxo_answer.h"

namespace pawl::saxo {
namespace {

using order::Life;
using venue::text_of;

bool is_over(Life life) {
  return life == Life::filled || life == Life::canceled || life == Life::rejected;
}

// Of /port/v1/orders: what stands there is open, or was a moment ago.
Life life_of_open(std::string_view status) {
  return equal_ignoring_case(status, "Filled") ? Life::filled : Life::working;
}

// None: the row does not change what the order is (a change or a cancel that was refused).
std::optional<Life> life_of_activity(std::string_view status, std::string_view sub_status) {
  const auto is = [&](std::string_view word) { return equal_ignoring_case(status, word); };
  if (equal_ignoring_case(sub_status, "Rejected")) {
    return is("Placed") || is("Rejected") ? std::optional(Life::rejected) : std::nullopt;
  }
  if (is("FinalFill") || is("FinalFilled")) return Life::filled;
  if (is("Cancelled") || is("Canceled") || is("Expired") || is("DoneForDay")) {
    return equal_ignoring_case(sub_status, "Requested") ? std::nullopt
                                                        : std::optional(Life::canceled);
  }
  if (is("Rejected")) return Life::rejected;
  return Life::working;
}

void note_terms(Seen& seen, const json::Value& row, std::string_view type_member) {
  const std::string uic = text_of(row, "Uic");
  const std::string asset_type = text_of(row, "AssetType");
  const std::string side = text_of(row, "BuySell");
  const auto size = venue::decimal_of(row, "Amount");
  order::VenueOrder& order = seen.order;
  if (!uic.empty() && !asset_type.empty() && size && (side == "Buy" || side == "Sell")) {
    order.instrument = uic + ':' + asset_type;
    order.side = side == "Buy" ? order::Side::buy : order::Side::sell;
    order.size = *size;
    seen.has_terms = true;
  }
  const std::string type = text_of(row, type_member);
  if (!type.empty()) order.type = type_text(type);
  if (const auto price = venue::decimal_of(row, "Price")) order.price = price;
}

// What holds whichever row tells it.
void note_owner(Seen& seen, const json::Value& row) {
  order::VenueOrder& order = seen.order;
  if (const auto filled = venue::decimal_of(row, "FilledAmount")) {
    order.filled = std::max(order.filled, *filled);
  }
  const std::string reference = text_of(row, "ExternalReference");
  if (!reference.empty()) order.reference = reference;
  const std::string account = text_of(row, "AccountKey");
  if (!account.empty()) seen.account_key = account;
}

// A change that was only asked for, or refused, is none.
bool is_settled(std::string_view sub_status) {
  return !equal_ignoring_case(sub_status, "Requested") &&
         !equal_ignoring_case(sub_status, "Rejected");
}

void note_time(Seen& seen, const std::optional<Instant>& time) {
  if (!time) return;
  seen.order.placed_at = seen.has_time ? std::min(seen.order.placed_at, *time) : *time;
  seen.has_time = true;
}

// By which activities of an order are put in order: time, then the number of the log.
std::string place_of(const json::Value& row) {
  const auto time = venue::instant_of(row, "ActivityTime");
  const std::string log = text_of(row, "LogId");
  std::string place(20, '0');
  const std::string ns = std::to_string(time ? std::max<std::int64_t>(0, time->ns()) : 0);
  place.replace(20 - ns.size(), ns.size(), ns);
  if (log.size() < 20) place.append(20 - log.size(), '0');
  return place + log;
}

std::string brief(const order::VenueOrder& order) {
  std::string text = "order " + order.order_id;
  if (!order.says.empty()) text += ' ' + order.says;
  return text;
}

}  // namespace

Result<Page> page_of(json::Value body) {
  const json::Array* rows = venue::list_of(body, "Data");
  if (rows == nullptr) return failure(Code::unavailable, "the answer has no list named Data");
  Page page{.rows = *rows};
  const std::string count = text_of(body, "__count");
  std::size_t total = 0;
  if (std::from_chars(count.data(), count.data() + count.size(), total).ec == std::errc()) {
    page.count = total;
  }
  const std::string next = text_of(body, "__next");
  if (next.empty()) return page;
  const auto question = next.find('?');
  const bool good = question != std::string::npos && is_visible(next) &&
                    next.size() <= bounds::venue_page_link_bytes_max &&
                    next.find('#') == std::string::npos;
  if (!good) return failure(Code::unavailable, "its next page has an address that makes no sense");
  page.next = next.substr(question + 1);
  return page;
}

Seen* Sightings::entry(const json::Value& row) {
  ++rows_;
  std::string id = text_of(row, "OrderId");
  if (!is_order_id(id)) {
    ++nameless_;
    return nullptr;
  }
  const auto found = seen_.try_emplace(std::move(id)).first;
  found->second.order.order_id = found->first;
  return &found->second;
}

void Sightings::add_open(const json::Value& row) {
  Seen* seen = entry(row);
  if (seen == nullptr) return;
  note_terms(*seen, row, row.find("OpenOrderType") != nullptr ? "OpenOrderType" : "OrderType");
  note_owner(*seen, row);
  note_time(*seen, venue::instant_of(row, "OrderTime"));
  const std::string status = text_of(row, "Status");
  seen->is_open = true;
  seen->was_placed = true;
  // Activities that say it is over were written later.
  if (is_over(seen->order.life)) return;
  seen->order.life = life_of_open(status);
  seen->order.says = venue::for_people(status);
}

void Sightings::add_activity(const json::Value& row) {
  Seen* seen = entry(row);
  if (seen == nullptr) return;
  const std::string status = text_of(row, "Status");
  const std::string sub_status = text_of(row, "SubStatus");
  const std::string place = place_of(row);
  const bool newest = is_settled(sub_status) && place >= seen->terms_place;
  if (newest || !seen->has_terms) note_terms(*seen, row, "OrderType");
  if (newest) seen->terms_place = place;
  note_owner(*seen, row);
  note_time(*seen, venue::instant_of(row, "ActivityTime"));
  const auto life = life_of_activity(status, sub_status);
  if (equal_ignoring_case(status, "Placed") && life != Life::rejected) seen->was_placed = true;
  if (!life || place < seen->last_place) return;
  seen->last_place = place;
  seen->order.life = *life;
  seen->order.says = venue::for_people(sub_status.empty() ? status : status + '/' + sub_status);
}

void Sightings::learn_reference(const json::Value& row) {
  const auto found = seen_.find(text_of(row, "OrderId"));
  if (found == seen_.end()) return;
  const std::string reference = text_of(row, "ExternalReference");
  if (!reference.empty()) found->second.order.reference = reference;
}

const Seen* Sightings::find(std::string_view order_id) const {
  const auto found = seen_.find(order_id);
  return found == seen_.end() ? nullptr : &found->second;
}

bool Weigher::same_terms(const Seen& seen) const {
  const bool same_account = seen.account_key.empty() || account_.account_key.empty() ||
                            seen.account_key == account_.account_key;
  return same_account && seen.has_terms &&
         seen.order.instrument == ask_.order.instrument + ':' + ask_.order.asset_type &&
         seen.order.side == ask_.order.side && seen.order.size == ask_.order.size;
}

Match Weigher::match(const Seen& seen) const {
  if (!ask_.order_id.empty() && seen.order.order_id == ask_.order_id) return Match::ours;
  if (seen.order.reference == ask_.reference) {
    return same_terms(seen) || !seen.has_terms ? Match::ours : Match::probable;
  }
  const bool in_time = !seen.has_time || seen.order.placed_at >= likely_from_;
  if (!seen.order.reference.empty() || !in_time) return Match::none;
  if (!seen.has_terms) return Match::probable;  // nobody can say that it is another one
  const std::string type = type_text(order_type(ask_.order));
  // A word that we do not know may mean any type.
  const bool same_type = !order::type_of(seen.order.type) || seen.order.type == type;
  return same_terms(seen) && same_type ? Match::probable : Match::none;
}

std::vector<std::string> Weigher::undecided(const Sightings& sightings) const {
  std::vector<std::string> ids;
  for (const auto& [id, seen] : sightings.all()) {
    if (seen.order.reference.empty() && match(seen) == Match::probable) ids.push_back(id);
  }
  return ids;
}

void Weigher::fill(order::Reading& reading, const Sightings& sightings) const {
  for (const auto& [id, seen] : sightings.all()) {
    const Match matched = match(seen);
    if (matched == Match::ours) reading.orders.push_back(seen.order);
    if (matched == Match::probable) reading.probable.push_back(seen.order);
  }
}

std::pair<order::SourceRead::Found, std::string> Weigher::found(const Sightings& source,
                                                                const Sightings& all) const {
  std::string ours;
  std::string probable;
  for (const auto& [id, own] : source.all()) {
    const Seen* known = all.find(id);
    const Seen& seen = known == nullptr ? own : *known;
    const Match matched = match(seen);
    if (matched == Match::none) continue;
    std::string& list = matched == Match::ours ? ours : probable;
    if (list.size() > bounds::venue_message_bytes_max) continue;
    list += (list.empty() ? "" : ", ") + brief(seen.order);
    if (matched == Match::probable && seen.order.reference == ask_.reference) {
      list += " carries our reference, but other terms";
    }
  }
  using Found = order::SourceRead::Found;
  const std::string rows = std::to_string(source.rows()) + " rows";
  if (!ours.empty()) return {Found::present, venue::for_people(ours)};
  if (!probable.empty()) return {Found::probable, venue::for_people("may be ours: " + probable)};
  return {Found::absent, rows + ", none of them ours"};
}

std::vector<order::VenueOrder> placed_within(const Sightings& sightings, Instant from, Instant to) {
  std::vector<order::VenueOrder> orders;
  for (const auto& [id, seen] : sightings.all()) {
    const order::VenueOrder& order = seen.order;
    const bool within = seen.has_time && order.placed_at >= from && order.placed_at < to;
    if (within && seen.was_placed && seen.has_terms && order.life != Life::rejected) {
      orders.push_back(order);
    }
  }
  std::ranges::sort(orders, {}, &order::VenueOrder::placed_at);
  return orders;
}

}  // namespace pawl::saxo
