// Goal: every tenant that was seen of late is known, whatever comes at once, within a bound.
// Method: names by the thousand, seconds moved by hand, threads.
#include "gateway/seen_tenants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <thread>

namespace pawl::gateway {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

Instant at(std::int64_t second) {
  return Instant() + Duration::seconds(1'000'000 + second);
}

std::map<std::string, std::int64_t> all_of(const SeenTenants& seen) {
  std::map<std::string, std::int64_t> all;
  seen.for_each([&](std::string_view name, Instant last_seen) {
    EXPECT_TRUE(all.emplace(name, (last_seen - at(0)).seconds_up()).second) << name;
  });
  return all;
}

std::string numbered(int i) {
  return "tenant-" + std::to_string(i);
}

TEST(SeenTenants, KnowsWhoCameAndWhenLast) {
  SeenTenants seen(7);
  EXPECT_TRUE(all_of(seen).empty());
  seen.note("acme", at(1));
  seen.note("zenith", at(2) + Duration::milliseconds(900));
  seen.note("acme", at(3));
  EXPECT_THAT(all_of(seen), ElementsAre(Pair("acme", 3), Pair("zenith", 2)));
}

TEST(SeenTenants, KeepsLongNamesAndManyOfThem) {
  SeenTenants seen(7, 5'000);
  for (int i = 0; i < 5'000; ++i) {
    seen.note(numbered(i) + std::string(bounds::tenant_bytes_max - 12, 'x'), at(i));
  }
  const auto all = all_of(seen);
  ASSERT_EQ(all.size(), 5'000U);
  EXPECT_EQ(all.at(numbered(4'321) + std::string(bounds::tenant_bytes_max - 12, 'x')), 4'321);
}

TEST(SeenTenants, ForgetsThoseNotSeenForLongestOnceItIsFull) {
  SeenTenants seen(7, 1'000);
  for (int i = 0; i < 1'000; ++i) seen.note(numbered(i), at(i));
  for (int i = 0; i < 100; ++i) seen.note(numbered(i), at(2'000 + i));  // seen again
  seen.note("one more", at(3'000));
  const auto all = all_of(seen);
  EXPECT_EQ(all.size(), 751U);
  EXPECT_TRUE(all.contains("one more"));
  for (int i = 0; i < 1'000; ++i) {
    EXPECT_EQ(all.contains(numbered(i)), i < 100 || i >= 350) << i;
  }
}

TEST(SeenTenants, HoldsNoMoreThanItsBoundHoweverManyCome) {
  SeenTenants seen(7, 1'000);
  for (int i = 0; i < 20'000; ++i) {
    seen.note(numbered(i), at(i));
    seen.note("acme", at(i));
  }
  const auto all = all_of(seen);
  EXPECT_LE(all.size(), 1'000U);
  EXPECT_EQ(all.at("acme"), 19'999);
  EXPECT_TRUE(all.contains(numbered(19'999)));
  EXPECT_LT(seen.bytes(), 200'000U);
}

TEST(SeenTenants, TakesLittleMemoryForEach) {
  SeenTenants seen(7);
  for (int i = 0; i < 100'000; ++i) seen.note(numbered(i), at(0));
  EXPECT_EQ(all_of(seen).size(), 100'000U);
  EXPECT_LE(seen.bytes() / 100'000, 64U);
}

TEST(SeenTenants, LosesNobodyToOtherThreads) {
  SeenTenants seen(7, 2'000);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&seen, t] {
      for (int round = 0; round < 50; ++round) {
        for (int i = 0; i < 100; ++i) seen.note(numbered(i), at(round));
        for (int i = 0; i < 50; ++i) {
          seen.note("other-" + std::to_string(t) + "-" + std::to_string(round * 50 + i), at(0));
        }
      }
    });
  }
  threads.clear();
  const auto all = all_of(seen);
  EXPECT_LE(all.size(), 2'000U);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(all.contains(numbered(i))) << i;
}

}  // namespace
}  // namespace pawl::gateway
