// Goal: of one intent there is one task that sleeps, whoever lies down, and however many are over.
// Method: a queue that is its machine alone, with calls that fail before and after the commit.
#include "runtime/sleeping_tasks.h"

#include <gtest/gtest.h>
#include <optional>

#include "runtime/task_queue_fixture.h"

namespace pawl {
namespace {

class SleepingTasksTest : public ::testing::Test {
 protected:
  static queue::TaskId id_of(std::uint8_t number) {
    queue::TaskId id;
    id.bytes[11] = number;
    return id;
  }
  Result<LaidDown> lie_down(std::uint8_t number, std::string input = "{}") {
    std::optional<Result<LaidDown>> laid;
    lay_down(queue,
             {.id = id_of(number),
              .terms = {.type = "pay", .input = std::move(input), .key = "intent"},
              .delay = Duration::minutes(1)},
             [&](Result<LaidDown> said) { laid.emplace(std::move(said)); });
    EXPECT_TRUE(laid.has_value());
    return laid.value_or(Result<LaidDown>(failure(Code::internal, "not told")));
  }
  std::uint64_t claim() {
    clock.advance(Duration::minutes(1));
    std::uint64_t fence = 0;
    queue.claim({.claim = {.worker = "w"}}, [&](const Result<ClaimedTasks>& claimed) {
      fence = claimed->tasks.empty() ? 0 : claimed->tasks.front().fence;
    });
    return fence;
  }
  void complete(std::uint8_t number) {
    queue.give({queue::Complete{.id = id_of(number), .fence = claim(), .output = "null"}},
               [](auto&&) {});
    EXPECT_EQ(queue.machine.find(id_of(number))->status, queue::Status::completed);
  }

  ManualClock clock;
  ManualTimers timers{clock};
  MachineQueue queue{clock, timers};
};

TEST_F(SleepingTasksTest, WhoeverComesSecondSleepsAsTheSameTask) {
  EXPECT_EQ(lie_down(1)->id, id_of(1));
  const auto second = lie_down(2, R"({"other":"facts"})");
  ASSERT_TRUE(second.has_value()) << second.error().message;
  EXPECT_EQ(second->id, id_of(1));
  EXPECT_TRUE(second->joined);
  EXPECT_EQ(second->available_at, clock.wall_now() + Duration::minutes(1));
  EXPECT_EQ(queue.machine.list({}).size(), 1u);
}

TEST_F(SleepingTasksTest, WhatIsOverIsFollowedByAnother) {
  lie_down(1).value();
  complete(1);
  const auto second = lie_down(2, R"({"later":1})");
  ASSERT_TRUE(second.has_value()) << second.error().message;
  EXPECT_EQ(second->id, id_of(2));
  EXPECT_FALSE(second->joined);
  EXPECT_EQ(lie_down(3, R"({"later":2})")->id, id_of(2));
  complete(2);
  EXPECT_EQ(lie_down(4, R"({"later":3})")->id, id_of(4));
}

// It may be about to end, and would take whoever joins with it.
TEST_F(SleepingTasksTest, NobodyJoinsATaskThatRuns) {
  lie_down(1).value();
  EXPECT_NE(claim(), 0u);
  EXPECT_EQ(lie_down(2, R"({"later":1})")->id, id_of(2));
}

TEST_F(SleepingTasksTest, TellsWhetherItMayHaveBeenWritten) {
  queue.give_faults = {MachineQueue::Fault::before, MachineQueue::Fault::after};
  EXPECT_EQ(lie_down(1).error().outcome, Outcome::not_applied);
  EXPECT_TRUE(queue.machine.list({}).empty());
  EXPECT_EQ(lie_down(1).error().outcome, Outcome::unknown);
  EXPECT_EQ(queue.machine.list({}).size(), 1u);
}

TEST_F(SleepingTasksTest, WhatMayNotBeATaskIsAnError) {
  EXPECT_EQ(lie_down(1, "{").error().code, Code::invalid);
}

TEST_F(SleepingTasksTest, LiesDownAgainWithWhatItGoesOnWith) {
  lie_down(1).value();
  const std::uint64_t fence = claim();
  std::optional<Result<LaidDown>> again;
  const auto lie_down_again = [&](std::uint64_t by) {
    lay_down_again(
        queue,
        {.id = id_of(1), .fence = by, .delay = Duration::hours(1), .input = R"({"attempt":2})"},
        [&](Result<LaidDown> said) { again.emplace(std::move(said)); });
  };
  lie_down_again(fence + 1);
  EXPECT_EQ(again->error().code, Code::refused) << "somebody else has it";
  lie_down_again(fence);
  ASSERT_TRUE(again->has_value());
  EXPECT_EQ((*again)->id, id_of(1));
  const queue::Task task = *queue.machine.find(id_of(1));
  EXPECT_EQ(task.terms.input, R"({"attempt":2})");
  EXPECT_EQ(task.available_at, clock.wall_now() + Duration::hours(1));
}

}  // namespace
}  // namespace pawl
