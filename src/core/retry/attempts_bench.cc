// What retrying costs a call that succeeds at once: breaker, budget and the machine; and one that
// is refused because the breaker is open.
#include <benchmark/benchmark.h>

#include "core/retry/attempts.h"
#include "core/retry/breaker.h"
#include "core/retry/budget.h"

namespace pawl::retry {
namespace {

constexpr BreakerRule breaker_rule;
constexpr BudgetRule budget_rule;
constexpr Classification good = {Failure::none, Outcome::applied, false};

void BM_AttemptSucceeds(benchmark::State& state) {
  const Policy& policy = default_policy(Category::api_request);
  Breaker breaker;
  BudgetState budget;
  SteadyInstant now = SteadyInstant::from_ns(1'000'000'000);
  std::uint64_t key = 0;
  for (auto _ : state) {
    now = now + Duration::nanoseconds(10);
    const Breaker::Turn turn = breaker.turn(breaker_rule, now);
    Attempts attempts({.policy = &policy, .key = ++key});
    const Effect send =
        attempts.decide(Begin{.now = now, .breaker_open = turn == Breaker::Turn::skip});
    benchmark::DoNotOptimize(send);
    earn(budget_rule, budget);
    const Effect end = attempts.decide(Ended{.now = now, .attempt = 1, .seen = good});
    benchmark::DoNotOptimize(end);
    breaker.answered(turn);
  }
}
BENCHMARK(BM_AttemptSucceeds);

void BM_BreakerOpen(benchmark::State& state) {
  const Policy& policy = default_policy(Category::api_request);
  const SteadyInstant now = SteadyInstant::from_ns(1'000'000'000);
  Breaker breaker;
  for (int i = 0; i < breaker_rule.failures; ++i) {
    breaker.failed(breaker_rule, Breaker::Turn::ask, now);
  }
  for (auto _ : state) {
    const Breaker::Turn turn = breaker.turn(breaker_rule, now);
    Attempts attempts({.policy = &policy});
    const Effect refusal =
        attempts.decide(Begin{.now = now, .breaker_open = turn == Breaker::Turn::skip});
    benchmark::DoNotOptimize(refusal);
  }
}
BENCHMARK(BM_BreakerOpen);

// A whole decision from its facts, as a replay makes it.
void BM_Decide(benchmark::State& state) {
  const Policy& policy = default_policy(Category::api_request);
  Facts facts;
  facts.attempt = 2;
  facts.seen = {Failure::rate_limited, Outcome::not_applied, true};
  for (auto _ : state) {
    ++facts.key;
    benchmark::DoNotOptimize(decide(policy, facts));
  }
}
BENCHMARK(BM_Decide);

}  // namespace
}  // namespace pawl::retry
