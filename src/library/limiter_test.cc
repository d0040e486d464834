// Goal: the public limiter keeps the pace it was given, key by key and from many threads, and says
// what is wrong with options it cannot keep. Method: walks with a hand-moved clock; threads that
// ask for the same keys while time stands still; the machine's own clock for the default.
#include "pawl/limiter.h"

#include <atomic>
#include <chrono>
#include <future>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "adapter/system/system_clock.h"
#include "runtime/manual_clock.h"

using namespace std::string_view_literals;

namespace pawl {
namespace {

constexpr LimiterOptions two_at_once{.count = 10, .period = Duration::seconds(1), .burst = 1};

Limiter make(const LimiterOptions& options, Clock& clock) {
  return Limiter::make(options, &clock).value();
}

TEST(Limiter, AllowsTheBurstAndOneThenRefusesWithTheWait) {
  ManualClock clock;
  Limiter limiter = make(two_at_once, clock);
  const Decision first = limiter.check("a");
  EXPECT_TRUE(first.allowed);
  EXPECT_EQ(first.limit, 10);
  EXPECT_EQ(first.remaining, 1);
  EXPECT_EQ(first.retry_after, Duration());
  EXPECT_TRUE(limiter.check("a").allowed);
  const Decision refused = limiter.check("a");
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.limit, 10);
  EXPECT_EQ(refused.remaining, 0);
  EXPECT_EQ(refused.retry_after, Duration::milliseconds(100));
}

TEST(Limiter, TheWaitItNamesIsExactAndARefusalCostsNothing) {
  ManualClock clock;
  Limiter limiter = make(two_at_once, clock);
  while (limiter.check("a").allowed) {
  }
  clock.advance(Duration::milliseconds(100) - Duration::nanoseconds(1));
  EXPECT_FALSE(limiter.check("a").allowed);
  clock.advance(Duration::nanoseconds(1));
  EXPECT_TRUE(limiter.check("a").allowed);
  EXPECT_FALSE(limiter.check("a").allowed);
}

TEST(Limiter, KeysDoNotTouchEachOther) {
  ManualClock clock;
  Limiter limiter = make({.count = 1, .period = Duration::hours(1)}, clock);
  for (const std::string_view key : {""sv, "a"sv, "b"sv, "a\n"sv, "\0"sv}) {
    EXPECT_TRUE(limiter.check(key).allowed);
    EXPECT_FALSE(limiter.check(key).allowed);
  }
}

TEST(Limiter, TwoLimitersDoNotTouchEachOther) {
  ManualClock clock;
  Limiter one = make({.count = 1, .period = Duration::hours(1)}, clock);
  Limiter other = make({.count = 1, .period = Duration::hours(1)}, clock);
  EXPECT_TRUE(one.check("a").allowed);
  EXPECT_TRUE(other.check("a").allowed);
  EXPECT_FALSE(one.check("a").allowed);
}

TEST(Limiter, ACostIsTakenWholeOrNotAtAll) {
  ManualClock clock;
  Limiter limiter = make({.count = 10, .period = Duration::seconds(1), .burst = 4}, clock);
  EXPECT_TRUE(limiter.check("a", 3).allowed);
  const Decision refused = limiter.check("a", 3);
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.remaining, 2);
  EXPECT_EQ(refused.retry_after, Duration::milliseconds(100));
  EXPECT_TRUE(limiter.check("a", 2).allowed);
}

TEST(Limiter, ALookTakesNothing) {
  ManualClock clock;
  Limiter limiter = make(two_at_once, clock);
  for (int i = 0; i < 3; ++i) {
    const Decision look = limiter.check("a", 0);
    EXPECT_TRUE(look.allowed);
    EXPECT_EQ(look.remaining, 2);
  }
}

TEST(Limiter, ACostThatNoBucketCanHoldIsNeverAllowedAndTakesNothing) {
  ManualClock clock;
  Limiter limiter = make(two_at_once, clock);
  for (const std::int64_t cost :
       {std::int64_t{3}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min(),
        std::numeric_limits<std::int64_t>::max()}) {
    const Decision decision = limiter.check("a", cost);
    EXPECT_FALSE(decision.allowed) << cost;
    EXPECT_EQ(decision.retry_after, Duration::max()) << cost;
    EXPECT_EQ(decision.remaining, 2) << cost;
  }
}

TEST(Limiter, SettingTheWallClockChangesNothing) {
  ManualClock clock;
  Limiter limiter = make({.count = 1, .period = Duration::hours(1)}, clock);
  EXPECT_TRUE(limiter.check("a").allowed);
  clock.set_wall(clock.wall_now() + Duration::days(1));
  EXPECT_FALSE(limiter.check("a").allowed);
}

