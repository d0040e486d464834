// Goal: a task keeps its counts, texts and history as it changes its state, and what is over is
//       forgotten with its names.
// Method: one machine, one command a segment, time moved by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bounds_queue.h"
#include "core/queue/machine_fixture.h"

namespace pawl::queue {
namespace {

using ::testing::HasSubstr;

TEST_F(MachineTest, CutsAnErrorThatIsTooLongAndSaysSo) {
  submit(1, plain());
  claim();
  fail(1, std::string(10'000, 'x'), true);
  EXPECT_LE(task(1).last_error.size(), bounds::task_error_bytes_max);
  EXPECT_THAT(task(1).last_error, HasSubstr("(cut: it had 10000 bytes)"));
}

TEST_F(MachineTest, FreesAUniqueNameWhenItsTaskIsForgotten) {
  TaskTerms terms = plain();
  terms.unique = "invoice-7";
  submit(1, terms);
  claim();
  complete(1);
  pass(settings_.kept);
  EXPECT_TRUE(std::get<Submitted>(one(Submit{.id = id_of(2), .terms = terms})).fresh);
  EXPECT_FALSE(machine_.find(id_of(1)).has_value());
  EXPECT_EQ(machine_.tasks(), 1U);
}

TEST_F(MachineTest, ShortensAVeryLongHistoryInTheMiddle) {
  submit(1, plain());
  for (std::size_t i = 0; i < bounds::task_versions_max; ++i) {
    claim();
    reschedule(1, {});
  }
  const History history = *machine_.history(id_of(1));
  EXPECT_LE(history.versions.size(), bounds::task_versions_max);
  EXPECT_EQ(history.versions.size() + history.left_out, 2 * bounds::task_versions_max + 1);
  const std::size_t half = bounds::task_versions_max / 2;
  EXPECT_EQ(history.versions[half - 2].count, (half - 2) / 2) << "the first half is whole";
  EXPECT_EQ(history.versions.back().count, bounds::task_versions_max);
}

TEST_F(MachineTest, CountsRetriesAndReschedulesApart) {
  submit(1, plain());
  claim();
  reschedule(1, {});
  claim();
  reschedule(1, {});
  claim();
  EXPECT_EQ(fail(1).available_at, now() + Duration::seconds(1)) << "as after the first failure";
  EXPECT_EQ(task(1).retry_count, 1U);
  EXPECT_EQ(task(1).reschedule_count, 2U);
}

TEST_F(MachineTest, RetriesWithAGrowingWaitUntilNoneIsLeft) {
  submit(1, plain(2));
  claim();
  EXPECT_EQ(fail(1).available_at, now() + Duration::seconds(1));
  pass(Duration::seconds(1));
  claim();
  EXPECT_EQ(fail(1).available_at, now() + Duration::seconds(2));
  pass(Duration::seconds(2));
  claim();
  EXPECT_EQ(fail(1, "still\nno").status, Status::failed);
  EXPECT_EQ(task(1).last_error, "still\nno");
  EXPECT_EQ(task(1).retry_count, 2U);
  EXPECT_EQ(lines(1)[2], "Version 3: pending (retried, available_at: +1s, count: 1: reset)");
  EXPECT_EQ(lines(1).back(), "Version 7: failed (still no)");
}

TEST_F(MachineTest, RetriesNoSoonerThanTheOtherSideSaid) {
  submit(1, plain());
  claim();
  const Reply reply = one(Fail{
      .id = id_of(1), .fence = fence(1), .error = "busy", .not_before = Duration::seconds(45)});
  EXPECT_EQ(std::get<Changed>(reply).available_at, now() + Duration::seconds(45));
}

}  // namespace
}  // namespace pawl::queue
