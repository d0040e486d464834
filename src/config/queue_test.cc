// Goal: the settings of the queue are read as the contract has them, and what cannot work is
//       refused. Method: pinned texts.
#include "config/queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/settings_fixture.h"
#include "config/show.h"

namespace pawl::config {
namespace {

using ::testing::HasSubstr;

TEST(QueueSettings, HaveTheContractsDefaults) {
  const Queue queue = loaded("").queue;
  EXPECT_EQ(queue.url, "dir:data/queue");
  EXPECT_EQ(queue.shards, 1u);
  EXPECT_EQ(queue.kept, Duration::days(7));
  EXPECT_EQ(queue.lease, Duration::seconds(30));
  EXPECT_TRUE(queue.limits.empty());
  EXPECT_EQ(to_string(queue.prices.put_per_1000), "0.005");
}

constexpr std::string_view whole = R"(queue:
  url: s3://tasks/live?endpoint=http://127.0.0.1:9000&region=eu-west-1
  shards: 4
  kept: 1d
  lease: 10s
  limits:
    - { scope: key, name: acme, rate: 10/1s, running: 5 }
    - { scope: each_key, running: 8 }
    - { scope: queue, rate: 1000/1m }
  prices: { put_per_1000: 0.0054, currency: EUR }
)";

TEST(QueueSettings, AreReadAndShown) {
  const Config config = loaded(whole);
  ASSERT_EQ(config.queue.limits.size(), 3u);
  EXPECT_EQ(config.queue.limits[0].name, "acme");
  EXPECT_EQ(config.queue.limits[0].rate, (limit::Rate{10, Duration::seconds(1)}));
  EXPECT_EQ(config.queue.limits[1].scope, queue::Limited::each_key);
  EXPECT_EQ(config.queue.shards, 4u);
  const std::string shown = show(config);
  EXPECT_EQ(show(loaded(shown)), shown);
  EXPECT_THAT(shown, HasSubstr("put_per_1000: 0.0054"));
}

TEST(QueueSettings, NameAStoreOrABroker) {
  for (const std::string_view url : {"dir:/q", "s3://bucket", "http://broker:8081"}) {
    EXPECT_EQ(loaded("queue: {url: \"" + std::string(url) + "\"}").queue.url, url);
  }
  for (const std::string_view url : {"data/queue", "memory:", "redis://x", "s3://"}) {
    EXPECT_THAT(problems_of("queue: {url: \"" + std::string(url) + "\"}"),
                HasSubstr("queue.url: found \"" + std::string(url) + "\"; allowed: dir:PATH"));
  }
}

TEST(QueueSettings, LimitSomethingThatThereIsOnce) {
  EXPECT_THAT(problems_of("queue: {limits: [{scope: key, rate: 1/1s}]}"),
              HasSubstr("queue.limits[0]: name is missing"));
  EXPECT_THAT(problems_of("queue: {limits: [{scope: queue, name: x, rate: 1/1s}]}"),
              HasSubstr("found the name \"x\" for a scope that has none"));
  EXPECT_THAT(problems_of("queue: {limits: [{scope: queue}]}"), HasSubstr("it limits nothing"));
  EXPECT_THAT(problems_of("queue: {limits: [{scope: type, name: a, running: 1}, "
                          "{scope: type, name: a, running: 2}]}"),
              HasSubstr("queue.limits[1]: the same is limited for the second time"));
}

TEST(QueueSettings, HavePricesThatAreNotBelowNothing) {
  EXPECT_THAT(problems_of("queue: {prices: {put_per_1000: -1}}"),
              HasSubstr("queue.prices.put_per_1000"));
}

}  // namespace
}  // namespace pawl::config
