// Goal: a task goes its way from submission to its end, and its history reads as the seed's.
// Method: one machine, one command a segment, time moved by hand. machine_property_test.cc holds
//         the whole against a naive queue.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/queue/machine_fixture.h"

namespace pawl::queue {
namespace {

using ::testing::ElementsAre;

TEST_F(MachineTest, RunsATaskFromSubmissionToItsEnd) {
  submit(1, plain());
  EXPECT_EQ(status(1), Status::pending);
  pass(Duration::seconds(1));
  EXPECT_THAT(claim(), ElementsAre(1));
  const Task running = task(1);
  EXPECT_EQ(running.status, Status::running);
  EXPECT_EQ(running.attempt, 1U);
  EXPECT_EQ(running.worker, "worker-1");
  EXPECT_EQ(running.fence, machine_.sequence());
  EXPECT_EQ(running.lease_expires_at, now() + Duration::seconds(30));
  pass(Duration::seconds(1));
  const Reply reply =
      one(Complete{.id = id_of(1), .fence = running.fence, .output = "{\"sent\":true}"});
  EXPECT_EQ(std::get<Changed>(reply).status, Status::completed);
  EXPECT_EQ(task(1).output, "{\"sent\":true}");
  EXPECT_EQ(task(1).completed_at, now());
  EXPECT_FALSE(task(1).lease_expires_at.has_value());
  EXPECT_EQ(claim(), std::vector<std::uint32_t>());
}

TEST_F(MachineTest, PrintsTheHistoryAsTheSeedDoes) {
  submit(1, plain());
  const auto by = [&](std::string worker) {
    one(Claim{.worker = std::move(worker), .lease = Duration::hours(1)});
  };
  by("worker-1");
  reschedule(1, Duration::seconds(60));
  pass(Duration::seconds(60));
  by("worker-2");
  reschedule(1, Duration::seconds(120));
  pass(Duration::seconds(120));
  by("worker-1");
  complete(1);
  EXPECT_THAT(
      lines(1),
      ElementsAre("Version 1: pending (created)", "Version 2: running (claimed by worker-1)",
                  "Version 3: pending (rescheduled, available_at: +60s, count: 1)",
                  "Version 4: running (claimed by worker-2)",
                  "Version 5: pending (rescheduled, available_at: +120s, count: 2)",
                  "Version 6: running (claimed by worker-1)", "Version 7: completed"));
}

TEST_F(MachineTest, BelievesNoFenceOfItsOwnSegment) {
  submit(1, plain());
  const std::uint64_t next = machine_.sequence() + 1;
  const auto replies =
      all({Claim{.worker = "w"}, Reschedule{.id = id_of(1), .fence = next}, Claim{.worker = "v"}});
  refusal(replies[1]);
  EXPECT_EQ(task(1).worker, "w") << "two claims with one fence could not be told apart";
}

}  // namespace
}  // namespace pawl::queue
