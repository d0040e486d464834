// What the file sink carries: events appended by some threads and made durable, a second; and what
// the two events of a proxied request cost, of which the caller's part is what a request waits for.
#include <benchmark/benchmark.h>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <thread>
#include <vector>

#include "adapter/file/audit_file.h"
#include "core/audit/late_fixture.h"
#include "core/audit/sample_event.h"

namespace pawl {
namespace {

void bench_append_and_flush(benchmark::State& state) {
  const auto threads = state.range(0);
  const auto events = state.range(1);
  std::string folder = (std::filesystem::temp_directory_path() / "pawl-bench-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return state.SkipWithError("cannot make a folder");
  {
    const auto sink = AuditFile::open({.path = folder + "/audit.jsonl"}).value();
    for (auto _ : state) {
      std::vector<std::thread> running;
      for (std::int64_t t = 0; t < threads; ++t) {
        running.emplace_back([&] {
          for (std::int64_t i = 0; i < events; ++i) {
            if (!sink->append(audit::sample_event())) std::abort();
          }
        });
      }
      for (std::thread& thread : running) thread.join();
      if (!sink->flush()) std::abort();
    }
  }
  std::filesystem::remove_all(folder);
  state.SetItemsProcessed(state.iterations() * threads * events);
}
BENCHMARK(bench_append_and_flush)
    ->Name("audit/append_and_flush")
    ->ArgNames({"threads", "events"})
    ->Args({1, 1})
    ->Args({1, 100'000})
    ->Args({2, 100'000})
    ->UseRealTime();

double seconds_of(clockid_t clock) {
  timespec time = {};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// One thread in place of a gateway's loop. `pace` is in requests a second, 0: as many as it can.
// cpu_caller and cpu_writer are seconds of a processor an event: those of the thread that appends,
// and of the rest of the process.
void bench_request_events(benchmark::State& state) {
  const auto pace = static_cast<double>(state.range(0));
  constexpr std::int64_t requests = 100'000;
  constexpr std::int64_t burst = 64;  // of requests, then the pace is looked at
  std::string folder = (std::filesystem::temp_directory_path() / "pawl-bench-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return state.SkipWithError("cannot make a folder");
  double caller = 0;
  double all = 0;
  {
    const auto sink = AuditFile::open({.path = folder + "/audit.jsonl"}).value();
    const audit::LimitSample sample;
    const std::shared_ptr<const void> owner = std::make_shared<int>(1);
    audit::LimitDecided decided = sample.decided();
    decided.policies = &owner;
    for (auto _ : state) {
      const double all_before = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
      const double begin = seconds_of(CLOCK_MONOTONIC);
      for (std::int64_t i = 0; i < requests; i += burst) {
        const double before = seconds_of(CLOCK_THREAD_CPUTIME_ID);
        for (std::int64_t j = 0; j < burst; ++j) {
          if (!sink->append_late(decided)) std::abort();
          if (!sink->append_late(audit::request_sample())) std::abort();
        }
        caller += seconds_of(CLOCK_THREAD_CPUTIME_ID) - before;
        const double ahead = pace == 0 ? 0
                                       : static_cast<double>(i + burst) / pace -
                                             (seconds_of(CLOCK_MONOTONIC) - begin);
        if (ahead > 0) std::this_thread::sleep_for(std::chrono::duration<double>(ahead));
      }
      if (!sink->flush()) std::abort();
      all += seconds_of(CLOCK_PROCESS_CPUTIME_ID) - all_before;
    }
  }
  std::filesystem::remove_all(folder);
  const auto events = static_cast<double>(2 * requests * state.iterations());
  state.SetItemsProcessed(2 * requests * state.iterations());
  state.counters["cpu_caller"] = caller / events;
  state.counters["cpu_writer"] = (all - caller) / events;
}
BENCHMARK(bench_request_events)
    ->Name("audit/request_events")
    ->ArgNames({"pace"})
    ->Arg(0)
    ->Arg(20'000)
    ->Arg(60'000)
    ->UseRealTime();

}  // namespace
}  // namespace pawl
