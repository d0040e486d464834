// What group commit is worth: intents begun and completed a second, each step on the disk before it
// is answered, by one caller and by 64; beside it the least that a store with a sync for every call
// can cost, which is a write and a sync a call.
#include <atomic>
#include <benchmark/benchmark.h>
#include <cstdlib>
#include <fcntl.h>
#include <future>
#include <string>
#include <unistd.h>

#include "adapter/sqlite/sqlite_record_store.h"
#include "runtime/manual_clock.h"
#include "tests/bench_folder.h"

namespace pawl {
namespace {

constexpr int body_bytes = 200;

// Callers who each begin an intent, complete it when that is answered, and go on to the next.
class Callers {
 public:
  explicit Callers(RecordStore& store) : store_(store) {}

  void run(std::int64_t callers, std::int64_t intents) {
    std::promise<void> finished;
    open_ = intents;
    finished_ = &finished;
    left_ = intents;
    for (std::int64_t i = 0; i < callers; ++i) go_on();
    finished.get_future().wait();
  }

 private:
  void go_on() {
    if (left_-- <= 0) return;
    RecordKey key{.scope = "bench", .key = std::to_string(next_++)};
    const idempotency::Begin ask{
        .fingerprint = "print", .lease = Duration::minutes(1), .ttl = Duration::hours(24)};
    store_.begin(key, ask, [this, key](const Result<idempotency::Begun>& begun) {
      if (!begun) std::abort();
      store_.complete(
          key, begun->record.fence,
          {.response = {.body = std::string(body_bytes, 'b')}, .ttl = Duration::hours(24)},
          [this](const Result<void>& done) {
            if (!done) std::abort();
            if (--open_ == 0) return finished_->set_value();
            go_on();
          });
    });
  }

  RecordStore& store_;
  std::atomic<std::int64_t> next_ = 0;
  std::atomic<std::int64_t> left_ = 0;
  std::atomic<std::int64_t> open_ = 0;
  std::promise<void>* finished_ = nullptr;
};

void bench_begin_and_complete(benchmark::State& state) {
  const BenchFolder folder;
  ManualClock clock;
  const auto store = SqliteRecordStore::open({.path = folder / "records.db"}, clock).value();
  Callers callers(*store);
  const std::int64_t intents = 10 * state.range(0);
  for (auto _ : state) callers.run(state.range(0), intents);
  state.SetItemsProcessed(state.iterations() * intents);
}
BENCHMARK(bench_begin_and_complete)
    ->Name("records/begin_and_complete")
    ->ArgNames({"callers"})
    ->Arg(1)
    ->Arg(64)
    ->UseRealTime();

void bench_a_sync_a_call(benchmark::State& state) {
  const BenchFolder folder;
  const int file = ::open((folder / "log").c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
  const std::string record(body_bytes, 'b');
  for (auto _ : state) {
    for (int call = 0; call < 2; ++call) {
      if (::write(file, record.data(), record.size()) < 0 || ::fdatasync(file) != 0) std::abort();
    }
  }
  ::close(file);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(bench_a_sync_a_call)->Name("records/a_sync_a_call")->UseRealTime();

}  // namespace
}  // namespace pawl
