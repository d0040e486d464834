// What every CounterStore must do, whatever it is made of.
#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

#include "port/counter_store.h"

namespace pawl {

// One store under test, with time moved by hand.
struct CounterStoreUnderTest {
  CounterStore& store;
  std::function<void(Duration)> advance;
  int threads = 4;  // 1 for a store that lives in one thread
};

inline Result<limit::Verdict> charge_now(CounterStore& store, const Charge& charge) {
  std::promise<Result<limit::Verdict>> promise;
  store.charge(charge, [&](Result<limit::Verdict> v) { promise.set_value(std::move(v)); });
  return promise.get_future().get();
}

inline void expect_counter_store_conforms(const CounterStoreUnderTest& test) {
  const limit::Policy slow{
      .name = "slow", .bucket = {.rate = {.count = 1, .period = Duration::seconds(1)}, .burst = 1}};
  const limit::Policy other{.name = "other", .bucket = slow.bucket};
  const auto take = [&](const limit::Policy& policy, std::string_view key, std::int64_t cost = 1) {
    const auto verdict = charge_now(test.store, {.policy = policy, .key = key, .cost = cost});
    EXPECT_TRUE(verdict.has_value());
    return verdict.value();
  };

  // Admits burst + 1 and refuses the next, with the wait.
  EXPECT_TRUE(take(slow, "a").allowed);
  EXPECT_TRUE(take(slow, "a").allowed);
  const limit::Verdict refused = take(slow, "a");
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.remaining, 0);
  EXPECT_EQ(refused.retry_after, Duration::seconds(1));

  // Keys, and policies of the same key, do not touch each other.
  EXPECT_TRUE(take(slow, "b").allowed);
  EXPECT_TRUE(take(other, "a").allowed);

  // A refusal cost nothing: after one interval exactly one token is there.
  test.advance(Duration::seconds(1));
  EXPECT_TRUE(take(slow, "a").allowed);
  EXPECT_FALSE(take(slow, "a").allowed);

  // A look costs nothing; a cost above one is taken whole or not at all.
  test.advance(Duration::seconds(10));
  EXPECT_EQ(take(slow, "a", 0).remaining, 2);
  EXPECT_FALSE(take(slow, "a", 3).allowed);
  EXPECT_TRUE(take(slow, "a", 2).allowed);

  // Many at once: exactly the capacity gets through.
  const limit::Policy wide{
      .name = "wide", .bucket = {.rate = {.count = 1, .period = Duration::hours(1)}, .burst = 99}};
  std::atomic<int> admitted = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < test.threads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 400 / test.threads; ++i) admitted += take(wide, "hot").allowed ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(admitted, 100);
}

}  // namespace pawl
