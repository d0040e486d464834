// Goal: each note of a pacer becomes the event, the fields and the level that are promised.
// Method: a line of text for each kind, taken from a sink in memory.
#include "log/pacer_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "log/capture_sink.h"
#include "runtime/manual_clock.h"

namespace pawl::log {
namespace {

namespace pacer = limit::pacer;

std::string line_of(const pacer::Note& note) {
  ManualClock clock(parse_instant("2026-01-25T21:15:00.000Z").value());
  CaptureSink sink;
  Output output(clock, sink, {.level = Level::debug, .format = Format::text});
  write(Logger(output), note);
  const std::vector<std::string> lines = sink.take();
  EXPECT_EQ(lines.size(), 1U);
  return lines.at(0).substr(lines.at(0).find(' ') + 1);
}

TEST(PacerLog, NamesEventsAndFields) {
  EXPECT_EQ(line_of(pacer::RateLimitWaiting{"place_order", Duration::seconds(2)}),
            "INFO  rate_limit_waiting operation=place_order wait_seconds=2");
  EXPECT_EQ(line_of(pacer::RateLimitTokenWait{"place_order", Duration::milliseconds(520), 0.48}),
            "INFO  rate_limit_token_wait operation=place_order wait_seconds=0.52 "
            "tokens_available=0.48");
  EXPECT_EQ(line_of(pacer::RateLimitTokenAcquired{"cancel_order", 0}),
            "DEBUG rate_limit_token_acquired operation=cancel_order tokens_remaining=0");
  EXPECT_EQ(line_of(pacer::RateLimitResetScheduled{
                parse_instant("2026-01-25T21:15:01.000Z").value(), Duration::seconds(1)}),
            "WARN  rate_limit_reset_scheduled reset_at=2026-01-25T21:15:01.000Z wait_seconds=1");
  EXPECT_EQ(line_of(pacer::ApproachingRateLimit{2, "place_order"}),
            "WARN  approaching_rate_limit remaining=2 operation=place_order");
  EXPECT_EQ(line_of(pacer::RateLimitStoreFailed{
                Error(Code::unavailable, Outcome::not_applied, "no connection")}),
            "WARN  rate_limit_store_failed error=\"no connection\"");
}

TEST(PacerLog, RoundsWaitsUp) {
  EXPECT_EQ(line_of(pacer::RateLimitWaiting{"place", Duration::nanoseconds(520'000'001)}),
            "INFO  rate_limit_waiting operation=place wait_seconds=0.53");
  EXPECT_EQ(line_of(pacer::RateLimitTokenWait{"place", Duration::nanoseconds(1), 0.99999}),
            "INFO  rate_limit_token_wait operation=place wait_seconds=0.01 tokens_available=1");
}

}  // namespace
}  // namespace pawl::log
