#include "tests/campaign/campaign.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "adapter/memory/memory_counter_store.h"
#include "adapter/memory/memory_intent_store.h"
#include "adapter/sqlite/sqlite_intent_store.h"
#include "emulator/core/okx_exchange.h"
#include "emulator/core/saxo_exchange.h"
#include "runtime/order_desk.h"
#include "tests/campaign/agenda.h"
#include "tests/campaign/facts.h"
#include "tests/campaign/network.h"
#include "tests/campaign/slow_store.h"
#include "tests/campaign/venues.h"
#include "tests/campaign/weather.h"
#include "tests/temp_folder.h"

namespace pawl::campaign {
namespace {

constexpr Duration storm = Duration::seconds(150);  // while things go wrong
constexpr Duration calm = Duration::minutes(4);     // until everything must have ended
constexpr const char* memory_disk = "/dev/shm";     // syncs cost nothing there
const Instant begin = Instant::from_ns(1'764'757'800'000'000'000);  // a Wednesday, 10:30

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

  std::unique_ptr<IntentStore> open_store();
  void start(std::size_t process);
  void ask_again(std::size_t process);
  void kill(std::size_t process);

  void plan();
  void plan_trouble();
  void plan_wish(std::size_t process);
  void plan_batch(std::size_t process);
  std::size_t add_wish();
  order::Order order_of(std::size_t number);
  Duration soon() { return dice_.within(Duration(), Duration::seconds(40)); }

  void wish(std::size_t process, std::size_t number);
  PlaceRequest request_of(std::size_t number);
  void ask(std::size_t process, std::size_t number);
  void place(std::size_t process, std::size_t number);
  void place_batch(std::size_t process, const std::vector<std::size_t>& numbers);
  void heard(std::size_t process, std::size_t number, const Result<Placed>& placed);
  void plan_changes(std::size_t process, std::size_t number);
  void change(std::size_t process, Change wanted);
  void heard_of_change(std::size_t number, const Result<Changed>& changed);
  void fill_something();
  void see_book();

  void calm_down();
  std::vector<order::Intent> intents();
  Facts facts();
  void count(const Facts& facts);
  void broken(std::string what) { report_.broken.push_back(std::move(what)); }

