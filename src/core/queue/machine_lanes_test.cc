// Goal: what one key holds up holds up nobody else, in whatever order things end, and a lane that
//       is empty is gone.
// Method: one machine, one command a segment, time moved by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/queue/machine_fixture.h"

namespace pawl::queue {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(MachineTest, ClaimsTenThousandThoughAKeyAmongThemIsBlocked) {
  one(Close{.scope = Scope::key, .name = "blocked", .until = now() + Duration::hours(1)});
  std::vector<Command> commands;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    commands.push_back(Submit{.id = id_of(i), .terms = keyed(i % 2 == 0 ? "blocked" : "open")});
  }
  all(commands);
  std::vector<std::uint32_t> claimed;
  while (claimed.size() < 10'000) {
    const auto more = claim(1'000);
    ASSERT_EQ(more.size(), 1'000U);
    claimed.insert(claimed.end(), more.begin(), more.end());
  }
  EXPECT_TRUE(std::ranges::is_sorted(claimed)) << "first in, first out";
  EXPECT_TRUE(std::ranges::all_of(claimed, [](std::uint32_t number) { return number % 2 == 1; }));
  EXPECT_THAT(claim(1), IsEmpty());
}

TEST_F(MachineTest, LimitsAKeyAcrossTypes) {
  one(SetLimit{.limited = Limited::each_key, .running = 1});
  submit(1, keyed("a", "mail"));
  submit(2, keyed("a", "trade"));
  submit(3, keyed("b", "trade"));
  EXPECT_THAT(claim(9), ElementsAre(1, 3));
  EXPECT_EQ(why(2).hold, Hold::concurrency);
  complete(1);
  EXPECT_THAT(claim(9, {"trade"}), ElementsAre(2));
}

TEST_F(MachineTest, GoesOnWithAKeyWhenOneOfItsTasksEndsHoweverItEnds) {
  one(SetLimit{.limited = Limited::key, .name = "a", .running = 1});
  for (std::uint32_t i = 1; i <= 5; ++i) submit(i, keyed("a"));
  ASSERT_THAT(claim(9), ElementsAre(1));
  fail(1, "no", true);
  ASSERT_THAT(claim(9), ElementsAre(2));
  reschedule(2, Duration::hours(1));
  ASSERT_THAT(claim(9), ElementsAre(3));
  one(Cancel{.id = id_of(4)});
  pass(Duration::seconds(30));
  EXPECT_THAT(claim(9), ElementsAre(5)) << "a lease ended, and what was cancelled is skipped";
}

TEST_F(MachineTest, KeepsTheOrderOfTasksThatWaitedInALaneAmongOthers) {
  one(SetLimit{.limited = Limited::key, .name = "a", .running = 1});
  submit(1, keyed("a"));
  submit(2, keyed("a"));
  submit(3, keyed("b"));
  TaskTerms urgent = keyed("a");
  urgent.priority = 1;
  ASSERT_THAT(claim(1), ElementsAre(1));
  ASSERT_THAT(claim(1), ElementsAre(3)) << "2 has gone to the lane of its key";
  submit(4, keyed("b"));
  submit(5, urgent);
  complete(1);
  EXPECT_THAT(claim(9), ElementsAre(5, 4));
  complete(5);
  EXPECT_THAT(claim(9), ElementsAre(2));
}

TEST_F(MachineTest, LosesNoLaneWhenMostOfItsTasksAreCancelled) {
  one(Close{.scope = Scope::key, .name = "a", .until = now() + Duration::seconds(9)});
  std::vector<Command> commands;
  for (std::uint32_t i = 0; i < 1'000; ++i) {
    commands.push_back(Submit{.id = id_of(i), .terms = keyed(i % 10 == 0 ? "b" : "a")});
  }
  all(commands);
  ASSERT_EQ(claim(1'000).size(), 100U);
  commands.clear();
  for (std::uint32_t i = 0; i < 998; ++i) commands.push_back(Cancel{.id = id_of(i)});
  all(commands);
  EXPECT_EQ(machine_.stats(now()).types[0].due, 2U);
  pass(Duration::seconds(10));
  EXPECT_THAT(claim(9), ElementsAre(998, 999));
}

TEST_F(MachineTest, OpensAKeyThatWaitsForTimeWhenItsLimitGoes) {
  one(SetLimit{.limited = Limited::each_key, .rate = 1, .period = Duration::hours(1)});
  submit(1, keyed("a"));
  submit(2, keyed("a"));
  ASSERT_THAT(claim(9), ElementsAre(1));
  ASSERT_EQ(machine_.claimable({}, now(), 9), 0U);
  one(SetLimit{.limited = Limited::each_key});
  EXPECT_EQ(machine_.claimable({}, now(), 9), 1U);
  EXPECT_THAT(claim(9), ElementsAre(2));
}

TEST_F(MachineTest, KeepsTheLanesOfEveryTypeApart) {
  std::uint32_t number = 0;
  const Instant until = now() + Duration::hours(1);
  for (const std::string key : {"a", "b", "c", "d"}) {
    one(Close{.scope = Scope::key, .name = key, .until = until});
    pass(Duration::seconds(1));
    for (const std::string type : {"mail", "trade"}) submit(++number, keyed(key, type));
  }
  const Instant last = now();
  EXPECT_EQ(claim(9), std::vector<std::uint32_t>()) << "each goes to its lane";
  one(Close{.scope = Scope::key, .name = "a", .until = now()});  // 1 and 2
  EXPECT_THAT(claim(9, {"mail"}), ElementsAre(1));
  for (const std::uint32_t gone : {3U, 5U}) one(Cancel{.id = id_of(gone)});
  EXPECT_EQ(machine_.stats(now()).types[0].oldest_due, last) << "its last lane is still known";
  EXPECT_EQ(machine_.stats(now()).types[1].oldest_due, last - Duration::seconds(3));
  one(Close{.scope = Scope::key, .name = "d", .until = now()});  // 7 and 8
  EXPECT_EQ(machine_.claimable({}, now(), 9), 3U);
  EXPECT_THAT(claim(9), ElementsAre(2, 7, 8));
  one(Cancel{.id = id_of(4)});
  one(Close{.scope = Scope::key, .name = "c", .until = now()});
  EXPECT_THAT(claim(9), ElementsAre(6));
}

}  // namespace
}  // namespace pawl::queue
