// What an audit event costs before it reaches the disk: its text, its place in the chain, and
// reading it back.
#include <benchmark/benchmark.h>

#include "core/audit/verifier.h"

namespace pawl::audit {
namespace {

Event event() {
  return {.type = EventType::limit,
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

void bench_draft(benchmark::State& state) {
  const Event made = event();
  for (auto _ : state) benchmark::DoNotOptimize(draft(made));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(bench_draft)->Name("audit/draft");

void bench_link(benchmark::State& state) {
  const Draft made = draft(event()).value();
  Chain chain;
  std::string out;
  for (auto _ : state) {
    out.clear();
    chain.link(made, out);
  }
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(out.size()));
}
BENCHMARK(bench_link)->Name("audit/link");

void bench_verify(benchmark::State& state) {
  const Draft made = draft(event()).value();
  Chain chain;
  std::string log;
  for (int i = 0; i < 1000; ++i) chain.link(made, log);
  for (auto _ : state) {
    Verifier verifier;
    verifier.take(log);
    if (verifier.finish()) state.SkipWithError("the log does not verify");
  }
  state.SetItemsProcessed(state.iterations() * 1000);
}
BENCHMARK(bench_verify)->Name("audit/verify");

}  // namespace
}  // namespace pawl::audit
