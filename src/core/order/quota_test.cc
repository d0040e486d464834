// Goal: the weekly limit by UTC weeks from Monday, and its words as users search for them.
// Method: the instants and the texts of the requirement, word for word.
#include "core/order/quota.h"

#include <gtest/gtest.h>

#include "core/order/order_fixture.h"

namespace pawl::order {
namespace {

Instant at(std::string_view text) {
  return parse_instant(text).value();
}

Quota quota_of(std::int64_t used, std::int64_t limit = 5) {
  return {.used = used, .limit = limit, .week_start = at("2025-12-01T00:00:00Z")};
}

TEST(FrequencyLimit, CountsWeeksFromMondayInUtc) {
  EXPECT_EQ(week_text(at("2025-12-03T15:30:00Z")), "2025-12-01");
  EXPECT_EQ(week_text(at("2025-12-07T23:59:59.999Z")), "2025-12-01");
  EXPECT_EQ(week_text(at("2025-12-08T00:00:00Z")), "2025-12-08");
  EXPECT_EQ(week_text(at("2025-12-08T07:00:00+08:00")), "2025-12-01") << "Sunday 23:00 in UTC";
  EXPECT_EQ(week_text(at("2024-12-31T12:00:00Z")), "2024-12-30") << "across the year's end";
}

TEST(FrequencyLimit, WeekBoundaryCalculation) {
  EXPECT_EQ(week_text(at("2025-12-07T23:59:59Z")), "2025-12-01");
  EXPECT_EQ(week_text(at("2025-12-08T00:00:00Z")), "2025-12-08");
}

TEST(FrequencyLimit, HandleLeapSecondsAndDst) {
  // Europe and America set their clocks on these Sundays; UTC does not.
  for (const char* sunday :
       {"2025-03-30T23:59:59Z", "2025-10-26T23:59:59Z", "2025-03-09T23:59:59Z"}) {
    const Instant last = at(sunday);
    EXPECT_NE(week_text(last), week_text(last + second)) << sunday;
    EXPECT_EQ(week_text(last + second), week_text(last + Duration::days(7))) << sunday;
  }
  // The last leap second, at the end of Saturday 2016-12-31, is no second of its own here.
  EXPECT_EQ(week_text(at("2016-12-31T23:59:59Z")), "2016-12-26");
  EXPECT_EQ(week_text(at("2017-01-01T00:00:00Z")), "2016-12-26");
  EXPECT_EQ(week_text(at("2017-01-02T00:00:00Z")), "2017-01-02");
}

TEST(FrequencyLimit, HasRoomBelowItsLimit) {
  EXPECT_TRUE(has_room(quota_of(4)));
  EXPECT_FALSE(has_room(quota_of(5)));
  EXPECT_FALSE(has_room(quota_of(6)));
  Quota disabled = quota_of(9);
  disabled.enabled = false;
  EXPECT_TRUE(has_room(disabled));
}

TEST(FrequencyLimit, LeavesOutReduceOnlyOrdersOnlyWhereTheVenueHoldsThemToIt) {
  Order order = swap_order();
  EXPECT_TRUE(counts({}, order, true));
  order.reduce_only = true;
  EXPECT_FALSE(counts({}, order, true));
  EXPECT_TRUE(counts({}, order, false)) << "the caller's word alone";
  EXPECT_TRUE(counts({.exclude_reduce_only = false}, order, true));
}

TEST(FrequencyLimit, SaysItInTheWordsUsersSearchFor) {
  EXPECT_EQ(passed_text(quota_of(4), swap_order()),
            "Order frequency check passed: 4/5 orders this week (week starting 2025-12-01), "
            "placing order BTC-USDT-SWAP buy 0.1");
  EXPECT_EQ(rejected_text(quota_of(5), swap_order()),
            "Order rejected: weekly limit exceeded (5/5 orders, week starting 2025-12-01), order "
            "BTC-USDT-SWAP buy 0.1 not placed");
  Order closing = swap_order();
  closing.side = Side::sell;
  EXPECT_EQ(reduce_only_text(quota_of(5), closing),
            "Reduce-only order BTC-USDT-SWAP sell 0.1 allowed despite limit (5/5 orders this week, "
            "excluded from count)");
  EXPECT_EQ(exceeded_text(quota_of(5)), "Weekly order limit exceeded: 5/5 orders placed this week");
  EXPECT_EQ(unverified_text("locked"),
            "Order rejected: unable to verify frequency limit (database error): locked");
}

}  // namespace
}  // namespace pawl::order
