// Goal: of all who want a key one has it, and the others hear of its end, each once. Method: the
// cases one by one; then threads that fight over one key, whose turns are counted.
#include "runtime/flights.h"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>

namespace pawl {
namespace {

const RecordKey key{.scope = "acme", .key = "POST /a k"};

TEST(Flights, GivesAKeyToOneAtATime) {
  Flights flights;
  auto first = flights.begin(key, "f1");
  ASSERT_TRUE(first);
  EXPECT_FALSE(flights.begin(key, "f2"));
  EXPECT_EQ(flights.find(key), "f1");
  EXPECT_TRUE(flights.begin({.scope = "other", .key = key.key}, "f3")) << "another tenant's";
  first->end();
  EXPECT_EQ(flights.find(key), std::nullopt);
  EXPECT_TRUE(flights.begin(key, "f2"));
}

TEST(Flights, ATicketEndsWithItsOwner) {
  Flights flights;
  {
    const auto ticket = flights.begin(key, "f");
  }
  EXPECT_EQ(flights.find(key), std::nullopt);
  Flights::Ticket kept;
  {
    auto ticket = flights.begin(key, "f");
    kept = *std::move(ticket);
  }
  EXPECT_EQ(flights.find(key), "f") << "it was handed on";
}

TEST(Flights, NoMoreThanAThousandWaitForOneKey) {
  Flights flights;
  auto ticket = flights.begin(key, "f");
  int called = 0;
  for (int i = 0; i < 1'000; ++i) EXPECT_TRUE(flights.on_end(key, [&] { ++called; }));
  EXPECT_FALSE(flights.on_end(key, [&] { ++called; })) << "it looks again by itself";
  ticket->end();
  EXPECT_EQ(called, 1'000);
}

TEST(Flights, CallsThoseWhoWaitOnceWhenTheKeyIsFree) {
  Flights flights;
  EXPECT_FALSE(flights.on_end(key, [] { FAIL() << "nobody had it"; }));
  auto ticket = flights.begin(key, "f");
  int called = 0;
  bool free = false;
  EXPECT_TRUE(flights.on_end(key, [&] {
    ++called;
    free = !flights.find(key);
  }));
  EXPECT_EQ(called, 0);
  ticket->end();
  ticket->end();
  EXPECT_EQ(called, 1);
  EXPECT_TRUE(free);
}

TEST(Flights, ManyThreadsNeverHaveOneKeyTogether) {
  Flights flights;
  std::atomic<int> inside = 0;
  std::atomic<int> together = 0;
  std::atomic<int> turns = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      while (turns < 1000) {
        const auto ticket = flights.begin(key, "f");
        if (!ticket) continue;
        if (++inside > 1) ++together;
        ++turns;
        --inside;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(together, 0);
  EXPECT_GE(turns, 1000);
}

}  // namespace
}  // namespace pawl
