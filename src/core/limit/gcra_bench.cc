// What one decision of a token bucket costs.
#include <benchmark/benchmark.h>

#include "core/limit/gcra.h"

namespace pawl::limit {
namespace {

void BM_DecideAllowed(benchmark::State& state) {
  const TokenBucket bucket{.rate = {.count = 1'000'000'000, .period = Duration::seconds(1)},
                           .burst = 1000};
  Cell cell;
  SteadyInstant now = SteadyInstant::from_ns(1'000'000'000);
  for (auto _ : state) {
    now = now + Duration::nanoseconds(10);
    benchmark::DoNotOptimize(decide(bucket, cell, 1, now));
  }
}
BENCHMARK(BM_DecideAllowed);

void BM_DecideRefused(benchmark::State& state) {
  const TokenBucket bucket{.rate = {.count = 1, .period = Duration::hours(1)}, .burst = 0};
  Cell cell;
  const SteadyInstant now = SteadyInstant::from_ns(1'000'000'000);
  decide(bucket, cell, 1, now);
  for (auto _ : state) benchmark::DoNotOptimize(decide(bucket, cell, 1, now));
}
BENCHMARK(BM_DecideRefused);

}  // namespace
}  // namespace pawl::limit
