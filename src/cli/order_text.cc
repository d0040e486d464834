#include "cli/order_text.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "cli/table.h"
#include "cli/words.h"

namespace pawl::cli {
namespace {

using order::Intent;
using order::Status;

constexpr std::string_view alarm = "\033[1;97;41m";

std::string_view colour_of(PlacedAs as) {
  switch (as) {
    case PlacedAs::confirmed:
      return green;
    case PlacedAs::rejected:
    case PlacedAs::denied:
      return red;
    case PlacedAs::unresolved:
      return alarm;
  }
  __builtin_unreachable();
}

std::string_view colour_of(Status status) {
  switch (status) {
    case Status::confirmed:
      return green;
    case Status::rejected:
      return red;
    case Status::unresolved:
      return alarm;
    case Status::sending:
    case Status::reconciling:
      return {};
  }
  __builtin_unreachable();
}

std::string terms(const order::Order& order) {
  std::string out = order.venue + " " + brief(order) + " " + std::string(to_string(order.type));
  if (order.price) out += " at " + to_string(*order.price);
  if (order.stop_price) out += " stop " + to_string(*order.stop_price);
  if (order.reduce_only) out += " reduce-only";
  return sentence(out);
}

constexpr std::size_t name_width = 12;

std::string line(std::string_view name, std::string_view value, std::size_t width = name_width) {
  const std::size_t blanks = width - std::min(width, name.size());
  return std::string("  ").append(name).append(blanks, ' ').append(value) + "\n";
}

// "1 order", "2 orders".
std::string orders_of(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " order" : " orders");
}

std::string week_of(const order::Quota& quota) {
  const std::string week = "week starting " + order::week_text(quota.week_start);
  if (!quota.enabled) return "no limit (disabled in the configuration), " + week;
  return std::to_string(quota.used) + "/" + std::to_string(quota.limit) + " orders, " + week;
}

std::string to_the_second(Instant at) {
  return to_string(at).substr(0, 19) + "Z";
}

std::string evidence_text(const std::vector<order::Evidence>& evidence) {
  if (evidence.empty()) return "";
  std::vector<std::vector<std::string>> rows;
  for (const order::Evidence& each : evidence) {
    rows.push_back({"    " + to_string(each.at), sentence(each.source), sentence(each.says)});
  }
  return "  evidence\n" + table(rows, "lll");
}

// Of a denied one nothing was sent.
std::string attempts_of(const Placed& placed) {
  return placed.as == PlacedAs::denied ? "-" : std::to_string(placed.intent.progress.attempts);
}

std::string price_of(const order::Order& order) {
  return order.price ? to_string(*order.price) : "-";
}

}  // namespace

int exit_code_of(PlacedAs as) {
  switch (as) {
    case PlacedAs::confirmed:
      return 0;
    case PlacedAs::rejected:
    case PlacedAs::denied:
      return static_cast<int>(Code::refused);
    case PlacedAs::unresolved:
      return static_cast<int>(Code::unresolved);
  }
  __builtin_unreachable();
}

std::string placed_text(const Placed& placed, bool colour) {
  const Intent& intent = placed.intent;
  std::string out = painted(to_string(placed.as), colour_of(placed.as), colour) + "  " +
                    word(intent.reference) + "  " + terms(intent.order) + "\n";
  if (placed.replayed) out += line("replayed", "the stored answer; nothing was sent");
  if (!intent.progress.order_id.empty()) out += line("order id", word(intent.progress.order_id));
  if (placed.as == PlacedAs::confirmed) out += line("life", to_string(intent.progress.life));
  if (placed.as != PlacedAs::denied) {
    out += line("attempts", std::to_string(intent.progress.attempts));
  }
  if (!placed.message.empty()) out += line("because", sentence(placed.message));
  out += line("week", week_of(placed.quota));
  return out + evidence_text(intent.progress.evidence);
}

std::string orders_text(std::span<const Intent> orders, bool colour) {
  if (orders.empty()) return "no orders\n";
  std::vector<std::vector<std::string>> rows = {{"reference", "venue", "instrument", "side", "size",
                                                 "price", "status", "life", "attempts", "created",
                                                 "order id"}};
  for (const Intent& each : orders) {
    const order::Progress& progress = each.progress;
    rows.push_back({word(each.reference), word(each.order.venue), word(instrument_name(each.order)),
                    std::string(to_string(each.order.side)), to_string(each.order.size),
                    price_of(each.order), std::string(to_string(progress.status)),
                    std::string(to_string(progress.life)), std::to_string(progress.attempts),
                    to_the_second(each.created), word(progress.order_id)});
  }
  constexpr std::size_t status_column = 6;
  return table(rows, "llllrrllrll", [&](std::size_t row, std::size_t column) -> std::string_view {
    if (!colour || row == 0 || column != status_column) return {};
    return colour_of(orders[row - 1].progress.status);
  });
}

