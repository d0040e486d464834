// Goal: leases, times to live and delays end by the time of a segment, to the nanosecond.
// Method: one machine, one command a segment, time moved by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/queue/machine_fixture.h"

namespace pawl::queue {
namespace {

using ::testing::ElementsAre;

TEST_F(MachineTest, EndsALeaseByItsTimeAndRetries) {
  submit(1, plain(1));
  claim();
  pass(Duration::milliseconds(29'999));
  tick();
  EXPECT_EQ(status(1), Status::running);
  pass(Duration::milliseconds(1));
  tick();
  EXPECT_EQ(status(1), Status::pending);
  EXPECT_EQ(task(1).last_error, "lease expired");
  EXPECT_EQ(task(1).retry_count, 1U);
  EXPECT_EQ(lines(1).back(), "Version 3: pending (lease expired, available_at: +1s, count: 1)");
  pass(Duration::seconds(1));
  claim();
  pass(Duration::seconds(30));
  tick();
  EXPECT_EQ(status(1), Status::failed);
  EXPECT_EQ(lines(1).back(), "Version 5: failed (lease expired)");
}

TEST_F(MachineTest, ExpiresWhatWaitedForLongerThanItsTimeToLive) {
  one(Submit{.id = id_of(1), .terms = plain(), .time_to_live = Duration::seconds(10)});
  pass(Duration::seconds(10));
  EXPECT_EQ(claim(), std::vector<std::uint32_t>());
  EXPECT_EQ(status(1), Status::expired);
  EXPECT_EQ(lines(1).back(), "Version 2: expired");
}

TEST_F(MachineTest, ExpiresWhatWasTriedAndWaitsAgain) {
  for (const std::uint32_t n : {1U, 2U}) {
    one(Submit{.id = id_of(n), .terms = plain(), .expires = now() + Duration::seconds(10)});
    claim();
  }
  EXPECT_EQ(reschedule(1, Duration::minutes(1)).status, Status::pending) << "it put itself off";
  EXPECT_EQ(fail(2).status, Status::pending) << "it is retried";
  pass(Duration::seconds(10));
  tick();
  EXPECT_EQ(status(1), Status::expired);
  EXPECT_EQ(status(2), Status::expired);
}

TEST_F(MachineTest, LetsARunningTaskLiveAndExpiresItWhenItWouldWaitAgain) {
  one(Submit{.id = id_of(1), .terms = plain(), .expires = now() + Duration::seconds(10)});
  claim();
  pass(Duration::seconds(20));
  tick();
  EXPECT_EQ(status(1), Status::running);
  EXPECT_EQ(reschedule(1, {}).status, Status::expired);
}

TEST_F(MachineTest, TakesVeryLargeDelaysAsNever) {
  submit(1);
  claim();
  EXPECT_EQ(reschedule(1, Duration::max()).available_at, Instant::max());
  pass(Duration::days(365 * 100));
  EXPECT_EQ(claim(), std::vector<std::uint32_t>());
  EXPECT_EQ(why(1).hold, Hold::not_due);
  now_ = Instant::max();
  EXPECT_THAT(claim(), ElementsAre(1)) << "and still in its order at the end of time";
  EXPECT_EQ(task(1).lease_expires_at, Instant::max());
}

TEST_F(MachineTest, KnowsNoTaskTimeoutDuringRescheduleWait) {
  TaskTerms terms = plain(0);
  terms.timeout = Duration::seconds(10);
  submit(1, terms);
  claim();
  reschedule(1, Duration::hours(1));
  for (int i = 0; i < 4; ++i) {
    pass(Duration::minutes(15));
    tick();
    ASSERT_EQ(status(1), Status::pending);
  }
  EXPECT_THAT(claim(), ElementsAre(1));
  EXPECT_EQ(task(1).retry_count, 0U);
}

TEST_F(MachineTest, TakesTimeThatGoesBackAsTimeThatStands) {
  submit(1, plain());
  claim();
  const Instant latest = now();
  now_ = now_ - Duration::hours(5);
  tick();
  EXPECT_EQ(machine_.now(), latest);
  EXPECT_EQ(status(1), Status::running);
}

}  // namespace
}  // namespace pawl::queue
