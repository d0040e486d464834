// Goal: an operation that has to wait for long outlives the wait: it goes on as it was, once, with
//       the same key, and everybody who asks hears how it ended.
// Method: a queue and keys in memory on a clock that the test moves; every wait is a long one.
#include "pawl/durable_operation.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "library/moved_clock_fixture.h"
#include "tests/temp_folder.h"

namespace pawl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Error not_now(Duration wait) {
  Error error(Code::unavailable, Outcome::not_applied, "429");
  error.retry_after = wait;
  return error;
}

class DurableOperationTest : public ::testing::Test {
 protected:
  // The n-th attempt of all is answered by the n-th of these, and the last again and again.
  using Answers = std::vector<Result<std::string>>;

  DurableOperation& operation(Answers answers, DurableOptions options = {}) {
    options.name = "charge";
    options.sleep_from = Duration::milliseconds(1);
    if (!options.policy) options.policy = RetryPolicy{.max_attempts = 5};
    if (!executor) executor.emplace(Executor::make(executor_options, &clock).value());
    auto made =
        DurableOperation::make(*executor, queue, std::move(options),
                               [this, answers](const std::string& input, const Attempt& attempt) {
                                 inputs.push_back(input);
                                 numbers.push_back(attempt.number);
                                 return answers[std::min(numbers.size(), answers.size()) - 1];
                               });
    EXPECT_TRUE(made.has_value()) << made.error().message;
    operations.push_back(*std::move(made));
    return operations.back();
  }
  SleepingTask slept(DurableOperation& of, const DurableAsk& ask = {.idempotency_key = "k"}) {
    const auto answer = of.run(R"({"order":17})", ask);
    EXPECT_TRUE(answer.has_value() && answer->sleeps) << (answer ? "" : answer.error().message);
    return answer && answer->sleeps ? *answer->sleeps : SleepingTask();
  }
  // Lets what is due go on.
  WorkerStats worked(DurableOperation& with) {
    Worker worker(queue, {.name = "w"});
    with.resume_on(worker);
    const auto stats = worker.run_once();
    EXPECT_TRUE(stats.has_value()) << stats.error().message;
    return stats.value_or(WorkerStats());
  }

  MovedClock clock;
  Queue queue = Queue::open("memory:", &clock).value();
  ExecutorOptions executor_options = {};
  std::optional<Executor> executor;
  std::vector<DurableOperation> operations;
  std::vector<std::string> inputs;
  std::vector<int> numbers;
};

TEST_F(DurableOperationTest, GoesOnWhereItWas) {
  DurableOperation& charge = operation({std::unexpected(not_now(Duration::minutes(10))),
                                        std::unexpected(not_now(Duration::hours(1))), "charged"});
  const SleepingTask task = slept(charge);
  EXPECT_EQ(task.until, clock.wall_now() + Duration::minutes(10));
  EXPECT_EQ(queue.get(task.id)->type, "charge");
  EXPECT_EQ(queue.get(task.id)->available_at, task.until);
  EXPECT_EQ(worked(charge).claimed, 0u) << "it sleeps";

  clock.advance(Duration::minutes(10));
  EXPECT_EQ(worked(charge).rescheduled, 1u);
  EXPECT_EQ(queue.get(task.id)->available_at, clock.wall_now() + Duration::hours(1));
  EXPECT_EQ(queue.get(task.id)->reschedule_count, 1u) << "the worker's word is not counted again";

  clock.advance(Duration::hours(1));
  EXPECT_EQ(worked(charge).completed, 1u);
  EXPECT_EQ(queue.get(task.id)->output, R"("charged")");
  EXPECT_THAT(numbers, ElementsAre(1, 2, 3));
  EXPECT_THAT(inputs, ElementsAre(inputs[0], inputs[0], inputs[0]));

  const auto again = charge.run(R"({"order":17})", {.idempotency_key = "k"});
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_FALSE(again->sleeps.has_value());
  EXPECT_EQ(again->result, "charged");
  EXPECT_EQ(numbers.size(), 3u) << "it was done before";
}

TEST_F(DurableOperationTest, FindsWhatAnotherCallerDidMeanwhile) {
  DurableOperation& charge =
      operation({std::unexpected(not_now(Duration::minutes(10))), "charged", "charged twice"});
  const SleepingTask task = slept(charge);
  const auto second = charge.run(R"({"order":17})", {.idempotency_key = "k"});
  ASSERT_TRUE(second.has_value()) << second.error().message;
  EXPECT_EQ(second->result, "charged") << "a sleeper holds no key";
  clock.advance(Duration::minutes(10));
  EXPECT_EQ(worked(charge).completed, 1u);
  EXPECT_EQ(queue.get(task.id)->output, R"("charged")");
  EXPECT_EQ(numbers.size(), 2u);
}

