// How many decisions a replay takes a second, once their records are read: parsing JSON is not part
// of it, and costs many times as much.
#include <benchmark/benchmark.h>

#include "core/audit/replay.h"
#include "core/retry/decide.h"
#include "core/retry/decision_record.h"

namespace pawl::audit {
namespace {

void BM_ReplayRetry(benchmark::State& state) {
  retry::RecordedDecision recorded{.policy = {}, .facts = {}, .decision = {}};
  recorded.facts.attempt = 2;
  recorded.facts.seen = {retry::Failure::rate_limited, Outcome::not_applied, true};
  recorded.facts.key = 0x1234'5678'9abc'def0;
  recorded.decision = retry::decide(recorded.policy, recorded.facts);
  std::int64_t alike = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(recorded.facts);
    alike += retry::decide(recorded.policy, recorded.facts) == recorded.decision ? 1 : 0;
  }
  if (alike != state.iterations()) state.SkipWithError("a decision differs");
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_ReplayRetry)->UseRealTime();

request::RecordedLimit recorded_limit(std::int64_t policies) {
  request::RecordedLimit recorded;
  recorded.now = {.moment = limit::Moment::from_ns(1'790'000'000'123'456'789),
                  .wall = Instant::from_ns(1'790'000'000'123'456'789)};
  const std::array<limit::Rule, 3> rules = {limit::TokenBucket({100, Duration::seconds(1)}, 20),
                                            limit::SlidingWindow{{100, Duration::minutes(1)}},
                                            limit::Calendar{.count = 1000, .rule = {}}};
  for (std::int64_t i = 0; i < policies; ++i) {
    request::RecordedPolicy policy{.name = std::to_string(i)};
    policy.cell.emplace(policy.name, rules[static_cast<std::size_t>(i)]);
    recorded.policies.push_back(std::move(policy));
  }
  recorded.decision.size = recorded.policies.size();
  recorded.decision = decide_again(recorded);
  return recorded;
}

void BM_ReplayLimit(benchmark::State& state) {
  request::RecordedLimit recorded = recorded_limit(state.range(0));
  std::int64_t alike = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(recorded.now);
    alike += decide_again(recorded) == recorded.decision ? 1 : 0;
  }
  if (alike != state.iterations()) state.SkipWithError("a decision differs");
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_ReplayLimit)->DenseRange(1, 3);

}  // namespace
}  // namespace pawl::audit