std::string placements_text(std::span<const Placed> placements, bool colour) {
  std::vector<std::vector<std::string>> rows = {
      {"reference", "order", "status", "attempts", "order id", "because"}};
  for (const Placed& each : placements) {
    rows.push_back({word(each.intent.reference), terms(each.intent.order),
                    std::string(to_string(each.as)), attempts_of(each),
                    word(each.intent.progress.order_id), sentence(each.message)});
  }
  constexpr std::size_t status_column = 2;
  return table(rows, "lllrll", [&](std::size_t row, std::size_t column) -> std::string_view {
    if (!colour || row == 0 || column != status_column) return {};
    return colour_of(placements[row - 1].as);
  });
}

std::string quota_text(const order::Quota& quota, bool colour) {
  if (!quota.enabled) return week_of(quota) + "\n";
  const std::int64_t left = std::max<std::int64_t>(0, quota.limit - quota.used);
  const std::string used = week_of(quota) + "; " + std::to_string(left) + " left until " +
                           to_the_second(quota.week_start + Duration::days(7));
  return painted(used, left == 0 ? red : green, colour) + "\n";
}

std::string dry_run_text(const DryRun& run) {
  return std::string(run.would_send ? "would be sent" : "would not be sent") + "  " +
         word(run.reference) + "  " + terms(run.order) + "\n" +
         line(run.would_send ? "note" : "because", sentence(run.message)) +
         line("counts", run.counts ? "against the weekly limit" : "not against the weekly limit") +
         line("week", week_of(run.quota)) + line("sent", "nothing: this was a dry run");
}

std::string precheck_text(const Precheck& precheck, bool colour) {
  std::size_t width = name_width;
  for (const auto& [name, text] : precheck.details) {
    width = std::max(width, sentence(name).size() + 2);
  }
  std::string out =
      painted(precheck.ok ? "ok" : "refused", precheck.ok ? green : red, colour) + "\n";
  if (!precheck.code.empty()) out += line("code", word(precheck.code), width);
  if (!precheck.message.empty()) {
    out += line(precheck.ok ? "note" : "because", sentence(precheck.message), width);
  }
  for (const auto& [name, text] : precheck.details) {
    out += line(sentence(name), sentence(text), width);
  }
  return out;
}

std::string changed_text(std::string_view done, const Changed& changed) {
  std::string out = std::string(done) + "  " + word(changed.intent.reference) + "  " +
                    terms(changed.intent.order) + "\n" +
                    line("order id", word(changed.intent.progress.order_id)) +
                    line("life", to_string(changed.life));
  if (!changed.answer.message.empty()) out += line("venue said", sentence(changed.answer.message));
  return out;
}

std::string backfill_text(const BackfillSummary& summary) {
  std::string out;
  if (summary.orders == 0) {
    out = "the venues show no order of that time\n";
  } else if (summary.inserted == 0) {
    out = "nothing was missing: order_history has all that the venues show (" +
          orders_of(summary.orders) + ")\n";
  } else {
    out = std::to_string(summary.inserted) + " of " + orders_of(summary.orders) +
          (summary.inserted == 1 ? " was missing and is" : " were missing and are") +
          " in order_history now\n";
  }
  for (const std::string& note : summary.notes) out += "note: " + sentence(note) + "\n";
  return out;
}

std::string progress_text(const BackfillProgress& progress) {
  const auto done = static_cast<std::uint64_t>(std::clamp(progress.done_milli, 0, 1000));
  std::string out = sentence(progress.venue) + " " + bar(done, 1000) + " " +
                    std::to_string(progress.done_milli / 10) + "%  " + orders_of(progress.orders) +
                    ", " + std::to_string(progress.inserted) + " new";
  if (progress.orders > 0) out += ", back to " + to_string(progress.reached).substr(0, 10);
  return out;
}

std::string open_orders_text(const OpenOrders& orders, bool colour) {
  const auto part = [&](std::span<const Intent> some, std::string_view what, std::string_view why) {
    if (some.empty()) return std::string();
    const std::string count = std::to_string(some.size()) + std::string(what);
    std::string out = painted("!! " + count, alarm, colour) + std::string(why) + "\n";
    constexpr std::size_t shown_max = 10;
    for (const Intent& each : some.first(std::min(shown_max, some.size()))) {
      out += "   " + word(each.reference) + "  " + terms(each.order) + "  since " +
             to_the_second(each.created) + "\n";
    }
    if (some.size() > shown_max) out += "   and more: pawl order list --unresolved\n";
    return out;
  };
  const bool one = orders.unresolved.size() == 1;
  const bool one_left = orders.left.size() == 1;
  std::string out =
      part(orders.unresolved, one ? " ORDER IS UNRESOLVED" : " ORDERS ARE UNRESOLVED",
           one ? ": nobody knows whether the venue has it"
               : ": nobody knows whether the venue has them") +
      part(orders.left, one_left ? " ORDER WAS LEFT OPEN" : " ORDERS WERE LEFT OPEN",
           one_left ? ": its process ended before its outcome was known, and nobody works on it"
                    : ": their processes ended before the outcome was known, and nobody works on "
                      "them");
  if (out.empty()) return out;
  out += "   find out:  pawl order reconcile\n";
  if (orders.unresolved.empty()) return out;
  return out + "   or decide: pawl order resolve REF --as placed|absent --reason TEXT\n";
}

}  // namespace pawl::cli
