// What a decision costs when Redis keeps the counts: asked one by one with so many in flight, and
// with allowance taken in batches. PAWL_TEST_REDIS says where the server is.
//
// Each ask in flight begins the next when it is answered, on the thread that brings the answer: the
// same load that redis-benchmark makes with as deep a pipeline on one connection. Keys end in
// twelve digits, as its __rand_int__ does, so that it can ask for the same ones.
#include <array>
#include <atomic>
#include <benchmark/benchmark.h>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>

#include "adapter/redis/redis_counter_store.h"
#include "adapter/system/system_clock.h"
#include "runtime/leased_counter_store.h"

namespace pawl {
namespace {

constexpr std::int64_t asks_a_batch = 50'000;
constexpr std::uint64_t many_keys = 100'000;
constexpr std::uint64_t tenants = 1'000;

// What is used comes back so slowly that the server keeps every key from one round to the next.
limit::Policy slow_and_ample() {
  return {"bench", limit::TokenBucket({1, Duration::hours(1)}, 5'000)};
}
limit::Policy fast_and_ample() {
  return {"bench-fast", limit::TokenBucket({1'000'000, Duration::seconds(1)}, 1'000'000)};
}

// Asks `store` for random keys, always `in_flight` at once.
class Load {
 public:
  Load(CounterStore& store, const limit::Policy& policy, std::uint64_t keys)
      : store_(store), policy_(policy), keys_(keys) {}

  // Until `asks` more have been answered. False when one of them failed.
  bool run(std::int64_t asks, std::int64_t in_flight) {
    left_ = asks;
    while (chains_.size() < static_cast<std::size_t>(in_flight)) {
      chains_.emplace_back().random = chains_.size();
    }
    for (Chain& chain : chains_) go_on(chain);
    for (std::size_t i = 0; i < chains_.size(); ++i) ended_.acquire();
    return !failed_;
  }

 private:
  enum class Ask : std::uint8_t { begun, answered, awaited };
  struct Chain {
    std::uint64_t random = 0;
    std::atomic<Ask> ask = Ask::begun;
  };

  // One ask after the other while they are answered at once; else the answer goes on from here.
  void go_on(Chain& chain) {
    while (left_.fetch_sub(1, std::memory_order_relaxed) > 0) {
      chain.ask.store(Ask::begun, std::memory_order_relaxed);
      chain.random = chain.random * 6364136223846793005u + 1442695040888963407u;
      std::array<char, 32> key;
      const int length = std::snprintf(key.data(), key.size(), "tenant:%012llu",
                                       (chain.random >> 33) % keys_ + 0ull);
      const Count count{&policy_, std::string_view(key.data(), static_cast<std::size_t>(length))};
      store_.check({&count, 1}, 1, [this, &chain](const Result<limit::Answer>& answer) {
        if (!answer || !answer->allowed) failed_ = true;
        if (chain.ask.exchange(Ask::answered) == Ask::awaited) go_on(chain);
      });
      if (chain.ask.exchange(Ask::awaited) != Ask::answered) return;
    }
    ended_.release();
  }

  CounterStore& store_;
  const limit::Policy& policy_;
  const std::uint64_t keys_;
  std::deque<Chain> chains_;
  std::atomic<std::int64_t> left_ = 0;
  std::atomic<bool> failed_ = false;
  std::counting_semaphore<> ended_{0};
};

std::unique_ptr<RedisCounterStore> open_store(Clock& clock, benchmark::State& state) {
  const char* address = std::getenv("PAWL_TEST_REDIS");
  if (address == nullptr) {
    state.SkipWithError("PAWL_TEST_REDIS is not set: it says where Redis is");
    return nullptr;
  }
  auto url = redis::parse_redis_url(address);
  if (!url) {
    state.SkipWithError(url.error().message.c_str());
    return nullptr;
  }
  const RedisCounterStoreOptions options{.deadline = Duration::seconds(10), .seed = 1};
  auto store = RedisCounterStore::make(*url, clock, options);
  for (int i = 0; store && i < 1'000 && !(*store)->health(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (store && (*store)->health()) return std::move(*store);
  state.SkipWithError("Redis does not answer at PAWL_TEST_REDIS");
  return nullptr;
}

void measure(benchmark::State& state, Load& load) {
  const std::int64_t in_flight = state.range(0);
  load.run(asks_a_batch, in_flight);  // until leases are as large as they get
  while (state.KeepRunningBatch(asks_a_batch)) {
    if (load.run(asks_a_batch, in_flight)) continue;
    state.SkipWithError("an ask failed or was refused");
    return;
  }
  state.SetItemsProcessed(state.iterations());
}

void strict(benchmark::State& state, const limit::Policy& policy, std::uint64_t keys) {
  SystemClock clock;
  const auto store = open_store(clock, state);
  if (store == nullptr) return;
  Load load(*store, policy, keys);
  measure(state, load);
}

void BM_RedisStrict(benchmark::State& state) {
  strict(state, slow_and_ample(), many_keys);
}
BENCHMARK(BM_RedisStrict)->Arg(16)->Arg(64)->Arg(256)->UseRealTime();

// What leases are for: fewer keys, each of them busy.
void BM_RedisStrictTenants(benchmark::State& state) {
  strict(state, fast_and_ample(), tenants);
}
BENCHMARK(BM_RedisStrictTenants)->Arg(64)->UseRealTime();

void BM_RedisLeasedTenants(benchmark::State& state) {
  const limit::Policy policy = fast_and_ample();  // outlives what the lease asks ahead
  SystemClock clock;
  const auto store = open_store(clock, state);
  if (store == nullptr) return;
  LeasedCounterStore leased({}, clock, *store);
  Load load(leased, policy, tenants);
  measure(state, load);
}
BENCHMARK(BM_RedisLeasedTenants)->Arg(64)->UseRealTime();

}  // namespace
}  // namespace pawl
