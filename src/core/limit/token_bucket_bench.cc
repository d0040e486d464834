// What one decision of a token bucket costs, without the store.
#include <benchmark/benchmark.h>

#include "core/limit/decide.h"

namespace pawl::limit {
namespace {

constexpr Now begin = {.moment = Moment::from_ns(1'000'000'000), .wall = Instant()};

void BM_DecideAllowed(benchmark::State& state) {
  const Policy policy("pace", TokenBucket({1'000'000'000, Duration::seconds(1)}, 1000));
  State kept;
  const Member member{.policy = &policy, .state = &kept};
  Now now = begin;
  for (auto _ : state) {
    now.moment = now.moment + Duration::nanoseconds(10);
    benchmark::DoNotOptimize(decide({&member, 1}, {}, now));
  }
}
BENCHMARK(BM_DecideAllowed);

void BM_DecideRefused(benchmark::State& state) {
  const Policy policy("pace", TokenBucket({1, Duration::hours(1)}, 0));
  State kept;
  const Member member{.policy = &policy, .state = &kept};
  decide({&member, 1}, {}, begin);
  for (auto _ : state) benchmark::DoNotOptimize(decide({&member, 1}, {}, begin));
}
BENCHMARK(BM_DecideRefused);

}  // namespace
}  // namespace pawl::limit
