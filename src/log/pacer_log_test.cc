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
            "WARN  rate_limit_reset_scheduled reset_at=2026-01-25T21:15:01.000Z wait_seconds=1 "
            "operation=\"\" status=0 header=\"\" named=\"\"");
  EXPECT_EQ(
      line_of(pacer::ApproachingRateLimit{{.dimension = "Session", .remaining = 2}, "place_order"}),
      "WARN  approaching_rate_limit remaining=2 operation=place_order "
      "reading=\"Session: remaining 2\"");
  EXPECT_EQ(line_of(pacer::RateLimitReopened{.wait = Duration::seconds(1)}),
            "WARN  rate_limit_reopened elsewhere=false wait_seconds=1");
  EXPECT_EQ(line_of(pacer::RateLimitStoreFailed{
                Error(Code::unavailable, Outcome::not_applied, "no connection")}),
            "WARN  rate_limit_store_failed error=\"no connection\"");
  EXPECT_EQ(line_of(pacer::RateLimitNotSent{
                "place_order", Error(Code::refused, Outcome::not_applied, "too late")}),
            "WARN  rate_limit_not_sent operation=place_order error=\"too late\"");
  EXPECT_EQ(line_of(pacer::RateLimitUnrecorded{
                Error(Code::unavailable, Outcome::not_applied, "disk full")}),
            "ERROR rate_limit_unrecorded error=\"disk full\"");
}

TEST(PacerLog, TellsTheHeadersThatWereSeen) {
  const Instant at = parse_instant("2026-01-25T21:15:01.000Z").value();
  const std::vector<limit::Field> fields = {{"X-RateLimit-SessionOrders-Limit", "1"},
                                            {"X-RateLimit-SessionOrders-Remaining", "0"},
                                            {"X-RateLimit-SessionOrders-Reset", "1"},
                                            {"X-RateLimit-AppDay-Remaining", "9"},
                                            {"Retry-After", "1"}};
  const limit::Pushback pushback = limit::parse_pushback(fields, at - Duration::seconds(1));
  EXPECT_EQ(line_of(pacer::RateLimitRefused{"place_order", 429, pushback}),
            "WARN  rate_limit_refused operation=place_order status=429 "
            "retry_at=2026-01-25T21:15:01.000Z readings=\"SessionOrders: limit 1, remaining 0, "
            "reset 2026-01-25T21:15:01.000Z; AppDay: remaining 9\"");
  pacer::RateLimitResetScheduled note{.reset_at = at,
                                      .wait = Duration::seconds(1),
                                      .operation = "place_order",
                                      .status = 429,
                                      .word = pacer::RateLimitResetScheduled::Word::reset,
                                      .reading = pushback.readings[0]};
  EXPECT_EQ(line_of(note),
            "WARN  rate_limit_reset_scheduled reset_at=2026-01-25T21:15:01.000Z wait_seconds=1 "
            "operation=place_order status=429 header=\"SessionOrders: limit 1, remaining 0, reset "
            "2026-01-25T21:15:01.000Z\" named=\"\"");
  note.word = pacer::RateLimitResetScheduled::Word::retry_after;
  note.named = at + Duration::days(2);
  EXPECT_THAT(line_of(note),
              testing::HasSubstr("header=Retry-After named=2026-01-27T21:15:01.000Z"));
}

TEST(PacerLog, WarnsOfIgnoredHeadersOnceAndCountsThem) {
  EXPECT_EQ(line_of(pacer::RateLimitHeadersIgnored{"place", 2, 2}),
            "WARN  rate_limit_headers_ignored operation=place ignored=2 total=2");
  EXPECT_EQ(line_of(pacer::RateLimitHeadersIgnored{"place", 1, 3}),
            "DEBUG rate_limit_headers_ignored operation=place ignored=1 total=3");
}

TEST(PacerLog, RoundsWaitsUp) {
  EXPECT_EQ(line_of(pacer::RateLimitWaiting{"place", Duration::nanoseconds(520'000'001)}),
            "INFO  rate_limit_waiting operation=place wait_seconds=0.53");
  EXPECT_EQ(line_of(pacer::RateLimitTokenWait{"place", Duration::nanoseconds(1), 0.99999}),
            "INFO  rate_limit_token_wait operation=place wait_seconds=0.01 tokens_available=1");
}

}  // namespace
}  // namespace pawl::log
