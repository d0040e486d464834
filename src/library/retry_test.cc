// Goal: a call is tried again as its policy, budget and breaker say, and comes back with a value.
// Method: a clock moved by the waits themselves; callables that fail, are told to wait, or throw.
#include "pawl/retry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/retry/policy.h"
#include "runtime/manual_clock.h"

namespace pawl {
namespace {

using ::testing::HasSubstr;

Error lost() {
  return {Code::unavailable, Outcome::not_applied, "connection refused"};
}

class RetryTest : public ::testing::Test {
 protected:
  Retry make(const RetryOptions& options = {}) {
    auto made = Retry::make(options, &clock, [this](Duration length) {
      waited.push_back(length);
      clock.advance(length);
    });
    EXPECT_TRUE(made) << made.error().message;
    return *std::move(made);
  }
  // Fails so often with that error, then succeeds.
  auto failing(int times, Error error) {
    return [this, times, error](const Attempt& attempt) -> Result<int> {
      attempts.push_back(attempt);
      if (static_cast<int>(attempts.size()) <= times) return std::unexpected(error);
      return 42;
    };
  }

  ManualClock clock;
  std::vector<Duration> waited;
  std::vector<Attempt> attempts;
};

TEST_F(RetryTest, WhatSucceedsAtOnceWaitsForNothing) {
  Retry retry = make();
  const Result<int> result = retry.execute(failing(0, lost()));
  ASSERT_TRUE(result);
  EXPECT_EQ(*result, 42);
  ASSERT_EQ(attempts.size(), 1u);
  EXPECT_EQ(attempts[0].number, 1);
  EXPECT_EQ(attempts[0].timeout, Duration::seconds(30));
  EXPECT_TRUE(waited.empty());
}

TEST_F(RetryTest, IsTriedAfreshAfterDelaysThatGrow) {
  Retry retry = make();
  EXPECT_TRUE(retry.execute(failing(2, lost())));
  ASSERT_EQ(attempts.size(), 3u);
  EXPECT_EQ(attempts[2].number, 3);
  ASSERT_EQ(waited.size(), 2u);
  EXPECT_NEAR(waited[0].seconds(), 1.0, 0.1);
  EXPECT_NEAR(waited[1].seconds(), 2.0, 0.2);
}

TEST_F(RetryTest, GivesUpAndSaysWhyAndWhatTheLastAttemptSaid) {
  Retry retry = make();
  const Result<int> result = retry.execute(failing(99, lost()));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::unavailable);
  EXPECT_EQ(result.error().outcome, Outcome::not_applied);
  EXPECT_EQ(result.error().message,
            "given up after 3 attempts (attempts_exhausted): connection refused");
  EXPECT_EQ(attempts.size(), 3u);
}

TEST_F(RetryTest, AWaitThatTheOtherSideNamesIsNeverUndercut) {
  Retry retry = make();
  Error told(Code::refused, Outcome::not_applied, "too many requests");
  told.retry_after = Duration::seconds(17);
  EXPECT_TRUE(retry.execute(failing(1, told)));
  ASSERT_EQ(waited.size(), 1u);
  EXPECT_EQ(waited[0], Duration::seconds(17));
}

TEST_F(RetryTest, ARefusalIsNotTriedAgainUnlessListed) {
  const Error refusal(Code::invalid, Outcome::not_applied, "no such account");
  Retry strict = make();
  const Result<int> refused = strict.execute(failing(1, refusal));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::invalid);
  EXPECT_EQ(attempts.size(), 1u);
  attempts.clear();
  Retry lenient = make({.policy = {.retryable = {"client_error"}}});
  EXPECT_TRUE(lenient.execute(failing(1, refusal)));
}

TEST_F(RetryTest, WhatNobodyKnowsIsTriedAgainOnlyWhereASecondCopyDoesNoHarm) {
  const Error silence(Code::unavailable, Outcome::unknown, "no answer");
  Retry careful = make();
  const Result<int> unresolved = careful.execute(failing(1, silence));
  ASSERT_FALSE(unresolved);
  EXPECT_EQ(unresolved.error().code, Code::unresolved);
  EXPECT_EQ(unresolved.error().outcome, Outcome::unknown);
  EXPECT_EQ(attempts.size(), 1u);
  attempts.clear();
  Retry reading = make({.harmless = true});
  EXPECT_TRUE(reading.execute(failing(1, silence)));
  EXPECT_EQ(attempts.size(), 2u);
}

