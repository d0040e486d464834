#include "tests/campaign/campaign.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "adapter/memory/memory_counter_store.h"
#include "emulator/core/okx_exchange.h"
#include "emulator/core/rush.h"
#include "emulator/core/saxo_exchange.h"
#include "runtime/order_desk.h"
#include "tests/campaign/agenda.h"
#include "tests/campaign/network.h"
#include "tests/campaign/slow_store.h"
#include "tests/campaign/weather.h"
#include "venue/okx/okx_client_id.h"
#include "venue/okx/okx_venue.h"
#include "venue/saxo/saxo_venue.h"

namespace pawl::campaign {
namespace {

constexpr Duration storm = Duration::seconds(150);  // while things go wrong
constexpr Duration calm = Duration::minutes(4);     // until everything must have ended
const Instant begin = Instant::from_ns(1'764'757'800'000'000'000);  // a Wednesday, 10:30

// What somebody wants placed.
struct Wish {
  std::string reference = {};
  order::Order order = {};
  std::vector<PlacedAs> heard = {};
  std::size_t failed = 0;   // errors: nothing was sent
  std::size_t waiting = 0;  // calls of living processes that are not answered
};

class Run {
 public:
  Run(Against against, std::uint64_t seed);
  Report go();

 private:
  // One life of a process.
  struct Life {
    std::shared_ptr<bool> alive = std::make_shared<bool>(true);
    std::unique_ptr<ProcessTimers> timers;
    std::unique_ptr<NetworkClient> http;
    std::unique_ptr<SlowStore> store;
    std::unique_ptr<Venue> venue;
    std::unique_ptr<OrderDesk> desk;
  };

  std::unique_ptr<Venue> venue_of(Life& life);
  void start(std::size_t process);
  void ask_again(std::size_t process);
  void kill(std::size_t process);
  void plan();
  void plan_wish(std::size_t number, std::size_t processes);
  void wish(std::size_t process, std::size_t number);
  void place(std::size_t process, std::size_t number);
  void heard(std::size_t process, std::size_t number, const Result<Placed>& placed);
  order::Order order_of(std::size_t number);
  void fill_something();

  std::string shown(const std::string& reference) const {
    return against_ == Against::okx ? okx::client_order_id(reference) : reference;
  }
  struct Row {  // of the exchange's book
    std::string order_id = {};
    std::string reference = {};
    std::string state = {};
  };
  std::vector<Row> book() const;
  void judge();
  using Rows = std::map<std::string, std::vector<Row>>;  // by reference, as the exchange shows it
  void judge_intents(const Rows& live, const std::set<std::string>& made);
  void judge_callers(const Rows& live, const std::set<std::string>& made);
  void count();
  void broken(std::string what) { report_.broken.push_back(std::move(what)); }

