// Goal: a version is one line in the seed's form, whatever texts it has in it.
// Method: each reason by hand. The whole history of a task is in machine_test.cc.
#include "core/queue/task.h"

#include <gtest/gtest.h>

namespace pawl::queue {
namespace {

std::string line(Version version) {
  return to_string(version, 9);
}

TEST(Version, SaysWhatATaskBecameAndWhy) {
  EXPECT_EQ(line({}), "Version 9: pending (created)");
  EXPECT_EQ(line({.status = Status::completed, .reason = Reason::completed}),
            "Version 9: completed");
  EXPECT_EQ(line({.status = Status::expired, .reason = Reason::expired}), "Version 9: expired");
  EXPECT_EQ(line({.status = Status::failed, .reason = Reason::failed}), "Version 9: failed");
  EXPECT_EQ(line({.status = Status::cancelled, .reason = Reason::cancelled}),
            "Version 9: cancelled");
  EXPECT_EQ(line({.reason = Reason::replayed}), "Version 9: pending (replayed)");
}

TEST(Version, TellsDelaysInSecondsToTheMillisecond) {
  const auto delayed = [](Duration delay) {
    return line({.reason = Reason::rescheduled, .delay = delay, .count = 3});
  };
  EXPECT_EQ(delayed({}), "Version 9: pending (rescheduled, available_at: +0s, count: 3)");
  EXPECT_EQ(line({.reason = Reason::rescheduled}), "Version 9: pending (given back)");
  EXPECT_EQ(delayed(Duration::minutes(2)),
            "Version 9: pending (rescheduled, available_at: +120s, count: 3)");
  EXPECT_EQ(delayed(Duration::milliseconds(1'250)),
            "Version 9: pending (rescheduled, available_at: +1.25s, count: 3)");
  EXPECT_EQ(delayed(Duration::nanoseconds(7'005'999'999)),
            "Version 9: pending (rescheduled, available_at: +7.005s, count: 3)");
}

TEST(Version, StaysOnOneLine) {
  EXPECT_EQ(line({.status = Status::failed, .reason = Reason::failed, .detail = "a\r\nb\x1b[31m"}),
            "Version 9: failed (a  b [31m)");
  EXPECT_EQ(line({.status = Status::running, .reason = Reason::claimed, .worker = "w\n1"}),
            "Version 9: running (claimed by w 1)");
}

}  // namespace
}  // namespace pawl::queue
