// What counting costs the code that counts.
#include <benchmark/benchmark.h>

#include "metrics/metrics.h"

namespace pawl::metrics {
namespace {

Registry& registry() {
  static Registry instance;
  return instance;
}

void count(benchmark::State& state) {
  Counter& counter = registry().counter("pawl_bench_total", "Benchmark.");
  for (auto _ : state) counter.add();
}
BENCHMARK(count)->Name("metrics/counter_add")->Threads(1)->Threads(2);

void observe(benchmark::State& state) {
  Histogram& histogram = registry().histogram("pawl_bench_seconds", "Benchmark.", request_seconds);
  double value = 0;
  for (auto _ : state) {
    histogram.observe(value);
    value = value < 1 ? value + 0.003 : 0;
  }
}
BENCHMARK(observe)->Name("metrics/histogram_observe")->Threads(1)->Threads(2);

}  // namespace
}  // namespace pawl::metrics
