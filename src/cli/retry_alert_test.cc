// Goal: operators hear of too many retries in the metrics and, once, in the log.
// Method: retries appended by hand, and a look after each.
#include "cli/retry_alert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapter/memory/memory_event_sink.h"
#include "log/capture_sink.h"
#include "runtime/manual_clock.h"

namespace pawl::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(RetryAlert, IsSeenInMetricsAndLog) {
  ManualClock clock;
  log::CaptureSink lines;
  log::Output output(clock, lines, {});
  const log::Logger logger(output);
  metrics::Registry metrics;
  MemoryEventSink sink;
  RetryTally tally(sink);
  RetryAlert alert(tally, 2, {clock, logger, metrics});
  const auto retry = [&] {
    EXPECT_TRUE(tally.append({.type = audit::EventType::retry_attempt,
                              .timestamp = clock.wall_now(),
                              .operation = "o",
                              .correlation = {},
                              .details = {}}));
    alert.tick();
  };
  retry();
  retry();
  EXPECT_THAT(metrics.text(), HasSubstr("pawl_retry_rate_alert 0"));
  EXPECT_THAT(metrics.text(), HasSubstr("pawl_retries_in_last_minute 2"));
  retry();
  retry();
  EXPECT_THAT(metrics.text(), HasSubstr("pawl_retry_rate_alert 1"));
  const auto said = lines.take();
  ASSERT_EQ(said.size(), 1u) << "once, not every second";
  EXPECT_THAT(said[0], HasSubstr("retry_rate_alert"));
  EXPECT_THAT(said[0], HasSubstr("retries_in_last_minute=3"));
  EXPECT_THAT(said[0], HasSubstr("alert_above=2"));
  clock.advance(Duration::minutes(2));
  alert.tick();
  EXPECT_THAT(metrics.text(), HasSubstr("pawl_retry_rate_alert 0"));
  EXPECT_THAT(lines.take(), ElementsAre(HasSubstr("retry_rate_normal")));
}

TEST(RetryAlert, ItsThresholdChangesWithTheConfiguration) {
  ManualClock clock;
  log::CaptureSink lines;
  log::Output output(clock, lines, {});
  const log::Logger logger(output);
  metrics::Registry metrics;
  MemoryEventSink sink;
  RetryTally tally(sink);
  RetryAlert alert(tally, 2, {clock, logger, metrics});
  alert.set_alert_above(0);
  EXPECT_TRUE(tally.append({.type = audit::EventType::retry_attempt,
                            .timestamp = clock.wall_now(),
                            .operation = "o",
                            .correlation = {},
                            .details = {}}));
  alert.tick();
  EXPECT_THAT(metrics.text(), HasSubstr("pawl_retry_rate_alert 1"));
  EXPECT_THAT(metrics.text(), Not(HasSubstr("pawl_retry_rate_alert 0")));
}

}  // namespace
}  // namespace pawl::cli