TEST(Limiter, KeepsItsCountsWhenItIsMoved) {
  ManualClock clock;
  Limiter first = make({.count = 1, .period = Duration::hours(1)}, clock);
  EXPECT_TRUE(first.check("a").allowed);
  Limiter second = std::move(first);
  EXPECT_FALSE(second.check("a").allowed);
  Limiter third = make(two_at_once, clock);
  third = std::move(second);
  EXPECT_FALSE(third.check("a").allowed);
}

TEST(Limiter, WithoutAClockItUsesTheMachinesOwn) {
  Limiter slow = Limiter::make({.count = 1, .period = Duration::hours(1)}).value();
  EXPECT_TRUE(slow.check("a").allowed);
  const Decision refused = slow.check("a");
  EXPECT_FALSE(refused.allowed);
  EXPECT_GT(refused.retry_after, Duration::minutes(50));
  EXPECT_LE(refused.retry_after, Duration::hours(1));

  Limiter fast = Limiter::make({.count = 1, .period = Duration::microseconds(1)}).value();
  EXPECT_TRUE(fast.check("a").allowed);
  while (!fast.check("a").allowed) {  // ends because time goes on by itself
  }
}

TEST(Limiter, ManyThreadsTogetherGetExactlyTheCapacityOfEveryKey) {
  ManualClock clock;
  Limiter limiter = make({.count = 1, .period = Duration::hours(1), .burst = 99}, clock);
  constexpr std::size_t keys = 3;
  std::vector<std::atomic<int>> allowed(keys);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (std::size_t i = 0; i < keys * 100; ++i) {
        const std::size_t key = i % keys;
        if (limiter.check(std::to_string(key)).allowed) ++allowed[key];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t key = 0; key < keys; ++key) EXPECT_EQ(allowed[key], 100) << key;
}

TEST(Limiter, AnIdIsAKeyOfItsOwnKind) {
  ManualClock clock;
  Limiter limiter = make({.count = 1, .period = Duration::hours(1)}, clock);
  for (const KeyId id : {KeyId{0, 0}, KeyId{0, 1}, KeyId{1, 0}}) {
    EXPECT_TRUE(limiter.check(id).allowed);
    EXPECT_FALSE(limiter.check(id).allowed);
  }
  EXPECT_TRUE(limiter.check("").allowed);
}

TEST(Limiter, EachAlgorithmKeepsItsOwnPromise) {
  for (const Algorithm algorithm :
       {Algorithm::token_bucket, Algorithm::sliding_window, Algorithm::sliding_log}) {
    ManualClock clock;
    const bool bucket = algorithm == Algorithm::token_bucket;
    Limiter limiter = make({.count = 4,
                            .period = Duration::seconds(1),
                            .burst = bucket ? 3 : 0,
                            .algorithm = algorithm},
                           clock);
    EXPECT_TRUE(limiter.check("a", 4).allowed);
    clock.advance(Duration::milliseconds(500));
    // The bucket has earned two; the windows still hold all four.
    EXPECT_EQ(limiter.check("a", 2).allowed, bucket);
    clock.advance(Duration::milliseconds(500));
    EXPECT_EQ(limiter.check("a", 0).remaining, algorithm == Algorithm::token_bucket     ? 2
                                               : algorithm == Algorithm::sliding_window ? 0
                                                                                        : 4);
  }
}

TEST(Limiter, WaitsForItsTurn) {
  Limiter limiter = Limiter::make({.count = 1, .period = Duration::milliseconds(20)}).value();
  ASSERT_TRUE(limiter.check("a").allowed);
  SystemClock clock;
  const SteadyInstant before = clock.steady_now();
  for (int i = 0; i < 3; ++i) {
    const Result<Decision> decision = limiter.acquire("a");
    ASSERT_TRUE(decision.has_value());
    EXPECT_TRUE(decision->allowed);
  }
  EXPECT_GE(clock.steady_now() - before, Duration::milliseconds(50)) << "never early";
}

TEST(Limiter, CallsBackWhoDoesNotWantToWait) {
  Limiter limiter = Limiter::make({.count = 1, .period = Duration::milliseconds(5)}).value();
  std::promise<void> all;
  std::atomic<int> served = 0;
  const auto serve = [&](Result<Decision> decision) {
    EXPECT_TRUE(decision.has_value() && decision->allowed);
    if (++served == 6) all.set_value();
  };
  for (int i = 0; i < 3; ++i) {
    limiter.acquire("a", {}, serve);
    limiter.acquire(KeyId{1, 2}, {}, serve);
  }
  EXPECT_EQ(all.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
}

TEST(Limiter, RefusesAtOnceWhatCannotBeServedInTime) {
  Limiter limiter = Limiter::make({.count = 1, .period = Duration::hours(1)}).value();
  ASSERT_TRUE(limiter.acquire("a").has_value());
  ASSERT_TRUE(limiter.acquire(KeyId{1, 2}).has_value());
  EXPECT_FALSE(limiter.check(KeyId{1, 2}).allowed);
  const auto late = limiter.acquire("a", {.within = Duration::minutes(1)});
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().code, Code::refused);
  EXPECT_EQ(late.error().outcome, Outcome::not_applied);
  EXPECT_NE(late.error().message.find("later than the 1m"), std::string::npos);
  const auto never = limiter.acquire("b", {.cost = 2});
  ASSERT_FALSE(never.has_value());
  EXPECT_NE(never.error().message.find("never"), std::string::npos);
}