  const Against against_;
  Dice dice_;
  Agenda agenda_{begin};
  std::unique_ptr<emulator::Exchange> exchange_;
  Network network_;
  emulator::Script weather_;
  std::optional<TempFolder> folder_;
  std::string database_;    // empty: memory
  std::string token_file_;  // empty: none ends
  MemoryIntents intents_;
  MemoryCounterStore counters_{agenda_.clock};
  OrderDesk::Options options_;
  std::int64_t burst_ = 0;
  std::vector<std::unique_ptr<Life>> lives_;
  std::vector<std::set<std::size_t>> wished_;  // by process: what it wants, and asks for again
  std::vector<std::map<std::size_t, std::size_t>> waiting_;  // likewise: its calls for each
  std::vector<Wish> wishes_;
  std::map<std::size_t, SteadyInstant> left_at_;  // by wish: who waited for it was killed
  std::set<std::string> seen_;                    // orders of the book, by id
  std::vector<Change> changes_;
  Terms terms_;
  Report report_;
};

std::unique_ptr<emulator::Exchange> exchange_of(Against against) {
  if (against == Against::saxo) return std::make_unique<emulator::SaxoExchange>();
  return std::make_unique<emulator::OkxExchange>();
}

bool is_on_disk(std::uint64_t seed) {
  return seed % 20 == 7;
}

Run::Run(Against against, std::uint64_t seed)
    : against_(against),
      dice_(seed),
      exchange_(exchange_of(against)),
      network_(agenda_, dice_, *exchange_),
      weather_(weather_of(against, seed, dice_)) {
  const Result<void> played = exchange_->play(weather_);
  if (!played) broken("the faults are none: " + played.error().message);
  network_.on_change([this] { see_book(); });
  options_.limit.weekly_max_orders = static_cast<std::int64_t>(2 + dice_.below(5));
  // Saxo takes one order a second.
  if (against == Against::okx && dice_.chance(25)) {
    burst_ = 1 + static_cast<std::int64_t>(dice_.below(3));
  }
  if (!is_on_disk(seed) && !tokens_end(against, seed)) return;
  std::error_code none;
  const bool has_memory_disk = std::filesystem::is_directory(memory_disk, none);
  folder_.emplace(has_memory_disk ? memory_disk : std::filesystem::temp_directory_path());
  if (is_on_disk(seed)) database_ = *folder_ / "orders.db";
  if (tokens_end(against, seed)) token_file_ = *folder_ / "tokens";
}

std::unique_ptr<IntentStore> Run::open_store() {
  if (database_.empty()) return std::make_unique<MemoryIntentStore>(intents_);
  auto opened = SqliteIntentStore::open({.path = database_}, agenda_.clock);
  if (opened) return *std::move(opened);
  broken("the database is not opened: " + opened.error().message);
  return std::make_unique<MemoryIntentStore>(intents_);
}

void Run::start(std::size_t process) {
  auto life = std::make_unique<Life>();
  life->timers = std::make_unique<ProcessTimers>(agenda_, life->alive);
  life->http = std::make_unique<NetworkClient>(network_, life->alive);
  life->store = std::make_unique<SlowStore>(open_store(), agenda_, dice_, life->alive);
  auto venue = open_venue(
      against_, token_file_,
      {.http = *life->http, .clock = agenda_.clock, .timers = *life->timers, .entropy = dice_});
  if (!venue) return broken("no venue: " + venue.error().message);
  life->venue = *std::move(venue);
  life->desk = std::make_unique<OrderDesk>(
      options_,
      OrderDesk::Ports{.clock = agenda_.clock,
                       .timers = *life->timers,
                       .entropy = dice_,
                       .store = *life->store,
                       .counters = counters_},
      std::vector<OrderDesk::VenueSeat>{
          {.venue = *life->venue, .pace = {.rate = {1, Duration::seconds(1)}, .burst = burst_}}});
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
  for (const auto& [number, calls] : std::exchange(waiting_[process], {})) {
    wishes_[number].waiting -= calls;
    if (calls > 0) left_at_[number] = agenda_.clock.steady_now();
  }
  life->desk.reset();
  life->venue.reset();
  life.reset();
  agenda_.after(dice_.within(Duration(), Duration::seconds(30)),
                [this, process] { start(process); });
}

order::Order Run::order_of(std::size_t number) {
  const bool is_okx = against_ == Against::okx;
  // Some look alike, so that they can be mistaken for one another.
  const std::string size = std::to_string(10 + (dice_.chance(20) ? 0 : number));
  const bool buys = dice_.chance(60);
  // On OKX a price that meets the market is filled at once.
  const char* const price = buys || dice_.chance(50) ? "45000" : "55000";
  order::Order order{.venue = is_okx ? "okx" : "saxo",
                     .instrument = is_okx ? "BTC-USDT-SWAP" : "211",
                     .side = buys ? order::Side::buy : order::Side::sell,
                     .type = order::Type::limit,
                     .size = *parse_decimal(size),
                     .price = *parse_decimal(price)};
  if (!is_okx) order.asset_type = "Stock";
  if (dice_.chance(20)) {
    order.type = order::Type::market;
    order.price.reset();
  }
  if (dice_.chance(15)) {
    order.reduce_only = true;
    order.size = *parse_decimal("1");
  }
  return order;
}

std::size_t Run::add_wish() {
  const std::size_t number = wishes_.size();
  const std::string mark = dice_.chance(50) ? "C" : "c-1:";
  wishes_.push_back({.reference = mark + std::to_string(number), .order = order_of(number)});
  return number;
}

void Run::plan() {
  const std::size_t processes = 1 + dice_.below(2);
  lives_.resize(processes);
  wished_.resize(processes);
  waiting_.resize(processes);
  for (std::size_t i = 3 + dice_.below(5); i > 0; --i) plan_wish(dice_.below(processes));
  if (dice_.chance(35)) plan_batch(dice_.below(processes));
  plan_trouble();
}

void Run::plan_trouble() {
  for (std::size_t i = dice_.below(4); i > 0; --i) {
    const std::size_t process = dice_.below(lives_.size());
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

void Run::plan_wish(std::size_t process) {
  const std::size_t number = add_wish();
  const Duration at = soon();
  agenda_.after(at, [this, process, number] { wish(process, number); });
  if (!dice_.chance(25)) return;
  // The same is asked for twice, perhaps by another process.
  const std::size_t other = dice_.below(lives_.size());
  agenda_.after(at + dice_.within(Duration(), Duration::seconds(3)),
                [this, other, number] { wish(other, number); });
}

void Run::plan_batch(std::size_t process) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 2 + dice_.below(3); i > 0; --i) numbers.push_back(add_wish());
  agenda_.after(soon(), [this, process, numbers] {
    wished_[process].insert(numbers.begin(), numbers.end());
    if (lives_[process]) place_batch(process, numbers);
  });
}

void Run::wish(std::size_t process, std::size_t number) {
  wished_[process].insert(number);
  if (lives_[process]) place(process, number);
}

PlaceRequest Run::request_of(std::size_t number) {
  const Duration patience = dice_.chance(20)
                                ? dice_.within(Duration::seconds(1), Duration::seconds(40))
                                : Duration::max();
  return {
      .reference = wishes_[number].reference, .order = wishes_[number].order, .wait_max = patience};
}

void Run::ask(std::size_t process, std::size_t number) {
  ++waiting_[process][number];
  ++wishes_[number].waiting;
  wishes_[number].called_off = false;
}

void Run::place(std::size_t process, std::size_t number) {
  ask(process, number);
  lives_[process]->desk->place(request_of(number), [this, process, number](Result<Placed> placed) {
    heard(process, number, placed);
  });
}

void Run::place_batch(std::size_t process, const std::vector<std::size_t>& numbers) {
  ++report_.batches;
  std::vector<PlaceRequest> requests;
  for (const std::size_t number : numbers) {
    ask(process, number);
    requests.push_back(request_of(number));
  }
  lives_[process]->desk->place_batch(
      std::move(requests),
      [this, process, numbers](const Result<std::vector<Result<Placed>>>& all) {
        if (!all) broken("a batch was not answered: " + all.error().message);
        for (std::size_t i = 0; all && i < numbers.size(); ++i) {
          heard(process, numbers[i], all->at(i));
        }
      });
}

void Run::heard(std::size_t process, std::size_t number, const Result<Placed>& placed) {
  Wish& wanted = wishes_[number];
  --waiting_[process][number];
  --wanted.waiting;
  if (!placed) {
    ++wanted.failed;
    const bool goes_on =
        std::ranges::find(wanted.heard, PlacedAs::unresolved) != wanted.heard.end();
    wanted.called_off =
        placed.error().outcome == Outcome::not_applied && wanted.waiting == 0 && !goes_on;
    return;
  }
  wanted.heard.push_back(placed->as);
  // One process changes an order: two would not know of each other.
  if (placed->as != PlacedAs::confirmed || std::exchange(wanted.changes, true)) return;
  plan_changes(process, number);
}

// Several at once, some of them: they must not pass each other.
void Run::plan_changes(std::size_t process, std::size_t number) {
  const auto add = [&](Change wanted) {
    const Duration at =
        dice_.chance(40) ? Duration() : dice_.within(Duration(), Duration::seconds(12));
    agenda_.after(at, [this, process, wanted = std::move(wanted)] { change(process, wanted); });
  };
  const bool has_price = wishes_[number].order.price.has_value();
  if (has_price && dice_.chance(45)) {
    for (std::size_t i = 1 + dice_.below(3); i > 0; --i) {
      add({.wish = number, .kind = dice_.chance(70) ? Change::Kind::price : Change::Kind::size});
    }
  }
  if (dice_.chance(25)) add({.wish = number, .kind = Change::Kind::cancel});
}

void Run::change(std::size_t process, Change wanted) {
  if (!lives_[process]) return;
  OrderDesk& desk = *lives_[process]->desk;
  const std::size_t number = changes_.size();
  const Wish& wish = wishes_[wanted.wish];
  const auto done = [this, number](const Result<Changed>& changed) {
    heard_of_change(number, changed);
  };
  // A value of its own, on the same side of the market.
  const bool is_high = wish.order.price == *parse_decimal("55000");
  if (wanted.kind == Change::Kind::price) {
    wanted.value = std::to_string((is_high ? 55'001 : 44'000) + number);
  }
  if (wanted.kind == Change::Kind::size) wanted.value = std::to_string(100 + number);
  changes_.push_back(wanted);
  if (wanted.kind == Change::Kind::cancel) return desk.cancel(wish.reference, done);
  OrderChange change;
  (wanted.kind == Change::Kind::price ? change.price : change.size) = *parse_decimal(wanted.value);
  desk.modify(wish.reference, std::move(change), done);
}

void Run::heard_of_change(std::size_t number, const Result<Changed>& changed) {
  Change& wanted = changes_[number];
  if (changed) {
    wanted.heard = Change::Heard::done;
    wanted.life = changed->life;
    return;
  }
  const bool not_done = changed.error().outcome == Outcome::not_applied;
  wanted.heard = not_done ? Change::Heard::not_done : Change::Heard::unknown;
}

void Run::fill_something() {
  const std::vector<Row> rows = book_of(*exchange_, against_);
  if (rows.empty()) return;
  // What is over already is not filled again: the exchange says no.
  (void)exchange_->act(rows[dice_.below(rows.size())].order_id, "fill", agenda_.world_now());
}

// What a process that was killed had sent may be under way a while.
void Run::see_book() {
  const std::vector<Row> rows = book_of(*exchange_, against_);
  terms_.see(rows);
  for (const Row& row : rows) {
    if (!seen_.insert(row.order_id).second) continue;
    for (std::size_t i = 0; i < wishes_.size(); ++i) {
      Wish& wanted = wishes_[i];
      if (!wanted.called_off || shown(against_, wanted.reference) != row.reference) continue;
      const auto left = left_at_.find(i);
      const bool may_come = left != left_at_.end() &&
                            agenda_.clock.steady_now() - left->second < Duration::seconds(10);
      wanted.came_late = wanted.came_late || !may_come;
    }
  }
}

void Run::calm_down() {
  network_.calm_down();
  weather_.faults = {};
  if (const Result<void> calmed = exchange_->play(weather_); !calmed) {
    broken(calmed.error().message);
  }
  for (const auto& life : lives_) {
    if (life) life->store->calm_down();
  }
}

Report Run::go() {
  plan();
  for (std::size_t process = 0; process < lives_.size(); ++process) start(process);
  agenda_.run(storm);
  calm_down();
  agenda_.run(calm);
  for (const auto& life : lives_) {
    if (life) life->desk->reconcile("", [](const Result<std::vector<Placed>>&) {});
  }
  agenda_.run(calm);
  Facts left = facts();
  for (std::string& each : judge(left)) broken(std::move(each));
  count(left);
  for (auto& life : lives_) {
    if (life) *life->alive = false;
    if (life) life->desk.reset();
  }
  return std::move(report_);
}

std::vector<order::Intent> Run::intents() {
  if (database_.empty()) return intents_.intents();
  const auto store = open_store();
  auto all = answer_of<std::vector<order::Intent>>(
      [&](auto done) { store->list({.limit = 1'000}, std::move(done)); });
  if (!all) broken("the database is not read: " + all.error().message);
  return all ? *std::move(all) : std::vector<order::Intent>();
}

Facts Run::facts() {
  std::vector<Row> book = book_of(*exchange_, against_);
  terms_.see(book);
  return {.against = against_,
          .weekly_max = options_.limit.weekly_max_orders,
          .at_once = 1 + burst_,
          .book = std::move(book),
          .terms = terms_,
          .intents = intents(),
          .wishes = wishes_,
          .changes = changes_,
          .accepted = network_.accepted(),
          .written = network_.written(),
          .repeated_ids = network_.repeated_ids()};
}

void Run::count(const Facts& facts) {
  report_.calls = network_.calls();
  report_.renewals = network_.renewals();
  report_.on_disk = database_.empty() ? 0 : 1;
  std::set<std::string> lives;
  for (const Row& row : facts.book) {
    if (row.state == "rejected") continue;
    ++report_.accepted;
    lives.insert(row.reference);
  }
  for (const Wish& wanted : wishes_) {
    report_.denied +=
        std::ranges::find(wanted.heard, PlacedAs::denied) != wanted.heard.end() ? 1 : 0;
    const bool reduces = wanted.order.reduce_only && lives.contains(facts.shown(wanted.reference));
    report_.reducing += reduces ? 1 : 0;
  }
  for (const Change& each : changes_) {
    const bool cancels = each.kind == Change::Kind::cancel;
    if (each.heard == Change::Heard::done) ++(cancels ? report_.canceled : report_.modified);
    if (each.heard == Change::Heard::unknown) ++report_.doubtful;
  }
  for (const order::Intent& intent : facts.intents) {
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
