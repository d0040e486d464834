// Goal:   asking changes nothing, and says what is and what would be.
// Method: a desk on a store in memory and a fake venue.
#include <gmock/gmock.h>

#include "runtime/order_desk_fixture.h"

namespace pawl {
namespace {

using order::Life;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class OrderAsks : public OrderDeskTest {
 protected:
  Later<DryRun> dry_run(const std::string& reference, order::Order order = an_order()) {
    Later<DryRun> later;
    desk->dry_run({.reference = reference, .order = std::move(order)}, later.done());
    return later;
  }
  Later<Placed> status(const std::string& reference, bool look) {
    Later<Placed> later;
    desk->status(reference, look, later.done());
    return later;
  }
};

TEST_F(OrderAsks, TellsTheStatusOfAnOrder) {
  place("A-1");
  EXPECT_EQ(status("A-1", false).value().as, PlacedAs::confirmed);
  EXPECT_EQ(status("A-1", false).value().quota.used, 1);
  EXPECT_EQ(status("A-9", false).error().code, Code::not_found);
}

TEST_F(OrderAsks, LooksAtTheVenueAndRecordsWhatItSees) {
  place("A-1");
  venue.book[0].life = Life::filled;
  EXPECT_EQ(status("A-1", false).value().intent.progress.life, Life::working);
  EXPECT_EQ(status("A-1", true).value().intent.progress.life, Life::filled);
  EXPECT_EQ(intents.history()[0].status, "filled");
}

TEST_F(OrderAsks, RunsDryWithoutKeepingOrSendingAnything) {
  const auto dry = dry_run("A-1");
  EXPECT_TRUE(dry.value().would_send);
  EXPECT_EQ(sent(), 0U);
  EXPECT_THAT(intents.intents(), SizeIs(0));
}

TEST_F(OrderAsks, SaysInADryRunWhatWouldStopTheOrder) {
  options.limit.weekly_max_orders = 1;
  open();
  place("A-1");
  EXPECT_FALSE(dry_run("A-2").value().would_send);
  EXPECT_THAT(dry_run("A-2").value().message, HasSubstr("Weekly order limit exceeded: 1/1"));
  EXPECT_THAT(dry_run("A-1").value().message, HasSubstr("the reference is known"));
  EXPECT_THAT(dry_run("A-1", an_order("0.2")).value().message, HasSubstr("another order"));
}

TEST_F(OrderAsks, TellsTheQuotaInADryRunOfAKnownReference) {
  options.limit.weekly_max_orders = 2;
  open();
  place("A-1");
  const auto dry = dry_run("A-1");
  EXPECT_FALSE(dry.value().would_send);
  EXPECT_EQ(dry.value().quota.used, 1);
  EXPECT_EQ(dry.value().quota.limit, 2);
  EXPECT_EQ(dry_run("A-1", an_order("0.2")).value().quota.used, 1);
}

TEST_F(OrderAsks, KnowsThatWhatNeverLeftMayBePlacedAgain) {
  options.placement.retry.max_attempts = 1;
  open();
  venue.script = {{.answer = {.sent = order::Sent::not_sent, .message = "connection refused"}}};
  place("A-1");
  EXPECT_TRUE(dry_run("A-1").value().would_send);
  EXPECT_FALSE(dry_run("A-1", an_order("0.2")).value().would_send);
  const auto stored = status("A-1", false);
  EXPECT_EQ(stored.value().as, PlacedAs::rejected);
  EXPECT_THAT(stored.value().message, HasSubstr("Nothing was sent: "));
  EXPECT_THAT(stored.value().message, HasSubstr("connection refused"));
}

TEST_F(OrderAsks, ChecksWithTheVenueBeforehand) {
  Later<Precheck> checked;
  desk->precheck(an_order(), checked.done());
  EXPECT_TRUE(checked.value().ok);
  EXPECT_EQ(sent(), 0U);
}

TEST_F(OrderAsks, GivesAPrecheckATurnWhereTheVenueCountsIt) {
  venue.pace_prechecks();
  place("A-1");
  Later<Precheck> checked;
  desk->precheck(an_order(), checked.done());
  EXPECT_THAT(venue.prechecked, SizeIs(0));
  timers.advance(Duration::seconds(1));
  EXPECT_TRUE(checked.value().ok);
  EXPECT_EQ(venue.prechecked.at(0).first - venue.sent.at(0).at, Duration::seconds(1));
}

TEST_F(OrderAsks, GivesAPrecheckNoTurnWhereItReadsOnly) {
  place("A-1");
  Later<Precheck> checked;
  desk->precheck(an_order(), checked.done());
  EXPECT_TRUE(checked.value().ok);
}

TEST_F(OrderAsks, SendsAPrecheckThatMetAGateOnceMoreInATurnOfItsOwn) {
  venue.pace_prechecks();
  const Error gate(Code::unavailable, Outcome::not_applied, "HTTP 401");
  venue.prechecks = {gate};
  Later<Precheck> checked;
  desk->precheck(an_order(), checked.done());
  timers.advance(Duration::seconds(1));
  EXPECT_TRUE(checked.value().ok);
  ASSERT_THAT(venue.prechecked, SizeIs(2));
  EXPECT_EQ(venue.prechecked[1].first - venue.prechecked[0].first, Duration::seconds(1));
  EXPECT_NE(venue.prechecked[0].second, venue.prechecked[1].second);
  venue.prechecks = {gate, gate, gate};
  Later<Precheck> refused;
  desk->precheck(an_order(), refused.done());
  timers.advance(Duration::seconds(5));
  EXPECT_THAT(refused.error().message, HasSubstr("HTTP 401"));
  EXPECT_THAT(venue.prechecked, SizeIs(4));
}

TEST_F(OrderAsks, PrechecksNothingWhenAPersonMustLogIn) {
  venue.pace_prechecks();
  venue.not_ready = Error(Code::refused, Outcome::not_applied, "log in again");
  Later<Precheck> checked;
  desk->precheck(an_order(), checked.done());
  EXPECT_THAT(checked.error().message, HasSubstr("log in again"));
  EXPECT_THAT(venue.prechecked, SizeIs(0));
}

}  // namespace
}  // namespace pawl