TEST(Limiter, ToldToEndItRefusesThoseWhoWait) {
  std::promise<Result<Decision>> promise;
  {
    Limiter limiter = Limiter::make({.count = 1, .period = Duration::hours(1)}).value();
    ASSERT_TRUE(limiter.check("a").allowed);
    limiter.acquire("a", {.within = Duration::hours(2)},
                    [&](Result<Decision> decision) { promise.set_value(std::move(decision)); });
  }
  const auto decision = promise.get_future().get();
  ASSERT_FALSE(decision.has_value());
  EXPECT_EQ(decision.error().code, Code::unavailable);
}

TEST(Limiter, SaysWhy) {
  ManualClock clock;
  Limiter limiter = make(two_at_once, clock);
  EXPECT_EQ(limiter.why(limiter.check("a")),
            "Allowed. Tightest is 'limiter' (10/1s burst 1): 1 of 2 used, 1 left.");
  EXPECT_TRUE(limiter.check("a").allowed);
  EXPECT_EQ(limiter.why(limiter.check("a")),
            "Refused by 'limiter' (10/1s burst 1): 2 of 2 used, nothing left. The earliest that "
            "would do is in 100ms.");
}

struct Refused {
  LimiterOptions options;
  std::string_view message;
};

TEST(Limiter, OptionsOutOfRangeAreAnErrorThatSaysWhatIsAllowed) {
  for (const auto& [options, message] : {
           Refused{{.count = 0}, "a limiter's count is 0; allowed: 1 to 1000000000"},
           Refused{{.count = -1}, "a limiter's count is -1; allowed: 1 to 1000000000"},
           Refused{{.count = 1'000'000'001, .period = Duration::days(1)},
                   "a limiter's count is 1000000001; allowed: 1 to 1000000000"},
           Refused{{.period = Duration()},
                   "a limiter's period is 0ns; allowed: above 0 and up to 366d"},
           Refused{{.period = Duration::nanoseconds(-1)},
                   "a limiter's period is -1ns; allowed: above 0 and up to 366d"},
           Refused{{.period = Duration::days(366) + Duration::nanoseconds(1)},
                   "a limiter's period is 31622400000000001ns; allowed: above 0 and up to 366d"},
           Refused{{.count = 1001, .period = Duration::microseconds(1)},
                   "a limiter's rate is 1001/1us; allowed: at most one a nanosecond"},
           Refused{{.burst = -1}, "a limiter's burst is -1; allowed: 0 to 1000000000"},
           Refused{{.burst = 1'000'000'001},
                   "a limiter's burst is 1000000001; allowed: 0 to 1000000000"},
           Refused{{.count = 1, .period = Duration::days(366), .burst = 10},
                   "a limiter's burst is 10; allowed: what 1/366d earns in 3660d"},
           Refused{{.burst = 1, .algorithm = Algorithm::sliding_window},
                   "a limiter's burst is 1; allowed: 0, but for a token_bucket"},
           Refused{{.count = 10'001, .algorithm = Algorithm::sliding_log},
                   "a limiter's count is 10001; allowed: up to 10000 for a sliding_log, which "
                   "remembers each; take a sliding_window"},
       }) {
    const Result<Limiter> limiter = Limiter::make(options);
    ASSERT_FALSE(limiter.has_value()) << message;
    EXPECT_EQ(limiter.error().code, Code::invalid);
    EXPECT_EQ(limiter.error().message, message);
  }
}

TEST(Limiter, OptionsAtTheEndsOfTheRangeWork) {
  for (const LimiterOptions& options : {
           LimiterOptions{.count = 1'000'000'000, .period = Duration::seconds(1)},
           LimiterOptions{.count = 1, .period = Duration::nanoseconds(1)},
           LimiterOptions{.count = 1, .period = Duration::days(366), .burst = 9},
           LimiterOptions{.count = 100, .period = Duration::seconds(1), .burst = 999'999'999},
       }) {
    ManualClock clock;
    Limiter limiter = make(options, clock);
    EXPECT_TRUE(limiter.check("a", options.burst + 1).allowed);
    EXPECT_FALSE(limiter.check("a").allowed);
    clock.advance(limiter.check("a").retry_after);
    EXPECT_TRUE(limiter.check("a").allowed);
  }
}

}  // namespace
}  // namespace pawl
