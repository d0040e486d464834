// Goal: a tenant is told once a window. Method: windows walked by hand, crowds, threads.
#include "gateway/near_marks.h"

#include <atomic>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

namespace pawl::gateway {
namespace {

const Instant noon = parse_instant("2026-11-15T12:00:00Z").value();
constexpr Duration second = Duration::seconds(1);

limit::Policy a_minute(std::string name, std::int64_t count = 10) {
  return {std::move(name), limit::SlidingWindow{{count, Duration::minutes(1)}}};
}

TEST(NearMarks, SayYesOnceAWindow) {
  NearMarks marks(7);
  const limit::Policy policy = a_minute("global");
  EXPECT_TRUE(marks.is_first("acme", policy, noon));
  EXPECT_FALSE(marks.is_first("acme", policy, noon));
  EXPECT_FALSE(marks.is_first("acme", policy, noon + second * 59));
  EXPECT_TRUE(marks.is_first("acme", policy, noon + second * 60));
  EXPECT_FALSE(marks.is_first("acme", policy, noon + second * 61));
  EXPECT_TRUE(marks.is_first("acme", policy, noon + Duration::days(500)));
}

TEST(NearMarks, TellTenantsAndPoliciesApart) {
  NearMarks marks(7);
  const limit::Policy policy = a_minute("global");
  EXPECT_TRUE(marks.is_first("acme", policy, noon));
  EXPECT_TRUE(marks.is_first("zenith", policy, noon));
  EXPECT_TRUE(marks.is_first("acme", a_minute("login"), noon));
  const limit::Policy larger = a_minute("global", 20);
  EXPECT_TRUE(marks.is_first("acme", larger, noon));
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(marks.is_first("acme", policy, noon)) << "in turns with another plan";
    EXPECT_FALSE(marks.is_first("acme", larger, noon));
  }
}

TEST(NearMarks, DoNotFollowAClockThatGoesBackALittle) {
  NearMarks marks(7);
  const limit::Policy policy = a_minute("global");
  EXPECT_TRUE(marks.is_first("acme", policy, noon));
  EXPECT_FALSE(marks.is_first("acme", policy, noon - Duration::milliseconds(1)));
  EXPECT_FALSE(marks.is_first("acme", policy, noon));
}

TEST(NearMarks, FollowAClockThatWasWrong) {
  NearMarks marks(7);
  const limit::Policy policy = a_minute("global");
  EXPECT_TRUE(marks.is_first("acme", policy, noon + Duration::days(400)));
  EXPECT_TRUE(marks.is_first("acme", policy, noon));
  EXPECT_FALSE(marks.is_first("acme", policy, noon));
}

TEST(NearMarks, HoldManyAtOnce) {
  NearMarks marks(7);
  const limit::Policy policy = a_minute("global");
  int again = 0;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 8'000; ++i) {
      again += marks.is_first("tenant-" + std::to_string(i), policy, noon) ? round : 0;
    }
  }
  EXPECT_EQ(again, 0);
}

TEST(NearMarks, TellSomebodyTwiceRatherThanNotAtAllWhenTheyAreFull) {
  NearMarks marks(7, 16);
  const limit::Policy policy = a_minute("global");
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(marks.is_first("tenant-" + std::to_string(i), policy, noon));
    EXPECT_FALSE(marks.is_first("tenant-" + std::to_string(i), policy, noon));
  }
}

TEST(NearMarks, AreOneForAllThreads) {
  NearMarks marks(7);
  const limit::Policy policy = a_minute("global");
  std::atomic<int> told = 0;
  for (int window = 0; window < 4; ++window) {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 600; ++i) {
          const Instant now = noon + second * (60 * window + i % 60);
          told += marks.is_first(std::to_string(i % 10), policy, now) ? 1 : 0;
        }
      });
    }
  }
  EXPECT_EQ(told, 40);  // four windows of ten tenants
}

}  // namespace
}  // namespace pawl::gateway