TEST_F(DurableOperationTest, SleepsAsOneTaskHoweverManyAsk) {
  DurableOperation& charge = operation({std::unexpected(not_now(Duration::minutes(10)))});
  const SleepingTask first = slept(charge);
  clock.advance(Duration::minutes(1));
  const SleepingTask second = slept(charge);
  EXPECT_EQ(second.id, first.id);
  EXPECT_EQ(second.until, first.until);
  EXPECT_NE(slept(charge, {.idempotency_key = "another"}).id, first.id);
  EXPECT_NE(slept(charge, {.idempotency_key = "k", .tenant_id = "acme"}).id, first.id);
  EXPECT_EQ(queue.list()->size(), 3u);
}

TEST_F(DurableOperationTest, FailsWhereAnOperationWouldHave) {
  DurableOperation& charge = operation({std::unexpected(not_now(Duration::minutes(10)))},
                                       {.policy = RetryPolicy{.max_attempts = 2}});
  const SleepingTask task = slept(charge);
  clock.advance(Duration::minutes(10));
  EXPECT_EQ(worked(charge).failed, 1u);
  EXPECT_EQ(queue.get(task.id)->last_error, "given up after 2 attempts (attempts_exhausted): 429");
  EXPECT_NE(slept(charge).id, task.id) << "the key is free, and the old task over";
}

TEST_F(DurableOperationTest, ItsDeadlineCountsTheSleep) {
  DurableOperation& charge =
      operation({std::unexpected(not_now(Duration::minutes(50)))},
                {.policy = RetryPolicy{.max_attempts = 5, .deadline = Duration::hours(1)}});
  const SleepingTask task = slept(charge);
  clock.advance(Duration::minutes(55));
  EXPECT_EQ(worked(charge).failed, 1u);
  EXPECT_THAT(queue.get(task.id)->last_error, HasSubstr("deadline_exceeded"));
  EXPECT_THAT(numbers, ElementsAre(1, 2));

  numbers.clear();
  const SleepingTask late = slept(charge, {.idempotency_key = "late"});
  clock.advance(Duration::hours(3));
  EXPECT_EQ(worked(charge).failed, 1u);
  EXPECT_THAT(queue.get(late.id)->last_error, HasSubstr("deadline_exceeded"));
  EXPECT_THAT(numbers, ElementsAre(1)) << "nobody was there while it could have gone on";
}

TEST_F(DurableOperationTest, WhatNobodyKnowsTheEndOfFailsAsUnresolved) {
  const Error silent(Code::unavailable, Outcome::unknown, "no answer");
  DurableOperation& charge = operation(
      {std::unexpected(not_now(Duration::minutes(10))), std::unexpected(silent), "charged twice"});
  const SleepingTask task = slept(charge);
  clock.advance(Duration::minutes(10));
  EXPECT_EQ(worked(charge).failed, 1u);
  EXPECT_THAT(queue.get(task.id)->last_error,
              HasSubstr("unresolved: nobody knows whether it was applied"));
  EXPECT_EQ(charge.run(R"({"order":17})", {.idempotency_key = "k"}).error().code, Code::unresolved);
  EXPECT_EQ(numbers.size(), 2u);
}

TEST_F(DurableOperationTest, FindsOutWhereItCan) {
  Error silent(Code::unavailable, Outcome::unknown, "no answer; ask in an hour");
  silent.retry_after = Duration::hours(1);
  std::vector<std::string> looked;
  DurableOperation& charge =
      operation({std::unexpected(silent)},
                {.reconcile = [&](const std::string& input, const Attempt&) -> Result<Finding> {
                  looked.push_back(input);
                  return Finding{.outcome = Outcome::applied, .result = "found"};
                }});
  const SleepingTask task = slept(charge);
  EXPECT_TRUE(looked.empty()) << "not before the server allows";
  clock.advance(Duration::hours(1));
  EXPECT_EQ(worked(charge).completed, 1u);
  EXPECT_EQ(queue.get(task.id)->output, R"("found")");
  EXPECT_THAT(looked, ElementsAre(inputs[0]));
}

TEST_F(DurableOperationTest, WithoutAKeyItIsOnItsOwn) {
  DurableOperation& charge = operation({std::unexpected(not_now(Duration::minutes(10))),
                                        std::unexpected(not_now(Duration::minutes(10))), "a", "b"});
  const SleepingTask one = slept(charge, {});
  const SleepingTask two = slept(charge, {});
  EXPECT_NE(one.id, two.id);
  clock.advance(Duration::minutes(10));
  EXPECT_EQ(worked(charge).completed, 2u);
  EXPECT_THAT(numbers, ElementsAre(1, 1, 2, 2));
}

