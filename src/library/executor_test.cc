// Goal: the public executor retries what may be retried, does a thing once for a key, also across a
//       restart, and tells every failure as a value.
// Method: callables that fail, throw or wait, with delays of milliseconds on the machine's own
//         clock; a SQLite file that is opened again.
#include "pawl/executor.h"

#include <atomic>
#include <chrono>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/temp_folder.h"

namespace pawl {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view api = "RETRY_API_REQUEST";

ExecuteOptions quickly() {
  return {.policy = RetryPolicy{.base_delay = Duration::milliseconds(1)}};
}
std::unexpected<Error> lost() {
  return failure(Code::unavailable, "connection refused");
}

TEST(Executor, CallsTheCallableAfreshForEachAttempt) {
  Executor executor = Executor::make().value();
  std::vector<int> numbers;
  const auto answer = executor.execute_with_retry(
      api, "call",
      [&](const Attempt& attempt) -> Result<std::string> {
        numbers.push_back(attempt.number);
        if (numbers.size() < 3) return lost();
        return "answer";
      },
      quickly());
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(*answer, "answer");
  EXPECT_EQ(numbers, (std::vector{1, 2, 3}));
}

TEST(Executor, TellsThatItGaveUpAndWhy) {
  Executor executor = Executor::make().value();
  const auto answer = executor.execute_with_retry(
      api, "call", [](const Attempt&) -> Result<std::string> { return lost(); }, quickly());
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, Code::refused);
  EXPECT_EQ(answer.error().outcome, Outcome::not_applied);
  EXPECT_EQ(answer.error().message,
            "given up after 3 attempts (attempts_exhausted): connection refused");
}

TEST(Executor, AnExceptionIsAValueAndWhatIsHarmlessIsTriedAgain) {
  Executor executor = Executor::make().value();
  int calls = 0;
  const auto throws = [&](const Attempt&) -> Result<std::string> {
    if (++calls < 2) throw std::runtime_error("broken pipe");
    return "second";
  };
  const auto unknown = executor.execute_with_retry(api, "call", throws, quickly());
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().code, Code::unresolved);
  EXPECT_EQ(unknown.error().outcome, Outcome::unknown);
  calls = 0;
  ExecuteOptions harmless = quickly();
  harmless.harmless = true;
  EXPECT_EQ(executor.execute_with_retry(api, "call", throws, harmless).value(), "second");
}

TEST(Executor, WhatWasDoneUnderAKeyOutlivesTheProcessThatDidIt) {
  const TempFolder folder;
  const std::string store = "sqlite:" + (folder / "intents.db");
  int calls = 0;
  const auto act = [&](const Attempt& attempt) -> Result<std::string> {
    EXPECT_GT(attempt.fence, 0u);
    return "order " + std::to_string(++calls);
  };
  for (int i = 0; i < 2; ++i) {
    Executor executor = Executor::make({.store = store}).value();
    const auto answer = executor.execute_with_retry(api, "place", act, {.idempotency_key = "k"});
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    EXPECT_EQ(*answer, "order 1");
  }
  Executor executor = Executor::make({.store = store}).value();
  const auto other = executor.execute_with_retry(
      api, "place", act, {.idempotency_key = "k", .fingerprint = "something else"});
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().code, Code::invalid);
  EXPECT_EQ(calls, 1);
}

TEST(Executor, CallersWithOneKeyAtTheSameTimeWaitForTheFirst) {
  Executor executor = Executor::make({.on_in_flight = ExecutorOptions::OnInFlight::wait}).value();
  std::atomic<int> calls = 0;
  std::vector<std::future<Result<std::string>>> answers;
  for (int i = 0; i < 8; ++i) {
    answers.push_back(std::async(std::launch::async, [&] {
      return executor.execute_with_retry(
          api, "place",
          [&](const Attempt&) -> Result<std::string> {
            std::this_thread::sleep_for(std::chrono::milliseconds(30));
            return std::to_string(++calls);
          },
          {.idempotency_key = "k"});
    }));
  }
  for (auto& answer : answers) EXPECT_EQ(answer.get().value(), "1");
  EXPECT_EQ(calls, 1);
}

