// What the file sink carries: events appended by some threads and made durable, a second.
#include <benchmark/benchmark.h>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include "adapter/file/audit_file.h"
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

}  // namespace
}  // namespace pawl
