// Goal: delays stay within their bounds, are the same everywhere, and spread callers evenly.
// Method: exact delays without jitter; vectors pinned for all kinds of jitter; a property over
// arbitrary policies; a chi-squared test over many keys.
#include "core/retry/backoff.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <vector>

#include "base/bounds.h"

namespace pawl::retry {
namespace {

constexpr Duration second = Duration::seconds(1);

Policy with(Jitter jitter) {
  Policy policy;
  policy.jitter = jitter;
  return policy;
}

Duration first(const Policy& policy, std::uint64_t key) {
  return backoff(policy, key, 1, {});
}

TEST(Backoff, ExponentialBackoffDoublesUpToTheMaximum) {
  const Policy policy = with(Jitter::none);
  const std::int64_t expected[] = {1, 2, 4, 8, 16, 30, 30};
  for (int attempt = 1; attempt <= 7; ++attempt) {
    EXPECT_EQ(backoff(policy, 42, attempt, {}), second * expected[attempt - 1]) << attempt;
  }
  EXPECT_EQ(backoff(policy, 42, bounds::retry_attempts_max, {}), second * 30);
}

TEST(Backoff, FactorsAreThousandthsRoundedDownStepByStep) {
  Policy policy = with(Jitter::none);
  policy.base_delay = Duration::nanoseconds(999);
  policy.multiplier_milli = 1500;
  EXPECT_EQ(backoff(policy, 0, 2, {}).ns(), 1498);
  EXPECT_EQ(backoff(policy, 0, 3, {}).ns(), 2247);
  policy.multiplier_milli = 1000;
  EXPECT_EQ(backoff(policy, 0, 50, {}).ns(), 999) << "a constant pace";
}

TEST(Backoff, TheLargestPolicyDoesNotOverflow) {
  Policy policy = with(Jitter::none);
  policy.max_delay = bounds::retry_delay_max;
  policy.base_delay = bounds::retry_delay_max - Duration::nanoseconds(1);
  policy.multiplier_milli = bounds::retry_multiplier_milli_max;
  ASSERT_TRUE(check(policy));
  EXPECT_EQ(backoff(policy, 0, 100, {}), bounds::retry_delay_max);
  policy.jitter = Jitter::decorrelated;
  EXPECT_LE(backoff(policy, 0, 100, Duration::max()), bounds::retry_delay_max);
}

TEST(Backoff, AListOfDelaysIsFollowedAndItsLastRepeats) {
  Policy policy = with(Jitter::none);
  policy.delays = {second * 3, {}, second * 5};
  EXPECT_EQ(backoff(policy, 1, 1, {}), second * 3);
  EXPECT_EQ(backoff(policy, 1, 2, {}), Duration());
  EXPECT_EQ(backoff(policy, 1, 3, {}), second * 5);
  EXPECT_EQ(backoff(policy, 1, 9, {}), second * 5);
  policy.jitter = Jitter::proportional;
  EXPECT_NE(backoff(policy, 1, 1, {}), second * 3) << "jitter applies to it";
}

// The ends that the keys of a large sample reach.
struct Ends {
  Duration least = Duration::max();
  Duration most = {};
};

Ends ends(const Policy& policy, int attempt, Duration previous) {
  Ends seen;
  for (std::uint64_t key = 0; key < 20'000; ++key) {
    const Duration delay = backoff(policy, key, attempt, previous);
    seen.least = std::min(seen.least, delay);
    seen.most = std::max(seen.most, delay);
  }
  return seen;
}

// Within `low` … `high`, and near to both.
void expect_ends(const Ends& seen, Duration low, Duration high) {
  const auto near = (high - low) / 1000;
  EXPECT_GE(seen.least, low);
  EXPECT_LE(seen.least, low + near);
  EXPECT_LE(seen.most, high);
  EXPECT_GE(seen.most, high - near);
}

TEST(Backoff, JitterVariationIsWithinTheExpectedRangeAndFillsIt) {
  const auto ms = [](std::int64_t n) { return Duration::milliseconds(n); };
  expect_ends(ends(with(Jitter::proportional), 1, {}), ms(900), ms(1100));
  expect_ends(ends(with(Jitter::proportional), 2, {}), ms(1800), ms(2200));
  expect_ends(ends(with(Jitter::proportional), 4, {}), ms(7200), ms(8800));
  expect_ends(ends(with(Jitter::full), 2, {}), {}, ms(2000));
  expect_ends(ends(with(Jitter::equal), 2, {}), ms(1000), ms(2000));
  expect_ends(ends(with(Jitter::decorrelated), 1, {}), ms(1000), ms(3000));
  expect_ends(ends(with(Jitter::decorrelated), 2, ms(2500)), ms(1000), ms(7500));
  Policy floored = with(Jitter::full);
  floored.min_delay = ms(100);
  expect_ends(ends(floored, 1, {}), ms(100), ms(1000));
}

// Neither by jitter that is added to a delay at the maximum, nor with dice that differ from run to
// run.
TEST(Backoff, DelayCappingHoldsAfterJitterAndIsTheSameInEveryRun) {
  Policy policy;
  policy.base_delay = policy.max_delay;
  const Ends capped = ends(policy, 5, {});
  EXPECT_LE(capped.most, policy.max_delay);
  expect_ends(capped, Duration::seconds(27), policy.max_delay);
  EXPECT_EQ(first(policy, 7), first(policy, 7));
}

TEST(Backoff, ThoseWhoReachedTheMaximumDoNotMeetThere) {
  const Policy policy;
  int at_the_maximum = 0;
  for (std::uint64_t key = 0; key < 10'000; ++key) {
    if (backoff(policy, key, 10, {}) == policy.max_delay) ++at_the_maximum;
  }
  EXPECT_LE(at_the_maximum, 1);
}

// A change of these is a change of what every recorded decision is compared with.
TEST(Backoff, TheDelaysOfEveryKindAreWhatTheyAlwaysWere) {
  EXPECT_EQ(jitter_key(""), 0xb7e1'5c1c'cea2'ca78);
  EXPECT_EQ(jitter_key("order-1"), 0xb647'df8d'e2f4'a7ba);
  const std::uint64_t key = jitter_key("order-1");
  EXPECT_EQ(backoff(with(Jitter::none), key, 1, {}).ns(), 1'000'000'000);
  EXPECT_EQ(backoff(with(Jitter::proportional), key, 1, {}).ns(), 1'012'479'402);
  EXPECT_EQ(backoff(with(Jitter::proportional), key, 2, {}).ns(), 2'082'258'819);
  EXPECT_EQ(backoff(with(Jitter::proportional), key, 9, {}).ns(), 29'564'335'192);
  EXPECT_EQ(backoff(with(Jitter::full), key, 3, {}).ns(), 3'779'206'199);
  EXPECT_EQ(backoff(with(Jitter::equal), key, 3, {}).ns(), 3'889'603'100);
  EXPECT_EQ(backoff(with(Jitter::decorrelated), key, 3, second * 4).ns(), 11'392'817'045);
}

// Chi-squared of how delays fall into 64 equal parts of low … high: below 103.4 in all but one of a
// thousand fair samples. The samples are fixed, so this is decided once.
double unevenness(const std::vector<Duration>& delays, Duration low, Duration high) {
  std::array<double, 64> parts = {};
  for (const Duration delay : delays) {
    const double at = (delay - low).seconds() / (high - low).seconds();
    parts[std::min<std::size_t>(static_cast<std::size_t>(at * 64), 63)] += 1;
  }
  const double expected = static_cast<double>(delays.size()) / 64;
  double sum = 0;
  for (const double part : parts) sum += (part - expected) * (part - expected) / expected;
  return sum;
}

TEST(Backoff, KeysAreSpreadEvenlyOverTheRange) {
  constexpr int many = 100'000;
  constexpr double most = 103.4;
  for (const int attempt : {1, 2, 3, 10}) {
    std::vector<Duration> counted;
    std::vector<Duration> named;
    for (int i = 0; i < many; ++i) {
      const std::uint64_t hashed = jitter_key("acme/order-" + std::to_string(i));
      counted.push_back(backoff(with(Jitter::full), static_cast<std::uint64_t>(i), attempt, {}));
      named.push_back(backoff(with(Jitter::full), hashed, attempt, {}));
    }
    const Duration high = backoff(with(Jitter::none), 0, attempt, {});
    EXPECT_LT(unevenness(counted, {}, high), most) << attempt;
    EXPECT_LT(unevenness(named, {}, high), most) << attempt;
  }
}

TEST(Backoff, TheAttemptsOfOneKeyAreSpreadEvenlyToo) {
  Policy policy = with(Jitter::full);
  policy.multiplier_milli = 1000;
  std::vector<Duration> delays;
  for (std::uint64_t key = 0; key < 1'000; ++key) {
    for (int attempt = 1; attempt <= bounds::retry_attempts_max; ++attempt) {
      delays.push_back(backoff(policy, key, attempt, {}));
    }
  }
  EXPECT_LT(unevenness(delays, {}, second), 103.4);
}

Policy any_policy() {
  const auto up_to = [](Duration most) {
    return Duration::nanoseconds(*rc::gen::inRange<std::int64_t>(0, most.ns() + 1));
  };
  Policy policy;
  policy.max_delay = up_to(bounds::retry_delay_max);
  policy.base_delay = up_to(policy.max_delay);
  policy.min_delay = up_to(policy.max_delay);
  policy.multiplier_milli =
      *rc::gen::inRange<std::int64_t>(1000, bounds::retry_multiplier_milli_max + 1);
  policy.jitter = static_cast<Jitter>(*rc::gen::inRange(0, 5));
  policy.jitter_milli = *rc::gen::inRange<std::int64_t>(0, 1001);
  if (policy.jitter != Jitter::decorrelated && *rc::gen::arbitrary<bool>()) {
    policy.delays.resize(static_cast<std::size_t>(*rc::gen::inRange(1, 5)));
    for (Duration& delay : policy.delays) delay = up_to(policy.max_delay);
  }
  return policy;
}

RC_GTEST_PROP(Backoff, IsWithinItsBoundsAndTheSameTwiceForEveryKeyAttemptAndPolicy, ()) {
  const Policy policy = any_policy();
  RC_ASSERT(check(policy).has_value());
  const auto key = *rc::gen::arbitrary<std::uint64_t>();
  Duration previous = {};
  for (int attempt = 1; attempt <= 12; ++attempt) {
    const Duration delay = backoff(policy, key, attempt, previous);
    RC_ASSERT(delay >= policy.min_delay);
    RC_ASSERT(delay <= policy.max_delay);
    RC_ASSERT(delay == backoff(policy, key, attempt, previous));
    previous = delay;
  }
}

}  // namespace
}  // namespace pawl::retry