TEST(Executor, ReconciliationDecidesWhatIsSentAgain) {
  Executor executor = Executor::make().value();
  int calls = 0;
  ExecuteOptions how = quickly();
  how.reconcile = [&](const Attempt&) -> Result<Finding> {
    return Finding{.outcome = calls == 1 ? Outcome::not_applied : Outcome::applied,
                   .result = "found"};
  };
  const auto answer = executor.execute_with_retry(
      api, "place",
      [&](const Attempt&) -> Result<std::string> {
        ++calls;
        return std::unexpected(Error(Code::unavailable, Outcome::unknown, "no answer"));
      },
      how);
  EXPECT_EQ(answer.value(), "found");
  EXPECT_EQ(calls, 2);
}

TEST(Executor, TheOtherFormCallsBackAndCanBeCancelled) {
  Executor executor = Executor::make().value();
  std::promise<Result<std::string>> done;
  executor.execute_with_retry(
      api, "call", [](const Attempt&, Executor::Done told) { told("at once"); }, {},
      [&](Result<std::string> answer) { done.set_value(std::move(answer)); });
  EXPECT_EQ(done.get_future().get().value(), "at once");

  std::promise<Result<std::string>> cancelled;
  auto cancel = executor.execute_with_retry(
      api, "call", [](const Attempt&, Executor::Done told) { told(lost()); },
      {.policy = RetryPolicy{.base_delay = Duration::seconds(30)}},
      [&](Result<std::string> answer) { cancelled.set_value(std::move(answer)); });
  cancel();
  const auto answer = cancelled.get_future().get();
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().outcome, Outcome::not_applied);
}

TEST(Executor, DestroyingItEndsWhatWaits) {
  std::promise<Result<std::string>> done;
  {
    Executor executor = Executor::make().value();
    executor.execute_with_retry(
        api, "call", [](const Attempt&, Executor::Done told) { told(lost()); },
        {.policy = RetryPolicy{.base_delay = Duration::seconds(30)}},
        [&](Result<std::string> answer) { done.set_value(std::move(answer)); });
  }
  EXPECT_FALSE(done.get_future().get().has_value());
}

TEST(Executor, AWaitThatTheOtherSideNamesIsNeverUndercut) {
  Executor executor = Executor::make().value();
  std::vector<std::chrono::steady_clock::time_point> times;
  const auto answer = executor.execute_with_retry(
      api, "call",
      [&](const Attempt&) -> Result<std::string> {
        times.push_back(std::chrono::steady_clock::now());
        if (times.size() > 1) return "answer";
        Error error(Code::refused, Outcome::not_applied, "too many");
        error.retry_after = Duration::milliseconds(200);
        return std::unexpected(error);
      },
      quickly());
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_GE(times[1] - times[0], std::chrono::milliseconds(200));
}

TEST(Executor, KnowsPoliciesOfOnesOwnAndTellsOfCategoriesItDoesNotKnow) {
  std::vector<std::string> unknown;
  Executor executor =
      Executor::make(
          {.policies = {{"MINE", RetryPolicy{.max_attempts = 1}}},
           .unknown_category = [&](std::string_view category) { unknown.emplace_back(category); }})
          .value();
  int calls = 0;
  const auto failing = [&](const Attempt&) -> Result<std::string> {
    ++calls;
    return lost();
  };
  EXPECT_FALSE(executor.execute_with_retry("MINE", "call", failing));
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(unknown.empty());
  const auto good = [](const Attempt&) -> Result<std::string> { return ""; };
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(executor.execute_with_retry("YOURS", "call", good));
  EXPECT_EQ(unknown, std::vector<std::string>{"YOURS"});
}

TEST(Executor, TellsWhenTheAuditLogTakesNothingAnyMore) {
  const TempFolder folder;
  std::vector<std::string> told;
  Executor executor =
      Executor::make({.audit = "file:" + (folder / "audit.jsonl"),
                      .unaudited = [&](const Error& error) { told.push_back(error.message); }})
          .value();
  std::filesystem::remove_all(folder.path());
  const auto good = [](const Attempt&) -> Result<std::string> { return "done"; };
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  Result<std::string> answer;
  while (answer && std::chrono::steady_clock::now() < end) {
    answer = executor.execute_with_retry(api, "call", good);
  }
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::unavailable);
  EXPECT_EQ(answer.error().outcome, Outcome::not_applied);
  EXPECT_FALSE(told.empty());
}