TEST_F(RetryTest, AnExceptionIsAValueAndIsListedByItsType) {
  Retry retry = make({.policy = {.non_retryable = {"std::invalid_argument"}}, .harmless = true});
  int calls = 0;
  const auto throwing = [&](const Attempt&) -> Result<int> {
    ++calls;
    throw std::invalid_argument("a negative amount");
  };
  const Result<int> result = retry.execute(throwing);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("a negative amount"));
  EXPECT_THAT(result.error().message, HasSubstr("listed_non_retryable"));
  EXPECT_EQ(calls, 1);
}

TEST_F(RetryTest, TheDeadlineEndsItBeforeAWaitThatWouldPassIt) {
  Retry retry = make({.policy = {.max_attempts = 10, .deadline = Duration::seconds(5)}});
  const Result<int> result = retry.execute(failing(99, lost()));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("deadline_exceeded"));
  EXPECT_EQ(attempts.size(), 3u) << "after 0, 1 and 3 seconds; the next would be at 7";
}

TEST_F(RetryTest, WhoIsAwayIsLeftAloneAndFoundAgain) {
  Retry retry = make({.policy = {.max_attempts = 1}, .breaker_failures = 3});
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(retry.execute(failing(99, lost())));
  EXPECT_EQ(attempts.size(), 3u);
  const Result<int> refused = retry.execute(failing(0, lost()));
  ASSERT_FALSE(refused);
  EXPECT_EQ(attempts.size(), 3u) << "it was not called";
  EXPECT_EQ(refused.error().code, Code::unavailable);
  EXPECT_EQ(refused.error().outcome, Outcome::not_applied);
  EXPECT_EQ(refused.error().retry_after, Duration::seconds(1));
  clock.advance(Duration::seconds(1));
  EXPECT_TRUE(retry.execute(failing(0, lost()))) << "a probe";
  EXPECT_TRUE(retry.execute(failing(0, lost()))) << "and everybody again";
}

TEST_F(RetryTest, RetriesAreAShareOfTheCalls) {
  Retry retry = make({.policy = {.max_attempts = 2},
                      .budget_ratio = 0.1,
                      .budget_per_second = 0,
                      .breaker_failures = 1'000});
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(retry.execute(failing(1'000, lost())));
  }
  EXPECT_EQ(attempts.size(), 110u);
}

TEST_F(RetryTest, ManyThreadsMayCallIt) {
  Retry retry = make();
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 1'000; ++n) {
        good += retry.execute([](const Attempt&) -> Result<int> { return 1; }).value_or(0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 4'000);
}

TEST(RetryPolicyOf, ACategoryIsItsRowOfTheMatrixAndAnUnknownOneTheDefault) {
  EXPECT_EQ(retry_policy("RETRY_NATS_CONNECT").max_attempts, 5);
  EXPECT_EQ(retry_policy("RETRY_KV_GET").base_delay, Duration::milliseconds(500));
  EXPECT_EQ(retry_policy("RETRY_KV_GET").multiplier, 2.0);
  EXPECT_EQ(retry_policy("RETRY_KV_GET").jitter_factor, 0.1);
  EXPECT_EQ(retry_policy("nobody knows it").max_attempts, retry::default_policy().max_attempts);
}

TEST(RetryOptionsTest, SayWhatIsWrongWithThem) {
  const auto said = [](const RetryOptions& options) {
    const auto made = Retry::make(options);
    return made ? "" : made.error().message;
  };
  EXPECT_EQ(said({}), "");
  EXPECT_THAT(said({.policy = {.max_attempts = 0}}), HasSubstr("max_attempts"));
  EXPECT_THAT(said({.policy = {.multiplier = std::numeric_limits<double>::quiet_NaN()}}),
              HasSubstr("multiplier"));
  EXPECT_THAT(said({.policy = {.multiplier = 1e300}}), HasSubstr("multiplier"));
  EXPECT_THAT(said({.budget_ratio = -1}), HasSubstr("ratio"));
  EXPECT_THAT(said({.breaker_failures = 0}), HasSubstr("breaker"));
}

}  // namespace
}  // namespace pawl
