// What one decision costs in memory. The clock is moved by hand, so that the decision alone is
// measured, and the machine's own beside it, as a caller pays it.
#include <benchmark/benchmark.h>
#include <memory>
#include <string>
#include <vector>

#include "adapter/memory/memory_counter_store.h"
#include "adapter/system/system_clock.h"
#include "runtime/manual_clock.h"

namespace pawl {
namespace {

limit::Policy plenty(std::string name) {
  return {std::move(name), limit::TokenBucket({1'000'000'000, Duration::seconds(1)}, 1'000'000)};
}

template <class AnyClock>
void BM_HotKey(benchmark::State& state) {
  AnyClock clock;
  MemoryCounterStore store(clock);
  const limit::Policy policy = plenty("hot");
  const Count count{&policy, "acme"};
  for (auto _ : state) benchmark::DoNotOptimize(store.check_now({&count, 1}, 1));
}
BENCHMARK(BM_HotKey<ManualClock>);
BENCHMARK(BM_HotKey<SystemClock>);

void BM_HotKeyById(benchmark::State& state) {
  SystemClock clock;
  MemoryCounterStore store(clock);
  const limit::Policy policy = plenty("hot");
  const Count count{&policy, limit::KeyId{1, 2}};
  for (auto _ : state) benchmark::DoNotOptimize(store.check_now({&count, 1}, 1));
}
BENCHMARK(BM_HotKeyById);

void BM_RefusedKey(benchmark::State& state) {
  SystemClock clock;
  MemoryCounterStore store(clock);
  const limit::Policy policy{"slow", limit::TokenBucket({1, Duration::hours(1)}, 0)};
  const Count count{&policy, "acme"};
  for (auto _ : state) benchmark::DoNotOptimize(store.check_now({&count, 1}, 1));
}
BENCHMARK(BM_RefusedKey);

// A million keys in an order the processor cannot guess.
void BM_MillionKeys(benchmark::State& state) {
  SystemClock clock;
  MemoryCounterStore store(clock);
  const limit::Policy policy = plenty("many");
  std::vector<std::string> keys;
  for (int i = 0; i < 1'000'000; ++i) keys.push_back("tenant-" + std::to_string(i));
  for (const std::string& key : keys) {
    const Count count{&policy, key};
    store.check_now({&count, 1}, 1);
  }
  std::uint64_t x = 1;
  for (auto _ : state) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    const Count count{&policy, limit::Key(keys[(x >> 33) % keys.size()])};
    benchmark::DoNotOptimize(store.check_now({&count, 1}, 1));
  }
}
BENCHMARK(BM_MillionKeys);

void BM_MillionKeysById(benchmark::State& state) {
  SystemClock clock;
  MemoryCounterStore store(clock);
  const limit::Policy policy = plenty("many");
  const auto check = [&](std::uint64_t i) {
    const Count count{&policy, limit::KeyId{0, i}};
    return store.check_now({&count, 1}, 1);
  };
  for (std::uint64_t i = 0; i < 1'000'000; ++i) check(i);
  std::uint64_t x = 1;
  for (auto _ : state) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    benchmark::DoNotOptimize(check((x >> 33) % 1'000'000));
  }
  state.counters["bytes_a_key"] = static_cast<double>(store.bytes()) / 1e6;
}
BENCHMARK(BM_MillionKeysById);

void BM_SetOfThree(benchmark::State& state) {
  SystemClock clock;
  MemoryCounterStore store(clock);
  const limit::Policy everyone = plenty("everyone");
  const limit::Policy tenant = plenty("tenant");
  const limit::Policy route = plenty("route");
  const Count counts[] = {{&everyone, ""}, {&tenant, "acme"}, {&route, "acme /orders"}};
  for (auto _ : state) benchmark::DoNotOptimize(store.check_now(counts, 1));
}
BENCHMARK(BM_SetOfThree);

void BM_SlidingWindow(benchmark::State& state) {
  SystemClock clock;
  MemoryCounterStore store(clock);
  const limit::Policy policy{"window", limit::SlidingWindow{{1'000'000'000, Duration::minutes(1)}}};
  const Count count{&policy, "acme"};
  for (auto _ : state) benchmark::DoNotOptimize(store.check_now({&count, 1}, 1));
}
BENCHMARK(BM_SlidingWindow);

MemoryCounterStore& shared_store() {
  static SystemClock clock;
  static MemoryCounterStore store(clock);
  return store;
}

// Wall time a decision, all threads together.
void BM_DistinctKeys(benchmark::State& state) {
  const limit::Policy policy = plenty("threads");
  const std::string key = "tenant-" + std::to_string(state.thread_index());
  const Count count{&policy, key};
  for (auto _ : state) benchmark::DoNotOptimize(shared_store().check_now({&count, 1}, 1));
}
BENCHMARK(BM_DistinctKeys)->Threads(1)->Threads(2)->UseRealTime();

void BM_SameKey(benchmark::State& state) {
  const limit::Policy policy = plenty("threads");
  const Count count{&policy, "acme"};
  for (auto _ : state) benchmark::DoNotOptimize(shared_store().check_now({&count, 1}, 1));
}
BENCHMARK(BM_SameKey)->Threads(1)->Threads(2)->UseRealTime();

}  // namespace
}  // namespace pawl
