// Goal: refused callers of one key take turns, whoever calls from wherever, and those of other keys
// are left alone. Method: answers made by hand; many threads at once, whose turns must all differ.
#include "runtime/retry_hints.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <latch>
#include <thread>
#include <vector>

namespace pawl {
namespace {

const limit::Policy policy{"global",
                           limit::SlidingWindow{{.count = 1000, .period = Duration::minutes(1)}}};
constexpr Duration slot = Duration::milliseconds(60);
constexpr Duration retry_after = Duration::milliseconds(10);
// Of the turn that is told: the spread of an eighth, and what rounding adds.
constexpr Duration tolerance = Duration::milliseconds(1);

limit::Answer refusal() {
  limit::Answer answer;
  answer.now.moment = limit::Moment::from_ns(1'000'000'000'123);
  answer.retry_after = retry_after;
  return answer;
}

Duration wait(RetryHints& hints, limit::Key key, const limit::Policy& of = policy) {
  const limit::Count count{.policy = &of, .key = key};
  return hints.wait({&count, 1}, refusal());
}

void expect_turn(int n, Duration told) {
  const Duration turn = retry_after + slot * (n - 1);
  EXPECT_GE(told, turn);
  EXPECT_LE(told, turn + turn / 8 + tolerance) << n;
}

TEST(RetryHints, LetTheCallersOfOneKeyTakeTurns) {
  RetryHints hints;
  for (int n = 1; n <= 20; ++n) expect_turn(n, wait(hints, "acme"));
  for (int n = 1; n <= 20; ++n) expect_turn(n, wait(hints, limit::KeyId{.high = 1, .low = 2}));
}

TEST(RetryHints, LeaveOtherKeysAndOtherPoliciesAlone) {
  RetryHints hints;
  for (int n = 1; n <= 20; ++n) wait(hints, "acme");
  expect_turn(1, wait(hints, "globex"));
  expect_turn(1, wait(hints, "acme", limit::Policy("login", policy.rule)));
  // The same limit under another plan goes on.
  const limit::Policy pro{"global",
                          limit::SlidingWindow{{.count = 2000, .period = Duration::minutes(2)}}};
  expect_turn(21, wait(hints, "acme", pro));
}

TEST(RetryHints, AreNeverEarlyHoweverManyKeysShareThePlaces) {
  RetryHints hints;
  int begun_anew = 0;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const Duration told = wait(hints, limit::KeyId{.high = i, .low = i});
    ASSERT_GE(told, retry_after);
    if (told < slot) ++begun_anew;
  }
  // A place is taken over from another key, unless their marks are alike by chance.
  EXPECT_GT(begun_anew, 99'000);
}

TEST(RetryHints, GiveEveryTurnOnceWhenManyThreadsAreRefused) {
  RetryHints hints;
  const limit::Policy busy{
      "busy", limit::SlidingWindow{{.count = 1'000'000, .period = Duration::hours(1)}}};
  constexpr Duration busy_slot = Duration::microseconds(3'600);
  constexpr std::size_t each = 100'000;
  std::vector<std::vector<Duration>> told(4, std::vector<Duration>(each));
  std::latch ready(4);
  std::vector<std::thread> threads;
  for (auto& mine : told) {
    threads.emplace_back([&] {
      ready.arrive_and_wait();
      for (Duration& each_told : mine) each_told = wait(hints, "acme", busy);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<Duration> all;
  for (const auto& mine : told) {
    EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end()));
    all.insert(all.end(), mine.begin(), mine.end());
  }
  std::sort(all.begin(), all.end());
  for (std::size_t i = 1; i < all.size(); ++i) ASSERT_GE(all[i] - all[i - 1], busy_slot);
}

}  // namespace
}  // namespace pawl
