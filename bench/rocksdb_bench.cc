// RocksDB's rate limiter, a published one in C++: a single bucket without keys, so the hot key is
// the one case to compare. It has more than is asked for, so it never waits.
#include <benchmark/benchmark.h>
#include <cstdint>
#include <memory>
#include <rocksdb/rate_limiter.h>

namespace {

constexpr std::int64_t plenty_a_second = 1'000'000'000'000;

void BM_RocksDbHotKey(benchmark::State& state) {
  const std::unique_ptr<rocksdb::RateLimiter> limiter(
      rocksdb::NewGenericRateLimiter(plenty_a_second));
  for (auto _ : state) {
    limiter->Request(1, rocksdb::Env::IO_HIGH, nullptr, rocksdb::RateLimiter::OpType::kWrite);
  }
}
BENCHMARK(BM_RocksDbHotKey);

}  // namespace