  const Against against_;
  Dice dice_;
  Agenda agenda_{begin};
  std::unique_ptr<emulator::Exchange> exchange_;
  Network network_;
  emulator::Script weather_;
  MemoryIntents intents_;
  MemoryCounterStore counters_{agenda_.clock};
  OrderDesk::Options options_;
  std::vector<std::unique_ptr<Life>> lives_;
  std::vector<std::set<std::size_t>> wished_;  // by process: what it wants, and asks for again
  std::vector<Wish> wishes_;
  Report report_;
};

std::unique_ptr<emulator::Exchange> exchange_of(Against against) {
  if (against == Against::saxo) return std::make_unique<emulator::SaxoExchange>();
  return std::make_unique<emulator::OkxExchange>();
}

Run::Run(Against against, std::uint64_t seed)
    : against_(against),
      dice_(seed),
      exchange_(exchange_of(against)),
      network_(agenda_, dice_, *exchange_),
      weather_(weather_of(against, seed, dice_)) {
  const Result<void> played = exchange_->play(weather_);
  if (!played) broken("the faults are none: " + played.error().message);
  options_.limit.weekly_max_orders = static_cast<std::int64_t>(2 + dice_.below(5));
}

std::unique_ptr<Venue> Run::venue_of(Life& life) {
  if (against_ == Against::okx) {
    auto venue = okx::OkxVenue::open(
        {.session = "one",
         .base_url = "http://okx.test",
         .credentials = {.api_key = Secret<std::string>("emulated-demo"),
                         .secret_key = Secret<std::string>("22582BD0CFF14C41EDBF1AB98506286D"),
                         .passphrase = Secret<std::string>("emulated-passphrase")}},
        {.http = *life.http, .clock = agenda_.clock, .timers = *life.timers, .entropy = dice_});
    if (!venue) broken(venue.error().message);
    return venue ? std::unique_ptr<Venue>(*std::move(venue)) : nullptr;
  }
  auto venue =
      saxo::SaxoVenue::open({.session = "one",
                             .base_url = "http://saxo.test/sim/openapi/",
                             .token_url = "http://saxo.test/token",
                             .access_token = Secret<std::string>("access-1"),
                             .refresh_token = Secret<std::string>("refresh-1"),
                             .app_key = "app",
                             .app_secret = Secret<std::string>("secret"),
                             .client_key = "emulated-client",
                             .account_key = "emulated-account"},
                            {.http = *life.http, .clock = agenda_.clock, .timers = *life.timers});
  if (!venue) broken(venue.error().message);
  return venue ? std::unique_ptr<Venue>(*std::move(venue)) : nullptr;
}

void Run::start(std::size_t process) {
  auto life = std::make_unique<Life>();
  life->timers = std::make_unique<ProcessTimers>(agenda_, life->alive);
  life->http = std::make_unique<NetworkClient>(network_, life->alive);
  life->store = std::make_unique<SlowStore>(intents_, agenda_, dice_, life->alive);
  life->venue = venue_of(*life);
  if (!life->venue) return;
  life->desk = std::make_unique<OrderDesk>(
      options_,
      OrderDesk::Ports{.clock = agenda_.clock,
                       .timers = *life->timers,
                       .entropy = dice_,
                       .store = *life->store,
                       .counters = counters_},
      std::vector<OrderDesk::VenueSeat>{
          {.venue = *life->venue, .pace = {.rate = {1, Duration::seconds(1)}}}});
  lives_[process] = std::move(life);
  ask_again(process);
}

// It does not know what became of what it wanted.
void Run::ask_again(std::size_t process) {
  for (const std::size_t number : wished_[process]) place(process, number);
}

void Run::kill(std::size_t process) {
  std::unique_ptr<Life> life = std::move(lives_[process]);
  if (!life) return;
  ++report_.kills;
  *life->alive = false;
  for (const std::size_t number : wished_[process]) wishes_[number].waiting = 0;
  life->desk.reset();
  life->venue.reset();
  life.reset();
  agenda_.after(dice_.within(Duration(), Duration::seconds(30)),
                [this, process] { start(process); });
}

order::Order Run::order_of(std::size_t number) {
  // Some look alike, so that they can be mistaken for one another.
  const std::string size = std::to_string(10 + (dice_.chance(20) ? 0 : number));
  order::Order order{.venue = against_ == Against::okx ? "okx" : "saxo",
                     .instrument = against_ == Against::okx ? "BTC-USDT-SWAP" : "211",
                     .side = dice_.chance(50) ? order::Side::buy : order::Side::sell,
                     .type = order::Type::limit,
                     .size = *parse_decimal(size),
                     .price = *parse_decimal("45000")};
  if (against_ == Against::saxo) order.asset_type = "Stock";
  if (dice_.chance(20)) {
    order.type = order::Type::market;
    order.price.reset();
  }
  return order;
}

void Run::plan() {
  const std::size_t processes = 1 + dice_.below(2);
  lives_.resize(processes);
  wished_.resize(processes);
  const std::size_t orders = 3 + dice_.below(5);
  for (std::size_t i = 0; i < orders; ++i) plan_wish(i, processes);
  for (std::size_t i = dice_.below(4); i > 0; --i) {
    const std::size_t process = dice_.below(processes);
    agenda_.after(dice_.within(Duration(), Duration::seconds(90)),
                  [this, process] { kill(process); });
  }
  for (std::size_t i = dice_.below(3); i > 0; --i) {
    const Duration jump = dice_.within(-Duration::hours(3), Duration::hours(3));
    agenda_.after(dice_.within(Duration(), Duration::seconds(90)),
                  [this, jump] { agenda_.clock.set_wall(agenda_.clock.wall_now() + jump); });
  }
  for (int i = 0; i < 3; ++i) {
    agenda_.after(dice_.within(Duration(), storm), [this] { fill_something(); });
  }
}

void Run::plan_wish(std::size_t number, std::size_t processes) {
  const std::string mark = dice_.chance(50) ? "C" : "c-1:";
  wishes_.push_back({.reference = mark + std::to_string(number), .order = order_of(number)});
  const std::size_t process = dice_.below(processes);
  const Duration at = dice_.within(Duration(), Duration::seconds(40));
  agenda_.after(at, [this, process, number] { wish(process, number); });
  if (!dice_.chance(25)) return;
  // The same is asked for twice, perhaps by another process.
  const std::size_t other = dice_.below(processes);
  agenda_.after(at + dice_.within(Duration(), Duration::seconds(3)),
                [this, other, number] { wish(other, number); });
}

void Run::wish(std::size_t process, std::size_t number) {
  wished_[process].insert(number);
  if (lives_[process]) place(process, number);
}

void Run::place(std::size_t process, std::size_t number) {
  Wish& wanted = wishes_[number];
  ++wanted.waiting;
  const Duration patience = dice_.chance(20)
                                ? dice_.within(Duration::seconds(1), Duration::seconds(40))
                                : Duration::max();
  lives_[process]->desk->place(
      {.reference = wanted.reference, .order = wanted.order, .wait_max = patience},
      [this, process, number](Result<Placed> placed) { heard(process, number, placed); });
}

void Run::heard(std::size_t process, std::size_t number, const Result<Placed>& placed) {
  Wish& wanted = wishes_[number];
  if (wanted.waiting > 0) --wanted.waiting;
  if (!placed) {
    ++wanted.failed;
    return;
  }
  wanted.heard.push_back(placed->as);
  if (placed->as == PlacedAs::confirmed && dice_.chance(20)) {
    lives_[process]->desk->cancel(wanted.reference, [](const Result<Changed>&) {});
  }
}

void Run::fill_something() {
  const std::vector<Row> rows = book();
  if (rows.empty()) return;
  // What is over already is not filled again: the exchange says no.
  (void)exchange_->act(rows[dice_.below(rows.size())].order_id, "fill", agenda_.world_now());
}

std::vector<Run::Row> Run::book() const {
  const auto text = [](const json::Value& row, const char* member) {
    const json::Value* value = row.find(member);
    return value != nullptr && value->if_string() != nullptr ? *value->if_string() : std::string();
  };
  std::vector<Row> rows;
  const json::Value orders = exchange_->orders();
  for (const json::Value& row : *orders.find("orders")->if_array()) {
    rows.push_back({.order_id = text(row, against_ == Against::okx ? "id" : "order_id"),
                    .reference = text(row, "reference"),
                    .state = text(row, "state")});
  }
  return rows;
}

Report Run::go() {
  plan();
  for (std::size_t process = 0; process < lives_.size(); ++process) start(process);
  agenda_.run(storm);
  network_.calm_down();
  weather_.faults = {};
  if (const Result<void> calmed = exchange_->play(weather_); !calmed) {
    broken(calmed.error().message);
  }
  for (const auto& life : lives_) {
    if (life) life->store->calm_down();
  }
  agenda_.run(calm);
  for (const auto& life : lives_) {
    if (life) life->desk->reconcile("", [](const Result<std::vector<Placed>>&) {});
  }
  agenda_.run(calm);
  judge();
  count();
  for (auto& life : lives_) {
    if (life) *life->alive = false;
    if (life) life->desk.reset();
  }
  return std::move(report_);
}

void Run::judge() {
  Rows live;
  std::set<std::string> made;  // by reference; also those that were taken, and refused later
  for (Row& row : book()) {
    made.insert(row.reference);
    if (row.state != "rejected") live[row.reference].push_back(std::move(row));
  }
  for (const auto& [reference, rows] : live) {
    if (rows.size() > 1) broken(std::to_string(rows.size()) + " orders for " + reference);
    report_.accepted += rows.size();
  }
  emulator::Rush rush;
  for (const Network::Accepted& each : network_.accepted()) rush.placed.push_back(each.arrived);
  if (rush.most_within(Duration::seconds(1)) > 1) broken("two orders within a second");
  if (report_.accepted > static_cast<std::size_t>(options_.limit.weekly_max_orders)) {
    broken(std::to_string(report_.accepted) + " orders are above the weekly limit");
  }
  judge_intents(live, made);
  judge_callers(live, made);
}

void Run::judge_intents(const Rows& live, const std::set<std::string>& made) {
  std::map<std::string, order::Intent> known;
  for (order::Intent& intent : intents_.intents()) known.emplace(shown(intent.reference), intent);
  for (const auto& [reference, rows] : live) {
    const auto found = known.find(reference);
    if (found == known.end()) {
      broken("nobody knows the order " + reference);
      continue;
    }
    const order::Progress& progress = found->second.progress;
    if (progress.status == order::Status::rejected) {
      broken(reference + " is called rejected, and lives: " + progress.reason);
    }
    const bool other =
        progress.status == order::Status::confirmed && progress.order_id != rows.front().order_id;
    if (other) broken(reference + " is taken for the order " + progress.order_id);
  }
  for (const auto& [reference, intent] : known) {
    if (intent.progress.status == order::Status::confirmed && !made.contains(reference)) {
      broken(reference + " is called confirmed, and is not there");
    }
  }
}

void Run::judge_callers(const Rows& live, const std::set<std::string>& made) {
  for (const Wish& wanted : wishes_) {
    const auto was_heard = [&](PlacedAs as) {
      return std::ranges::find(wanted.heard, as) != wanted.heard.end();
    };
    const bool lives = live.contains(shown(wanted.reference));
    if (wanted.waiting > 0) broken("nobody answered who wanted " + wanted.reference);
    if (was_heard(PlacedAs::confirmed) && !made.contains(shown(wanted.reference))) {
      broken("a caller heard that " + wanted.reference + " is confirmed, and it is not there");
    }
    if (was_heard(PlacedAs::rejected) && lives) {
      broken("a caller heard that " + wanted.reference + " is rejected, and it lives");
    }
  }
}

void Run::count() {
  report_.calls = network_.calls();
  for (const Wish& wanted : wishes_) {
    report_.denied +=
        std::ranges::find(wanted.heard, PlacedAs::denied) != wanted.heard.end() ? 1 : 0;
  }
  for (const order::Intent& intent : intents_.intents()) {
    ++report_.intents;
    const order::Progress& progress = intent.progress;
    report_.rejected += progress.status == order::Status::rejected ? 1 : 0;
    report_.unresolved += order::is_open(progress.status) ? 1 : 0;
    report_.resent += static_cast<std::size_t>(progress.attempts - 1);
    const bool sure = std::ranges::any_of(progress.evidence, [](const order::Evidence& each) {
      return each.says.starts_with("accepted");
    });
    report_.adopted += progress.status == order::Status::confirmed && !sure ? 1 : 0;
  }
}

}  // namespace

Report run(Against against, std::uint64_t seed) {
  return Run(against, seed).go();
}

}  // namespace pawl::campaign
