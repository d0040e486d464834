// Goal: when one master of a cluster dies, counts of the other nodes go on, those of its own end
// with an honest outcome, and nothing is charged twice. Method: a cluster of the test's own without
// a replica for the node that is killed in the middle of many asks; it syncs before it answers, so
// what it kept can be compared with what was said once it is back.
#include <gtest/gtest.h>
#include <latch>
#include <string>

#include "adapter/redis/redis_counter_store.h"
#include "adapter/redis/redis_server_fixture.h"
#include "adapter/redis/slots.h"
#include "runtime/manual_clock.h"

namespace pawl {
namespace {

using redis::eventually;

constexpr int many = 4'000;

limit::Policy bucket(const std::string& name) {
  return {name, limit::TokenBucket({1, Duration::hours(1)}, 999'999)};
}

// A key whose counts the second node has, or the first, which a set asks before it.
std::string key_of_node(const limit::Policy& policy, bool second) {
  for (int i = 0;; ++i) {
    const std::string key = "k" + std::to_string(i);
    const auto slot = redis::key_slot(redis::count_key({&policy, key}));
    if (second ? slot > 5460 && slot < 10'923 : slot < 5461) return key;
  }
}

class KilledNode : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(cluster.meet());
    auto made = RedisCounterStore::make(redis::parse_redis_url(cluster.url()).value(), clock,
                                        {.deadline = Duration::seconds(10), .time = &time});
    store = std::move(made.value());
    ASSERT_TRUE(eventually([&] { return store->health().has_value(); }));
  }
  Result<limit::Answer> check(Counts counts, std::int64_t cost = 1) {
    std::optional<Result<limit::Answer>> result;
    std::latch answered(1);
    store->check(counts, cost, [&](Result<limit::Answer> answer) {
      result = std::move(answer);
      answered.count_down();
    });
    answered.wait();
    return *std::move(result);
  }
  // Once the store answers for it again.
  std::int64_t used(const Count& count) {
    std::int64_t found = -1;
    EXPECT_TRUE(eventually([&] {
      const auto look = check({&count, 1}, 0);
      if (look) found = 1'000'000 - look->bound().remaining;
      return look.has_value();
    }));
    return found;
  }

  // Else a cluster stops as a whole when it lacks a slot; that is its operator's choice.
  redis::RedisCluster cluster{
      {"--cluster-require-full-coverage", "no", "--appendonly", "yes", "--appendfsync", "always"}};
  redis::RealClock clock;
  ManualClock time;
  std::unique_ptr<RedisCounterStore> store;
};

TEST_F(KilledNode, KeepsNobodyElseFromCountingAndLosesNoCharge) {
  const limit::Policy policy = bucket("alone");
  const std::string here = key_of_node(policy, false), there = key_of_node(policy, true);
  const Count lives = {&policy, here}, dies = {&policy, there};
  redis::Ends ends;
  std::atomic<int> failed = 0;
  std::latch others(many);
  redis::kill_midway(cluster.node(1), many, ends, [&](auto done) {
    store->check({&dies, 1}, 1, std::move(done));
    store->check({&lives, 1}, 1, [&](const Result<limit::Answer>& answer) {
      if (!answer) ++failed;
      others.count_down();
    });
  });
  others.wait();
  EXPECT_EQ(failed, 0) << "the other nodes go on";
  EXPECT_EQ(used(lives), many);

  // The cluster notices; the answer is the same all the while.
  ASSERT_TRUE(eventually([&] {
    return cluster.node(2).cli("CLUSTER INFO").find("cluster_slots_fail:5462") != std::string::npos;
  }));
  const auto away = check({&dies, 1});
  ASSERT_FALSE(away.has_value());
  EXPECT_EQ(away.error().code, Code::unavailable);
  EXPECT_EQ(away.error().outcome, Outcome::not_applied);
  EXPECT_FALSE(store->health().has_value());
  EXPECT_TRUE(check({&lives, 1}).has_value());

  cluster.node(1).start();
  const std::int64_t charged = used(dies);
  EXPECT_GE(charged, ends.applied) << "what was answered was kept";
  EXPECT_LE(charged, ends.applied + ends.unknown) << "nothing was charged twice";
  EXPECT_TRUE(eventually([&] { return store->health().has_value(); })) << "by itself";
  EXPECT_EQ(store->disagreements(), 0u);
}

TEST_F(KilledNode, LeavesNothingChargedElsewhereForASetThatFailed) {
  const limit::Policy policies[] = {bucket("first"), bucket("second")};
  const std::string here = key_of_node(policies[0], false), there = key_of_node(policies[1], true);
  const Count set[] = {{&policies[0], here}, {&policies[1], there}};
  redis::Ends ends;
  redis::kill_midway(cluster.node(1), many, ends,
                     [&](auto done) { store->check(set, 1, std::move(done)); });
  EXPECT_EQ(used(set[0]), ends.applied) << "the rest was given back";
  cluster.node(1).start();
  const std::int64_t charged = used(set[1]);
  EXPECT_GE(charged, ends.applied);
  EXPECT_LE(charged, ends.applied + ends.unknown);
}

}  // namespace
}  // namespace pawl
