// From the call to the first byte: an order placed at a desk on SQLite, until its venue is asked to
// send it, beside a write and a sync of the same disk in the same run, by turns. Between them lie
// the intent and its slot on the disk, the turn of the pace, and the audit event of the decision.
#include <algorithm>
#include <benchmark/benchmark.h>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "adapter/file/audit_file.h"
#include "adapter/sqlite/sqlite_counter_store.h"
#include "adapter/sqlite/sqlite_intent_store.h"
#include "adapter/system/system_clock.h"
#include "adapter/system/system_entropy.h"
#include "adapter/system/waiting_room.h"
#include "port/answer_of.h"
#include "runtime/order_desk.h"
#include "tests/bench_folder.h"

namespace pawl {
namespace {

using Steady = std::chrono::steady_clock;

// Takes every order at once, and remembers when it was asked.
class StampingVenue final : public Venue {
 public:
  Steady::time_point asked = {};

  const VenueTraits& traits() const override { return traits_; }
  Result<void> check(const order::Order&, const std::string&) const override { return {}; }
  bool enforces_reduce_only(const order::Order&) const override { return false; }
  void place(std::vector<PlaceAsk> asks, Done<std::vector<order::Answer>> done) override {
    asked = Steady::now();
    done({{.sent = order::Sent::accepted, .order_id = "of-" + asks[0].reference, .status = 200}});
  }
  void precheck(PlaceAsk, Done<Result<Precheck>>) override { std::abort(); }
  void modify(ChangeAsk, Done<order::Answer>) override { std::abort(); }
  void cancel(ChangeAsk, Done<order::Answer>) override { std::abort(); }
  void read(ReadAsk, Done<order::Reading>) override { std::abort(); }
  void look(ReadAsk, Done<Result<order::VenueOrder>>) override { std::abort(); }
  void history(Instant, Instant, std::string, Done<Result<HistoryPage>>) override { std::abort(); }
  void probe(Done<Result<std::string>>) override { std::abort(); }
  void watch(std::function<void(order::VenueOrder)>) override {}
  void on_heard(HeardAnswer) override {}

 private:
  VenueTraits traits_{.name = "okx", .session = "bench"};
};

double median(std::vector<double>& times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

double microseconds(Steady::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

void write_and_sync(int file) {
  static const std::string page(4'096, 'x');
  const auto size = static_cast<ssize_t>(page.size());
  if (::write(file, page.data(), page.size()) != size || ::fsync(file) != 0) std::abort();
}

PlaceRequest some_request() {
  return {.order = {.venue = "okx",
                    .instrument = "BTC-USDT-SWAP",
                    .size = *parse_decimal("0.1"),
                    .price = *parse_decimal("64000")}};
}

std::string why_not(const Result<Placed>& placed) {
  if (!placed) return placed.error().message;
  return std::string(to_string(placed->as)) + ": " + placed->message;
}

void bench_call_to_first_byte(benchmark::State& state) {
  const BenchFolder folder;  // it goes last: the log writes until it is closed
  SystemClock clock;
  SystemEntropy entropy;
  const auto store = SqliteIntentStore::open({.path = folder / "orders.db"}, clock).value();
  SqliteCounterStoreOptions pace{.path = folder / "orders.db-pace"};
  pace.synced = false;
  const auto paces = SqliteCounterStore::open(std::move(pace), clock, entropy).value();
  const bool audited = state.range(0) == 1;
  std::unique_ptr<EventSink> audit;
  if (audited) audit = AuditFile::open({.path = folder / "audit.jsonl"}).value();
  WaitingRoom timers;
  StampingVenue venue;
  const int plain = ::open((folder / "plain").c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
  {
    OrderDesk desk({.limit = {.weekly_max_orders = 1'000'000'000}},
                   {.clock = clock,
                    .timers = timers,
                    .entropy = entropy,
                    .store = *store,
                    .counters = *paces,
                    .audit = audit.get()},
                   {{.venue = venue, .pace = {.rate = {1'000'000, Duration::seconds(1)}}}});
    std::vector<double> calls;
    std::vector<double> syncs;
    for (auto _ : state) {
      const auto start = Steady::now();
      write_and_sync(plain);
      const auto called = Steady::now();
      const auto placed =
          answer_of<Placed>([&](auto done) { desk.place(some_request(), std::move(done)); });
      if (!placed || placed->as != PlacedAs::confirmed) {
        state.SkipWithError(why_not(placed).c_str());
        break;
      }
      syncs.push_back(microseconds(called - start));
      calls.push_back(microseconds(venue.asked - called));
      state.SetIterationTime(calls.back() / 1e6);
    }
    if (!calls.empty()) {
      state.counters["sync_p50_us"] = median(syncs);
      state.counters["call_p50_us"] = median(calls);
    }
    (void)answer_of<void>([&](auto done) { desk.drain(std::move(done)); });
    timers.close();
  }
  ::close(plain);
}
BENCHMARK(bench_call_to_first_byte)
    ->Name("orders/call_to_first_byte")
    ->ArgNames({"audited"})
    ->Arg(0)
    ->Arg(1)
    ->Iterations(1'000)
    ->UseManualTime();

}  // namespace
}  // namespace pawl
