#include "core/order/judge.h"

#include <algorithm>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "base/bounds.h"

namespace pawl::order {
namespace {

std::string text_of(const VenueOrder& order) {
  std::string text = "order " + order.order_id;
  text += ": " + order.instrument + " " + std::string(to_string(order.side)) + " " +
          to_string(order.size);
  if (!order.says.empty()) text += ", " + order.says;
  return text;
}

bool has_terms_of(const VenueOrder& found, const Order& order) {
  const bool instrument = found.instrument.empty() || found.instrument == instrument_name(order);
  const bool size = found.size == Decimal() || found.size == order.size;
  return instrument && size && found.side == order.side;
}

bool is_ours(const VenueOrder& found, const Intent& intent) {
  const std::string& known = intent.progress.order_id;
  return (!known.empty() && found.order_id == known) || has_terms_of(found, intent.order);
}

std::size_t different(std::span<const VenueOrder> orders) {
  std::set<std::string_view> ids;
  for (const VenueOrder& each : orders) ids.insert(each.order_id);
  return ids.size();
}

// The id that the venue named to us is an order too, shown or not, once another is shown.
bool is_named_elsewhere(std::span<const VenueOrder> ours, const std::string& known) {
  return !known.empty() && !ours.empty() &&
         std::ranges::find(ours, known, &VenueOrder::order_id) == ours.end();
}

int weight(const VenueOrder& row) {
  switch (row.life) {
    case Life::unknown:
      return 0;
    case Life::rejected:
      return 1;
    case Life::working:
      return 2;
    case Life::canceled:
      return 3;
    case Life::filled:
      return 4;
  }
  __builtin_unreachable();
}

}  // namespace

Sighting judge(const Intent& intent, const Reading& reading) {
  std::vector<VenueOrder> ours;
  std::vector<VenueOrder> strangers;
  for (const VenueOrder& each : reading.orders) {
    (is_ours(each, intent) ? ours : strangers).push_back(each);
  }
  const auto is_unreadable = [](const SourceRead& each) {
    return each.found == SourceRead::Found::unreadable;
  };
  const std::optional<Instant>& expires = intent.progress.expires;
  const auto is_past = [&](Instant venue_time) {
    return venue_time > *expires + bounds::order_expiry_margin;
  };
  Sighting seen{
      .orders = different(ours),
      .strangers = different(strangers),
      .probable = different(reading.probable),
      .readable = std::ranges::none_of(reading.sources, is_unreadable),
      .expired = !expires || (reading.venue_time && is_past(*reading.venue_time)),
  };
  if (is_named_elsewhere(ours, intent.progress.order_id)) ++seen.orders;
  if (!ours.empty()) seen.found = *std::ranges::max_element(ours, {}, weight);
  return seen;
}

void add_reading(Intent& intent, const Reading& reading, Instant now) {
  for (const SourceRead& each : reading.sources) {
    add_evidence(intent.progress,
                 {each.at, each.source, std::string(to_string(each.found)) + ": " + each.says});
  }
  const auto add = [&](std::string_view what, const VenueOrder& order) {
    add_evidence(intent.progress, {now, "reconciliation", std::string(what) + text_of(order)});
  };
  for (const VenueOrder& each : reading.orders) {
    add(is_ours(each, intent) ? "is it: " : "has its reference, and is another: ", each);
  }
  for (const VenueOrder& each : reading.probable) add("looks like it: ", each);
}

}  // namespace pawl::order
