#include "tests/campaign/facts.h"

#include <algorithm>
#include <set>
#include <utility>

#include "emulator/core/calls.h"
#include "venue/okx/okx_client_id.h"

namespace pawl::campaign {
namespace {

using Kind = Change::Kind;
using Heard = Change::Heard;

bool holds(const std::vector<std::string>& values, const std::string& value) {
  return std::ranges::find(values, value) != values.end();
}

bool is_canceled(const Row& row) {
  return row.state == "canceled" || row.state == "cancelled";
}

class Judge {
 public:
  explicit Judge(Facts& facts) : facts_(facts) {}
  std::vector<std::string> judge();

 private:
  void judge_pace();
  void judge_intents();
  void judge_callers();
  void judge_changes(std::size_t wish, const Row& row);
  void judge_values(std::size_t wish, const Row& row, Kind kind);
  void judge_cancels(std::size_t wish, const Row& row);
  bool counts(const std::string& reference) const;
  void broken(std::string what) { broken_.push_back(std::move(what)); }

  Facts& facts_;
  // By reference, as the exchange shows it.
  std::map<std::string, std::vector<Row>> live_;
  std::set<std::string> made_;  // also those that were taken, and refused later
  std::vector<std::string> broken_;
};

std::vector<std::string> Judge::judge() {
  for (const Row& row : facts_.book) {
    made_.insert(row.reference);
    if (row.state != "rejected") live_[row.reference].push_back(row);
  }
  judge_pace();
  judge_intents();
  judge_callers();
  for (std::size_t i = 0; i < facts_.wishes.size(); ++i) {
    const auto found = live_.find(facts_.shown(facts_.wishes[i].reference));
    if (found != live_.end()) judge_changes(i, found->second.front());
  }
  return std::move(broken_);
}

// Whether it is one of the week's: not where the venue itself holds it to reducing.
bool Judge::counts(const std::string& reference) const {
  return std::ranges::none_of(facts_.wishes, [&](const Wish& wish) {
    return facts_.against == Against::okx && wish.order.reduce_only &&
           facts_.shown(wish.reference) == reference;
  });
}

void Judge::judge_pace() {
  std::int64_t counted = 0;
  for (const auto& [reference, rows] : live_) {
    if (rows.size() > 1) broken(std::to_string(rows.size()) + " orders for " + reference);
    if (counts(reference)) counted += static_cast<std::int64_t>(rows.size());
  }
  if (counted > facts_.weekly_max) {
    broken(std::to_string(counted) + " orders are above the weekly limit");
  }
  const std::int64_t orders = facts_.accepted.most_within(Duration::seconds(1));
  if (orders > facts_.at_once) broken(std::to_string(orders) + " orders within a second");
  const std::int64_t calls = facts_.written.most_within(Duration::seconds(1));
  if (calls > facts_.at_once) broken(std::to_string(calls) + " changing calls within a second");
  if (facts_.repeated_ids > 0) {
    broken(std::to_string(facts_.repeated_ids) +
           " calls with an x-request-id that was used before");
  }
}

void Judge::judge_intents() {
  std::map<std::string, const order::Intent*> known;
  for (const order::Intent& intent : facts_.intents) {
    known.emplace(facts_.shown(intent.reference), &intent);
  }
  for (const auto& [reference, rows] : live_) {
    const auto found = known.find(reference);
    if (found == known.end()) {
      broken("nobody knows the order " + reference);
      continue;
    }
    const order::Progress& progress = found->second->progress;
    if (progress.status == order::Status::rejected) {
      broken(reference + " is called rejected, and lives: " + progress.reason);
    }
    const bool other =
        progress.status == order::Status::confirmed && progress.order_id != rows.front().order_id;
    if (other) broken(reference + " is taken for the order " + progress.order_id);
  }
  for (const auto& [reference, intent] : known) {
    if (intent->progress.status == order::Status::confirmed && !made_.contains(reference)) {
      broken(reference + " is called confirmed, and is not there");
    }
  }
}

void Judge::judge_callers() {
  for (const Wish& wanted : facts_.wishes) {
    const auto was_heard = [&](PlacedAs as) {
      return std::ranges::find(wanted.heard, as) != wanted.heard.end();
    };
    const std::string reference = facts_.shown(wanted.reference);
    if (wanted.waiting > 0) broken("nobody answered who wanted " + wanted.reference);
    if (wanted.came_late) {
      broken("a caller heard that " + wanted.reference + " was not sent, and it arrived later");
    }
    if (was_heard(PlacedAs::confirmed) && !made_.contains(reference)) {
      broken("a caller heard that " + wanted.reference + " is confirmed, and it is not there");
    }
    if (was_heard(PlacedAs::rejected) && live_.contains(reference)) {
      broken("a caller heard that " + wanted.reference + " is rejected, and it lives");
    }
  }
}

void Judge::judge_changes(std::size_t wish, const Row& row) {
  judge_values(wish, row, Kind::price);
  judge_values(wish, row, Kind::size);
  judge_cancels(wish, row);
}

void Judge::judge_values(std::size_t wish, const Row& row, Kind kind) {
  const std::string name = facts_.wishes[wish].reference;
  const order::Order& placed = facts_.wishes[wish].order;
  std::vector<std::string> was = facts_.terms.of(row.order_id, kind);
  const std::string first =
      kind == Kind::size ? to_string(placed.size) : to_string(placed.price.value_or(Decimal()));
  if (was.empty() || was.front() != first) was.insert(was.begin(), first);
  if (std::set(was.begin(), was.end()).size() != was.size()) {
    broken("a change of " + name + " was made again after another one");
  }
  std::vector<std::string> may_be = {first};
  for (const Change& change : facts_.changes) {
    if (change.wish != wish || change.kind != kind) continue;
    const bool made = holds(was, change.value);
    if (change.heard == Heard::not_done && made) {
      broken("a change of " + name + " was made, and its caller heard that it was not");
    }
    if (change.heard == Heard::done && !made) {
      broken("a change of " + name + " was not made, and its caller heard that it was");
    }
    if (change.heard == Heard::done) may_be.clear();
    if (change.heard != Heard::not_done) may_be.push_back(change.value);
  }
  if (!holds(may_be, was.back())) broken(name + " is not what the last change made of it");
}

void Judge::judge_cancels(std::size_t wish, const Row& row) {
  const std::string name = facts_.wishes[wish].reference;
  bool may_be_canceled = false;
  for (const Change& change : facts_.changes) {
    if (change.wish != wish || change.kind != Kind::cancel) continue;
    may_be_canceled = may_be_canceled || change.heard != Heard::not_done;
    if (change.heard != Heard::done) continue;
    if (row.open) broken("a caller heard that " + name + " is over, and it is open");
    if (change.life == order::Life::canceled && !is_canceled(row)) {
      broken("a caller heard that " + name + " is canceled, and it is " + row.state);
    }
  }
  if (is_canceled(row) && !may_be_canceled) broken(name + " is canceled, and nobody heard so");
}

}  // namespace

std::vector<Row> book_of(const emulator::Exchange& exchange, Against against) {
  const bool is_okx = against == Against::okx;
  std::vector<Row> rows;
  const json::Value orders = exchange.orders();
  for (const json::Value& row : *orders.find("orders")->if_array()) {
    const json::Value& terms = is_okx ? row : *row.find("request");
    rows.push_back({.order_id = emulator::text_of(row, is_okx ? "id" : "order_id"),
                    .reference = emulator::text_of(row, "reference"),
                    .state = emulator::text_of(row, "state"),
                    .price = emulator::text_of(terms, is_okx ? "px" : "OrderPrice"),
                    .size = emulator::text_of(terms, is_okx ? "sz" : "Amount"),
                    .open = *row.find("open")->if_bool()});
  }
  return rows;
}

void Terms::see(const std::vector<Row>& rows) {
  const auto add = [](std::vector<std::string>& values, const std::string& value) {
    if (values.empty() || values.back() != value) values.push_back(value);
  };
  for (const Row& row : rows) {
    Of& of = orders_[row.order_id];
    add(of.sizes, row.size);
    if (!row.price.empty()) add(of.prices, row.price);
  }
}

std::vector<std::string> Terms::of(const std::string& order_id, Kind kind) const {
  const auto found = orders_.find(order_id);
  if (found == orders_.end()) return {};
  return kind == Kind::size ? found->second.sizes : found->second.prices;
}

std::string shown(Against against, const std::string& reference) {
  return against == Against::okx ? okx::client_order_id(reference) : reference;
}

std::vector<std::string> judge(Facts& facts) {
  return Judge(facts).judge();
}

}  // namespace pawl::campaign
