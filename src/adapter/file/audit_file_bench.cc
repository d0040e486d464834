// What the file sink carries: events appended by some threads and made durable, a second.
#include <benchmark/benchmark.h>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include "adapter/file/audit_file.h"

namespace pawl {
namespace {

audit::Event event() {
  return {.type = audit::EventType::limit,
          .timestamp = Instant::from_ns(1'769'375'700'000'000'000),
          .operation = "POST /v1/orders",
          .correlation = {.tenant_id = "acme",
                          .request_id = "order-17_place_1769375700000_0f8fad5b",
                          .trace_id = "4bf92f3577b34da6a3ce929d0e0e4736"},
          .details = {{"bucket", "global"},
                      {"allowed", true},
                      {"limit", 100},
                      {"remaining", 57},
                      {"retry_after_ms", 0}}};
}

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
            if (!sink->append(event())) std::abort();
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