TEST_F(DurableOperationTest, WaitsForAnOpenBreakerToo) {
  executor_options.breaker_failures = 1;
  executor_options.breaker_wait_min = Duration::seconds(60);
  DurableOperation& charge = operation({failure(Code::unavailable, "no connection"), "charged"},
                                       {.policy = RetryPolicy{.max_attempts = 1}});
  EXPECT_EQ(charge.run("{}").error().code, Code::refused);
  const SleepingTask task = slept(charge);
  EXPECT_EQ(numbers.size(), 1u) << "nothing is sent while it is open";
  EXPECT_GT(task.until, clock.wall_now() + Duration::seconds(1));
  clock.advance(Duration::minutes(2));
  EXPECT_EQ(worked(charge).completed, 1u);
  EXPECT_THAT(numbers, ElementsAre(1, 1));
}

TEST_F(DurableOperationTest, TheSameKeyForAnotherInputIsRefused) {
  DurableOperation& charge = operation({"charged"});
  EXPECT_TRUE(charge.run(R"({"order":17})", {.idempotency_key = "k"}).has_value());
  EXPECT_TRUE(charge.run(R"({ "order" : 17 })", {.idempotency_key = "k"}).has_value());
  EXPECT_EQ(charge.run(R"({"order":18})", {.idempotency_key = "k"}).error().code, Code::invalid);
}

TEST_F(DurableOperationTest, AQueueWhoseClockIsAheadDoesNotSendItEarly) {
  MovedClock slow;
  executor.emplace(Executor::make({}, &slow).value());
  DurableOperation& charge =
      operation({std::unexpected(not_now(Duration::minutes(10))), "charged"});
  slept(charge);
  clock.advance(Duration::minutes(10));
  EXPECT_EQ(worked(charge).rescheduled, 1u);
  EXPECT_EQ(numbers.size(), 1u) << "by our clock no time has passed";
  slow.advance(Duration::minutes(10));
  clock.advance(Duration::minutes(10));
  EXPECT_EQ(worked(charge).completed, 1u);
}

TEST_F(DurableOperationTest, WhatIsNoSleepingOperationFails) {
  DurableOperation& charge = operation({"charged"});
  const auto task = queue.submit("charge", R"({"order":17})");
  EXPECT_EQ(worked(charge).failed, 1u);
  EXPECT_THAT(queue.get(task->id)->last_error, HasSubstr("cannot go on"));
  EXPECT_TRUE(numbers.empty());
}

TEST_F(DurableOperationTest, ItsTrailGoesOnInTheSameLog) {
  const TempFolder folder;
  executor_options.audit = "file:" + (folder.path() / "audit.jsonl").string();
  {
    DurableOperation& charge =
        operation({std::unexpected(not_now(Duration::minutes(10))), "charged"});
    slept(charge, {.idempotency_key = "k", .correlation_id = "c-1"});
    clock.advance(Duration::minutes(10));
    worked(charge);
    operations.clear();
    executor.reset();
  }
  std::ifstream log(folder.path() / "audit.jsonl");
  std::string kinds;
  for (std::string line; std::getline(log, line);) {
    EXPECT_THAT(line, HasSubstr(R"("correlation_id":"c-1")"));
    const std::string_view from = R"("event_type":")";
    const auto begin = line.find(from) + from.size();
    kinds += line.substr(begin, line.find('"', begin) - begin) + " ";
  }
  EXPECT_EQ(kinds,
            "retry_attempt idempotency operation_slept operation_resumed retry_succeeded "
            "idempotency ");
}

TEST_F(DurableOperationTest, WantsAllItNeeds) {
  Executor keys = Executor::make().value();
  const auto charge = [](const std::string&, const Attempt&) -> Result<std::string> { return ""; };
  const auto error = [&](Queue& in, DurableOptions options) {
    return DurableOperation::make(keys, in, std::move(options), charge).error().message;
  };
  EXPECT_THAT(error(queue, {}), HasSubstr("needs a name"));
  EXPECT_THAT(error(queue, {.name = "charge", .sleep_from = {}}), HasSubstr("it must last"));
  EXPECT_THAT(error(queue, {.name = "charge", .policy = RetryPolicy{.max_attempts = 0}}),
              HasSubstr("max_attempts"));
  const TempFolder folder;
  Queue lasting = Queue::open("dir:" + (folder.path() / "queue").string()).value();
  EXPECT_THAT(error(lasting, {.name = "charge"}), HasSubstr("end with this process"));
  DurableOperation& good = operation({"charged"});
  EXPECT_EQ(good.run("{").error().code, Code::invalid);
  EXPECT_EQ(good.run('"' + std::string(256 * 1024, 'x') + '"').error().code, Code::invalid);
}

}  // namespace
}  // namespace pawl