TEST(Executor, DestroyedWhileAnAttemptIsUnderWayItTellsEverybodyAndTheKeyIsUnknown) {
  const TempFolder folder;
  const std::string store = "sqlite:" + (folder / "keys.db");
  std::promise<Result<std::string>> told;
  std::promise<void> begun;
  Executor::Done held;
  Executor::Cancel cancel;
  {
    Executor executor = Executor::make({.store = store}).value();
    cancel = executor.execute_with_retry(
        api, "charge",
        [&](const Attempt&, Executor::Done done) {
          held = std::move(done);
          begun.set_value();
        },
        {.idempotency_key = "k",
         .begin_reconcile =
             [](const Attempt&, ExecuteOptions::Found found) {
               found(Finding{Outcome::not_applied});
             }},
        [&](Result<std::string> answer) { told.set_value(std::move(answer)); });
    begun.get_future().wait();
  }
  const Result<std::string> answer = told.get_future().get();
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().outcome, Outcome::unknown);
  EXPECT_EQ(answer.error().code, Code::unresolved);
  held("late");  // nobody is there to hear it
  cancel();
  Idempotency keys = Idempotency::make({.store = store}).value();
  EXPECT_EQ(keys.check("", "k").value()->state, KeyState::unknown);
}

TEST(Executor, AttemptsThatEndWhileItIsDestroyedHarmNobody) {
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> told = 0;
    std::vector<Executor::Done> held(4);
    std::vector<std::thread> threads;
    {
      Executor executor = Executor::make().value();
      for (Executor::Done& each : held) {
        executor.execute_with_retry(
            api, "call", [&](const Attempt&, Executor::Done done) { each = std::move(done); }, {},
            [&](const Result<std::string>&) { ++told; });
      }
      for (Executor::Done& each : held) {
        threads.emplace_back([&each] { each("answer"); });
      }
    }
    EXPECT_EQ(told, 4);
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(Executor, AnErrorOfWhatWasAppliedIsAnErrorAndNotDoneAgain) {
  Executor executor = Executor::make().value();
  int calls = 0;
  const auto garbled = [&](const Attempt&) -> Result<std::string> {
    ++calls;
    return std::unexpected(Error(Code::invalid, Outcome::applied, "the answer is garbled"));
  };
  for (int i = 0; i < 2; ++i) {
    const auto answer = executor.execute_with_retry(api, "call", garbled, {.idempotency_key = "k"});
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().outcome, Outcome::applied);
  }
  EXPECT_EQ(calls, 1);
}

TEST(Executor, WhatACallbackThrowsIsDropped) {
  std::promise<void> told;
  std::promise<void> done_again;
  Executor executor = Executor::make().value();
  executor.execute_with_retry(
      api, "call", [](const Attempt&, Executor::Done done) { done("answer"); }, {},
      [&](const Result<std::string>&) {
        told.set_value();
        throw std::runtime_error("careless");
      });
  told.get_future().get();
  executor.execute_with_retry(api, "call",
                              [&](const Attempt&, Executor::Done done) {
                                done("answer");
                                done_again.set_value();
                              },
                              {}, {});
  done_again.get_future().get();
}

TEST(Executor, AReadCanBeHedged) {
  Executor executor = Executor::make().value();
  std::promise<Result<std::string>> told;
  Executor::Done first;
  executor.execute_with_retry(
      "RETRY_KV_GET", "read",
      [&](const Attempt& attempt, Executor::Done done) {
        if (attempt.number == 1) {
          first = std::move(done);
        } else {
          done("second");
        }
      },
      {.harmless = true, .hedge_after = Duration::milliseconds(1)},
      [&](Result<std::string> answer) { told.set_value(std::move(answer)); });
  EXPECT_EQ(told.get_future().get().value_or(""), "second");
}

TEST(Executor, FormsThatDoNotGoTogetherAreRefused) {
  Executor executor = Executor::make().value();
  const auto good = [](const Attempt&) -> Result<std::string> { return ""; };
  const auto code = [&](const ExecuteOptions& how) {
    return executor.execute_with_retry(api, "call", good, how).error().code;
  };
  const Duration soon = Duration::milliseconds(1);
  EXPECT_EQ(code({.hedge_after = soon}), Code::usage);
  EXPECT_EQ(code({.harmless = true, .hedge_after = soon}), Code::usage);
  EXPECT_EQ(code({.begin_reconcile = [](const Attempt&, const ExecuteOptions::Found&) {}}),
            Code::usage);
  std::optional<Code> other;
  executor.execute_with_retry(
      api, "call", [](const Attempt&, Executor::Done done) { done(""); },
      {.reconcile = [](const Attempt&) -> Result<Finding> { return Finding{Outcome::unknown}; }},
      [&](const Result<std::string>& answer) { other = answer.error().code; });
  EXPECT_EQ(other, Code::usage);
}

