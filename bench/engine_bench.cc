// The engine with its trail: what a success costs whose audit event goes to a sink, how many such
// events a file takes a second, and how many decisions a replay takes from a file's lines.
//
// The event is the one that every operation leaves which succeeds at once (runtime/operations.cc):
// what happened, and all that the decision was made of.
#include <benchmark/benchmark.h>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>

#include "adapter/file/audit_file.h"
#include "adapter/system/system_clock.h"
#include "core/audit/chain.h"
#include "core/audit/replay.h"
#include "core/audit/success.h"
#include "pawl/retry.h"
#include "port/event_queue.h"

namespace pawl {
namespace {

constexpr int events_a_round = 100'000;

const std::shared_ptr<const audit::Trail>& trail() {
  static const auto made = std::make_shared<const audit::Trail>(audit::Trail{
      .category = "RETRY_API_REQUEST", .operation = "call", .correlation = {.tenant_id = "acme"}});
  return made;
}

audit::Success success(Instant now, std::uint64_t key) {
  audit::Success made{.trail = trail(), .facts = {}, .decision = {}, .timestamp = now};
  made.facts.attempt = 1;
  made.facts.seen = {retry::Failure::none, Outcome::applied, false};
  made.facts.key = key;
  made.decision = retry::decide(made.trail->policy, made.facts);
  return made;
}

audit::Event success_event(Instant now, std::uint64_t key) {
  return to_event(success(now, key));
}

Result<int> work(const Attempt& attempt) {
  benchmark::DoNotOptimize(attempt.number);
  return 1;
}

// A sink's queue, and a writer that takes as long for a batch as a disk for its sync.
class Drained {
 public:
  Drained() = default;
  Drained(const Drained&) = delete;
  Drained& operator=(const Drained&) = delete;
  ~Drained() {
    queue_.close();
    writer_.join();
  }

  EventQueue& queue() { return queue_; }

 private:
  void drain() {
    for (;;) {
      const auto batch = queue_.batch(bounds::audit_batch_bytes_max);
      if (batch.empty()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      queue_.durable(batch.size());
    }
  }

  EventQueue queue_{{}};
  std::thread writer_{[this] { drain(); }};
};

// In bursts that the queue has room for: what comes faster than the log for longer than that waits
// for it, and then the log's own pace is measured (BM_AuditFile).
void BM_RetrySucceedsAudited(benchmark::State& state) {
  constexpr std::uint64_t burst = bounds::audit_queue_events_max / 4;
  Retry retry = Retry::make().value();
  SystemClock clock;
  Drained sink;
  std::uint64_t key = 0;
  for (auto _ : state) {
    Result<int> result = retry.execute(work);
    benchmark::DoNotOptimize(result);
    if (!sink.queue().append(success(clock.wall_now(), ++key))) std::abort();
    if (key % burst != 0) continue;
    state.PauseTiming();
    if (!sink.queue().flush()) std::abort();
    state.ResumeTiming();
  }
}
BENCHMARK(BM_RetrySucceedsAudited)->UseRealTime();

// The parts of it: the event as a value, and its text.
void BM_SuccessEvent(benchmark::State& state) {
  std::uint64_t key = 0;
  for (auto _ : state) benchmark::DoNotOptimize(success_event(Instant::from_ns(1), ++key));
}
BENCHMARK(BM_SuccessEvent);

void BM_SuccessEventDraft(benchmark::State& state) {
  const audit::Event event = success_event(Instant::from_ns(1'769'375'700'000'000'000), 1);
  for (auto _ : state) benchmark::DoNotOptimize(audit::draft(event));
}
BENCHMARK(BM_SuccessEventDraft);

void BM_AuditFile(benchmark::State& state) {
  std::string folder = (std::filesystem::temp_directory_path() / "pawl-bench-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return state.SkipWithError("cannot make a folder");
  SystemClock clock;
  {
    const auto sink = AuditFile::open({.path = folder + "/audit.jsonl"}).value();
    for (auto _ : state) {
      for (std::uint64_t i = 0; i < events_a_round; ++i) {
        if (!sink->append_late(success(clock.wall_now(), i))) std::abort();
      }
      if (!sink->flush()) std::abort();
    }
  }
  std::filesystem::remove_all(folder);
  state.SetItemsProcessed(state.iterations() * events_a_round);
}
BENCHMARK(BM_AuditFile)->UseRealTime();

// What `pawl replay` does with a line of a log, besides checking its hash: reads its JSON, and
// takes its decision again.
void BM_ReplayLine(benchmark::State& state) {
  audit::Chain chain;
  std::string line;
  chain.link(audit::draft(success_event(Instant::from_ns(1), 1)).value(), line);
  line.pop_back();  // its line feed
  for (auto _ : state) {
    const auto record = json::parse(line);
    if (!record || audit::replay(*record, {}).how != audit::Replayed::How::agrees) {
      state.SkipWithError("the decision differs");
      return;
    }
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_ReplayLine)->UseRealTime();

}  // namespace
}  // namespace pawl
