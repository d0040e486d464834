// What the public ways to retry cost a call that succeeds at once: beside a plain call, which is
// the floor; and what it costs to be refused because the breaker is open.
#include <benchmark/benchmark.h>

#include "pawl/executor.h"
#include "pawl/retry.h"

namespace pawl {
namespace {

Result<int> work(const Attempt& attempt) {
  benchmark::DoNotOptimize(attempt.number);
  return 1;
}

void BM_PlainCall(benchmark::State& state) {
  for (auto _ : state) {
    Result<int> result = work({});
    benchmark::DoNotOptimize(result);
  }
}
BENCHMARK(BM_PlainCall);

void BM_RetrySucceeds(benchmark::State& state) {
  Retry retry = Retry::make().value();
  for (auto _ : state) {
    Result<int> result = retry.execute(work);
    benchmark::DoNotOptimize(result);
  }
}
BENCHMARK(BM_RetrySucceeds);

void BM_RetryBreakerOpen(benchmark::State& state) {
  Retry retry = Retry::make({.policy = {.max_attempts = 1},
                             .breaker_wait_min = Duration::hours(1),
                             .breaker_wait_max = Duration::hours(1)})
                    .value();
  const auto failing = [](const Attempt&) -> Result<int> {
    return failure(Code::unavailable, "away");
  };
  for (int i = 0; i < 5; ++i) benchmark::DoNotOptimize(retry.execute(failing));
  for (auto _ : state) {
    Result<int> result = retry.execute(work);
    benchmark::DoNotOptimize(result);
  }
}
BENCHMARK(BM_RetryBreakerOpen);

Result<std::string> answer(const Attempt&) {
  return "done";
}

void execute(benchmark::State& state, const ExecutorOptions& options) {
  Executor executor = Executor::make(options).value();
  for (auto _ : state) {
    auto result = executor.execute_with_retry("RETRY_API_REQUEST", "call", answer);
    benchmark::DoNotOptimize(result);
  }
}
void BM_ExecutorSucceeds(benchmark::State& state) {
  execute(state, {});
}
BENCHMARK(BM_ExecutorSucceeds);

void BM_ExecutorSucceedsUnderAKey(benchmark::State& state) {
  Executor executor = Executor::make().value();
  std::uint64_t number = 0;
  for (auto _ : state) {
    auto result = executor.execute_with_retry("RETRY_API_REQUEST", "call", answer,
                                              {.idempotency_key = std::to_string(++number)});
    benchmark::DoNotOptimize(result);
  }
}
BENCHMARK(BM_ExecutorSucceedsUnderAKey)->Iterations(100'000);

}  // namespace
}  // namespace pawl
