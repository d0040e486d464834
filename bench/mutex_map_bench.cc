// The limiter most programs have: token buckets in a std::unordered_map behind a std::mutex. It is
// asked what the store's own benchmarks ask (src/adapter/memory), so that both fit in one table.
#include <algorithm>
#include <array>
#include <benchmark/benchmark.h>
#include <chrono>
#include <cstdint>
#include <malloc.h>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

constexpr double tokens_a_second = 1e9;
constexpr double tokens_max = 1e6;
constexpr std::uint64_t keys_count = 1'000'000;

class MutexMapLimiter {
 public:
  bool allow(const std::string& key) {
    const auto now = std::chrono::steady_clock::now();
    const std::lock_guard lock(mutex_);
    Bucket& bucket = refilled(key, now);
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

  // All are charged or none.
  bool allow_all(const std::array<std::string, 3>& keys) {
    const auto now = std::chrono::steady_clock::now();
    const std::lock_guard lock(mutex_);
    std::array<Bucket*, 3> buckets;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      buckets[i] = &refilled(keys[i], now);
      if (buckets[i]->tokens < 1) return false;
    }
    for (Bucket* bucket : buckets) bucket->tokens -= 1;
    return true;
  }

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Bucket {
    double tokens;
    Time at;
  };

  Bucket& refilled(const std::string& key, Time now) {
    Bucket& bucket = buckets_.try_emplace(key, Bucket{tokens_max, now}).first->second;
    const double seconds = std::chrono::duration<double>(now - bucket.at).count();
    bucket.tokens = std::min(tokens_max, bucket.tokens + seconds * tokens_a_second);
    bucket.at = now;
    return bucket;
  }

  std::mutex mutex_;
  std::unordered_map<std::string, Bucket> buckets_;
};

void BM_MutexMapHotKey(benchmark::State& state) {
  MutexMapLimiter limiter;
  const std::string key = "acme";
  for (auto _ : state) benchmark::DoNotOptimize(limiter.allow(key));
}
BENCHMARK(BM_MutexMapHotKey);

std::size_t bytes_taken() {
  const struct mallinfo2 now = mallinfo2();
  return now.uordblks + now.hblkhd;
}

void BM_MutexMapMillionKeys(benchmark::State& state) {
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; i < keys_count; ++i) keys.push_back("tenant-" + std::to_string(i));
  const std::size_t bytes_before = bytes_taken();
  MutexMapLimiter limiter;
  for (const std::string& key : keys) limiter.allow(key);
  const std::size_t bytes = bytes_taken() - bytes_before;
  std::uint64_t x = 1;
  for (auto _ : state) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    benchmark::DoNotOptimize(limiter.allow(keys[(x >> 33) % keys_count]));
  }
  state.counters["bytes_a_key"] = static_cast<double>(bytes) / static_cast<double>(keys_count);
}
BENCHMARK(BM_MutexMapMillionKeys);

void BM_MutexMapSetOfThree(benchmark::State& state) {
  MutexMapLimiter limiter;
  const std::array<std::string, 3> keys = {"everyone:", "tenant:acme", "route:acme /orders"};
  for (auto _ : state) benchmark::DoNotOptimize(limiter.allow_all(keys));
}
BENCHMARK(BM_MutexMapSetOfThree);

MutexMapLimiter& shared_limiter() {
  static MutexMapLimiter limiter;
  return limiter;
}

// Wall time a decision, all threads together.
void BM_MutexMapDistinctKeys(benchmark::State& state) {
  const std::string key = "tenant-" + std::to_string(state.thread_index());
  for (auto _ : state) benchmark::DoNotOptimize(shared_limiter().allow(key));
}
BENCHMARK(BM_MutexMapDistinctKeys)->Threads(1)->Threads(2)->UseRealTime();

void BM_MutexMapSameKey(benchmark::State& state) {
  const std::string key = "acme";
  for (auto _ : state) benchmark::DoNotOptimize(shared_limiter().allow(key));
}
BENCHMARK(BM_MutexMapSameKey)->Threads(1)->Threads(2)->UseRealTime();

}  // namespace
