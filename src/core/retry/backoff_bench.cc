// What the delay before the next attempt costs to reckon.
#include <benchmark/benchmark.h>

#include "core/retry/backoff.h"

namespace pawl::retry {
namespace {

void BM_Backoff(benchmark::State& state) {
  Policy policy;
  policy.jitter = static_cast<Jitter>(state.range(0));
  const int attempt = static_cast<int>(state.range(1));
  std::uint64_t key = jitter_key("order-1");
  Duration previous = {};
  for (auto _ : state) {
    previous = backoff(policy, ++key, attempt, previous);
    benchmark::DoNotOptimize(previous);
  }
  state.SetLabel(std::string(to_string(policy.jitter)));
}
BENCHMARK(BM_Backoff)->Args({1, 1})->Args({1, 3})->Args({2, 3})->Args({3, 3})->Args({4, 3});

}  // namespace
}  // namespace pawl::retry
