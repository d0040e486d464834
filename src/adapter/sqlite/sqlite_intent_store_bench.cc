// What stands between a call and the first byte of an order: open(), whose intent is on the disk
// when it answers, beside a write and a sync of the same disk in the same run, by turns; the same
// with 10 million rows of history, where only the check of the quota could grow; and a start with
// a million intents, to the first one opened.
#include <algorithm>
#include <benchmark/benchmark.h>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <vector>

#include "adapter/sqlite/sqlite_intent_store.h"
#include "base/calendar.h"
#include "base/json.h"
#include "core/order/intent_text.h"
#include "port/answer_of.h"
#include "runtime/manual_clock.h"
#include "tests/bench_folder.h"

namespace pawl {
namespace {

using Steady = std::chrono::steady_clock;

Instant now() {
  return from_civil({{2025, 12, 3}, 15, 30, 0, 0});
}

order::Order some_order() {
  return {.venue = "okx",
          .instrument = "BTC-USDT-SWAP",
          .size = *parse_decimal("0.1"),
          .price = *parse_decimal("64000")};
}

Opening opened(IntentStore& store, int n) {
  NewIntent ask{.reference = "bench-" + std::to_string(n),
                .order = some_order(),
                .request_id = "1764775800000-bench-" + std::to_string(n),
                .limit = {.weekly_max_orders = 1'000'000'000},
                .now = now()};
  return answer_of<Opening>([&](auto done) { store.open(std::move(ask), std::move(done)); })
      .value();
}

void end(IntentStore& store, const Opening& opening) {
  const std::int64_t id = std::get<OpenedIntent>(opening).intent.id;
  order::Progress progress{.status = order::Status::rejected, .request_id = "r", .reason = "bench"};
  if (!answer_of<void>([&](auto done) { store.save(id, std::move(progress), std::move(done)); })) {
    std::abort();
  }
  store.release(id);
}

double microseconds(Steady::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

double median(std::vector<double>& times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

class Appended {
 public:
  explicit Appended(const std::string& path)
      : file_(::open(path.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600)) {}
  Appended(const Appended&) = delete;
  Appended& operator=(const Appended&) = delete;
  ~Appended() { ::close(file_); }

  void sync_a_page() {
    static const std::string page(4'096, 'x');
    const auto size = static_cast<ssize_t>(page.size());
    if (::write(file_, page.data(), page.size()) != size || ::fsync(file_) != 0) std::abort();
  }

 private:
  int file_;
};

// By turns, so that both meet the same disk. The ended ones cost nothing that is measured.
void bench_open_beside_a_sync(benchmark::State& state) {
  const BenchFolder folder;
  ManualClock clock;
  const auto store = SqliteIntentStore::open({.path = folder / "orders.db"}, clock).value();
  Appended plain(folder / "plain");
  std::vector<double> opens;
  std::vector<double> syncs;
  int n = 0;
  for (auto _ : state) {
    const auto start = Steady::now();
    plain.sync_a_page();
    const auto middle = Steady::now();
    const Opening opening = opened(*store, n++);
    const auto finish = Steady::now();
    syncs.push_back(microseconds(middle - start));
    opens.push_back(microseconds(finish - middle));
    state.SetIterationTime(microseconds(finish - middle) / 1e6);
    end(*store, opening);
  }
  state.counters["sync_p50_us"] = median(syncs);
  state.counters["open_p50_us"] = median(opens);
  state.counters["open_in_syncs"] = median(opens) / median(syncs);
}
BENCHMARK(bench_open_beside_a_sync)
    ->Name("intents/open_beside_a_sync")
    ->Iterations(2'000)
    ->UseManualTime();

sqlite::Database side_door(const std::string& path) {
  return sqlite::Database::open(
             {.path = path, .schema = IntentBook::schema, .journal = sqlite::Journal::unsynced})
      .value();
}

// Rows of history, as many in every one of the last 52 weeks.
void fill_history(const std::string& path, std::int64_t rows) {
  constexpr std::int64_t weeks = 52;
  sqlite::Database database = side_door(path);
  if (!database.run("PRAGMA cache_size = -1000000")) std::abort();  // 1 GB: indexes fill at random
  const auto filled = database.transact([&] {
    return database.run(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) "
        "INSERT INTO order_history (order_id, inst_id, side, ord_type, size, placed_at, "
        "week_start, status, venue) SELECT i, 'BTC-USDT-SWAP', 'buy', 'limit', '0.1', "
        "datetime('2025-12-03', (-7 * (i % ?2)) || ' days'), "
        "date('2025-12-01', (-7 * (i % ?2)) || ' days'), 'filled', 'okx' FROM n",
        {rows, weeks});
  });
  if (!filled) std::abort();
}

NewIntent asked_beyond_the_limit() {
  return {.reference = "bench", .order = some_order(), .request_id = "r", .now = now()};
}

// A refused open costs the check and nothing else: no row, no sync. The transaction around it is
// counted; the way to the writer's thread and back is the other one's.
void bench_quota_check(benchmark::State& state) {
  const BenchFolder folder;
  const std::string path = folder / "orders.db";
  fill_history(path, state.range(0));
  ManualClock clock;
  {
    sqlite::Database database =
        sqlite::Database::open(
            {.path = path, .schema = IntentBook::schema, .journal = sqlite::Journal::wal})
            .value();
    const auto locks = WorkLocks::open(path).value();
    std::vector<double> times;
    for (auto _ : state) {
      const auto start = Steady::now();
      const auto done = database.transact([&]() -> Result<void> {
        IntentBook book({.database = database, .now = now(), .forgettable = now(), .rows = 0},
                        *locks);
        std::int64_t held = 0;
        const Opening opening = PAWL_TRY(book.open(asked_beyond_the_limit(), held));
        if (!std::holds_alternative<DeniedIntent>(opening)) std::abort();
        return {};
      });
      if (!done) std::abort();
      times.push_back(microseconds(Steady::now() - start));
    }
    state.counters["check_p50_us"] = median(times);
  }
  const auto store = SqliteIntentStore::open({.path = path}, clock).value();
  std::vector<double> times;
  for (int i = 0; i < 10'000; ++i) {
    const auto start = Steady::now();
    const auto opening = answer_of<Opening>(
        [&](auto done) { store->open(asked_beyond_the_limit(), std::move(done)); });
    if (!opening || !std::holds_alternative<DeniedIntent>(*opening)) std::abort();
    times.push_back(microseconds(Steady::now() - start));
  }
  state.counters["through_store_p50_us"] = median(times);
}
BENCHMARK(bench_quota_check)
    ->Name("intents/quota_check")
    ->ArgNames({"rows"})
    ->Arg(10'000)
    ->Arg(10'000'000)
    ->Iterations(10'000)  // filled once
    ->UseRealTime();

void fill_intents(const std::string& path, std::int64_t intents) {
  sqlite::Database database = side_door(path);
  const std::string terms = json::print(order::to_json(some_order()));
  const std::string progress = json::print(order::to_json(
      order::Progress{.status = order::Status::rejected, .request_id = "r", .reason = "bench"}));
  const auto filled = database.transact([&] {
    return database.run(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) "
        "INSERT INTO intents SELECT i, 'old-' || i, 'okx', ?2, 1, 0, '2025-11-24', 'rejected', 0, "
        "0, 0, '', ?3, '' FROM n",
        {intents, std::string_view(terms), std::string_view(progress)});
  });
  if (!filled) std::abort();
}

void bench_start(benchmark::State& state) {
  const BenchFolder folder;
  const std::string path = folder / "orders.db";
  fill_intents(path, state.range(0));
  ManualClock clock;
  int n = 0;
  for (auto _ : state) {
    const auto store = SqliteIntentStore::open({.path = path}, clock).value();
    const auto open = answer_of<std::vector<order::Intent>>([&](auto done) {
      store->list({.statuses = {order::Status::sending, order::Status::reconciling,
                                order::Status::unresolved}},
                  std::move(done));
    });
    if (!open || !open->empty()) std::abort();
    end(*store, opened(*store, n++));
  }
}
BENCHMARK(bench_start)
    ->Name("intents/start_to_first_intent")
    ->ArgNames({"intents"})
    ->Arg(1'000)
    ->Arg(1'000'000)
    ->Iterations(20)
    ->UseRealTime();

}  // namespace
}  // namespace pawl
