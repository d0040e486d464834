// What an audit event costs before it reaches the disk: its text, its place in the chain, and
// reading it back.
#include <benchmark/benchmark.h>

#include "core/audit/sample_event.h"
#include "core/audit/verifier.h"

namespace pawl::audit {
namespace {

void bench_draft(benchmark::State& state) {
  const Event made = sample_event();
  for (auto _ : state) benchmark::DoNotOptimize(draft(made));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(bench_draft)->Name("audit/draft");

void bench_link(benchmark::State& state) {
  const Draft made = draft(sample_event()).value();
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
  const Draft made = draft(sample_event()).value();
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