TEST(Executor, AnAttemptThatWasGivenUpMeanwhileIsNotMade) {
  Executor executor = Executor::make().value();
  std::vector<int> made;
  const auto slow = [&](const Attempt& attempt) -> Result<std::string> {
    made.push_back(attempt.number);
    std::this_thread::sleep_for(std::chrono::milliseconds(150));  // it does not look at its time
    return lost();
  };
  const auto answer = executor.execute_with_retry(
      api, "call", slow,
      {.policy = RetryPolicy{.max_attempts = 3,
                             .delays = {Duration::milliseconds(1)},
                             .attempt_timeout = Duration::milliseconds(20)},
       .harmless = true});
  EXPECT_FALSE(answer.has_value());
  EXPECT_EQ(made, std::vector<int>{1}) << "the others' time was up before the first came back";
}

TEST(Executor, WhoIsToldOfAnUnknownCategoryMayCallIt) {
  std::optional<Executor> executor;
  int calls = 0;
  const auto good = [](const Attempt&) -> Result<std::string> { return ""; };
  executor = Executor::make({.unknown_category = [&](std::string_view) {
               ++calls;
               EXPECT_TRUE(executor->execute_with_retry("YOURS", "call", good));
             }}).value();
  EXPECT_TRUE(executor->execute_with_retry("MINE", "call", good));
  EXPECT_EQ(calls, 2) << "once for each";
}

TEST(Executor, ALookThatFindsNothingOutYetIsNoFailureOfTheOtherSide) {
  Executor executor = Executor::make({.breaker_failures = 2}).value();
  ExecuteOptions how = quickly();
  how.reconcile = [](const Attempt&) -> Result<Finding> { return Finding{Outcome::unknown}; };
  const auto silent = [](const Attempt&) -> Result<std::string> {
    return std::unexpected(Error(Code::unavailable, Outcome::unknown, "no answer"));
  };
  EXPECT_EQ(executor.execute_with_retry(api, "call", silent, how).error().code, Code::unresolved);
  const auto good = [](const Attempt&) -> Result<std::string> { return "fine"; };
  EXPECT_EQ(executor.execute_with_retry(api, "call", good).value_or(""), "fine");
}

TEST(Executor, SaysWhatTheStoreSaid) {
  Executor executor = Executor::make().value();
  const auto good = [](const Attempt&) -> Result<std::string> { return ""; };
  const auto answer =
      executor.execute_with_retry(api, "call", good, {.idempotency_key = std::string(600, 'k')});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, Code::invalid);
  EXPECT_THAT(answer.error().message, HasSubstr("512"));
  EXPECT_EQ(Executor::make({.lease = Duration::nanoseconds(5)}).error().code, Code::invalid);
  EXPECT_EQ(Executor::make({.ttl = Duration::days(99'999)}).error().code, Code::invalid);
}

TEST(Executor, SaysWhatIsWrongWithItsOptions) {
  EXPECT_THAT(Executor::make({.store = "cloud"}).error().message, HasSubstr("must be memory"));
  EXPECT_EQ(Executor::make({.audit = "memory"}).error().code, Code::invalid);
  EXPECT_EQ(Executor::make({.durability = Durability::process}).error().code, Code::invalid)
      << "memory gives none";
  EXPECT_THAT(
      Executor::make({.policies = {{"MINE", RetryPolicy{.max_attempts = 0}}}}).error().message,
      HasSubstr("max_attempts"));
  EXPECT_FALSE(Executor::make({.budget_ratio = -1}).has_value());
  Executor executor = Executor::make().value();
  const auto answer = executor.execute_with_retry(
      api, "call", [](const Attempt&) -> Result<std::string> { return ""; },
      {.policy = RetryPolicy{.max_attempts = 0}});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, Code::invalid);
}

}  // namespace
}  // namespace pawl
