// Goal: doctor tells a clock that is wrong from one that is not. Method: times on both sides of the
// bound. What needs a venue is shown end to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/checks.h"
#include "runtime/manual_clock.h"

namespace pawl::cli {
namespace {

const Instant now = parse_instant("2025-12-03T15:30:00Z").value();

TEST(OrderChecks, WarnOfAClockThatDiffersFromTheVenues) {
  EXPECT_EQ(check_venue_clock("okx", now - Duration::seconds(5), now).health, Health::ok);
  const Finding ahead = check_venue_clock("okx", now - Duration::seconds(6), now);
  EXPECT_EQ(ahead.health, Health::warn);
  EXPECT_THAT(ahead.found, ::testing::HasSubstr("6s ahead of the venue's"));
  const Finding behind = check_venue_clock("okx", now + Duration::minutes(1), now);
  EXPECT_THAT(behind.found, ::testing::HasSubstr("1m behind the venue's"));
  EXPECT_EQ(check_venue_clock("okx", std::nullopt, now).health, Health::warn);
  const Finding close = check_venue_clock("okx", now - Duration::nanoseconds(12'345'678), now);
  EXPECT_THAT(close.found, ::testing::HasSubstr("clock is 12ms ahead of"));
}

TEST(OrderChecks, LookAtNothingWhereNoVenueIsConfigured) {
  ManualClock clock(now);
  EXPECT_TRUE(check_orders(config::Config(), clock).empty());
}

}  // namespace
}  // namespace pawl::cli
