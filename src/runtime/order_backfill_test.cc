// Goal:   order_history is filled from what venues keep, twice without duplicates.
// Method: pages of a fake venue.
#include <gmock/gmock.h>

#include "runtime/order_desk_fixture.h"

namespace pawl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class OrderBackfill : public OrderDeskTest {
 protected:
  order::VenueOrder an_old_one(const std::string& id, Duration ago) {
    return {.order_id = id,
            .instrument = "BTC-USDT-SWAP",
            .type = "limit",
            .size = *parse_decimal("0.1"),
            .life = order::Life::filled,
            .placed_at = clock.wall_now() - ago};
  }
  Later<BackfillSummary> backfill(const std::string& of = "") {
    Later<BackfillSummary> later;
    desk->backfill(
        {.from = clock.wall_now() - Duration::days(7), .to = clock.wall_now(), .venue = of},
        [this](const BackfillProgress& seen) { progress.push_back(seen); }, later.done());
    return later;
  }
  std::vector<BackfillProgress> progress;
};

TEST_F(OrderBackfill, InsertsAllPagesOnce) {
  venue.pages = {
      {.orders = {an_old_one("1", Duration::hours(1)), an_old_one("2", Duration::days(1))},
       .next = "1",
       .note = "canceled orders without fills are kept for 2 hours"},
      {.orders = {an_old_one("3", Duration::days(3))}}};
  const auto first = backfill();
  EXPECT_EQ(first.value().inserted, 3U);
  EXPECT_THAT(first.value().notes,
              ElementsAre("canceled orders without fills are kept for 2 hours"));
  EXPECT_EQ(backfill().value().inserted, 0U);
  EXPECT_THAT(intents.history(), SizeIs(3));
  ASSERT_GE(progress.size(), 2U);
  EXPECT_EQ(progress[1].pages, 2U);
  EXPECT_EQ(progress[1].reached, clock.wall_now() - Duration::days(3));
  EXPECT_EQ(told<desk::Backfilled>()[0].inserted, 3U);
}

TEST_F(OrderBackfill, IsOnRecordWhereItAddsToWhatTheLimitCounts) {
  venue.pages = {{.orders = {an_old_one("1", Duration::hours(1))}, .next = "1"},
                 {.orders = {an_old_one("2", Duration::days(1))}}};
  EXPECT_EQ(backfill().value().inserted, 2U);
  const auto count = [&] {
    return std::ranges::count(sink.events(), "backfill_orders", &audit::Event::operation);
  };
  ASSERT_EQ(count(), 2);
  const audit::Event event = sink.events().front();
  EXPECT_EQ(event.type, audit::EventType::config);
  EXPECT_EQ(event.details[0], (std::pair<std::string_view, json::Value>("venue", "okx")));
  EXPECT_EQ(event.details[1], (std::pair<std::string_view, json::Value>("inserted", 1)));
  EXPECT_EQ(backfill().value().inserted, 0U);
  EXPECT_EQ(count(), 2);
}

TEST_F(OrderBackfill, EndsBetweenTwoPagesWhenTheDeskDrains) {
  venue.pages = {{.orders = {an_old_one("1", Duration::hours(1))}, .next = "1"},
                 {.orders = {an_old_one("2", Duration::days(1))}, .next = "2"},
                 {.orders = {an_old_one("3", Duration::days(2))}}};
  Later<BackfillSummary> later;
  desk->backfill(
      {.from = clock.wall_now() - Duration::days(7), .to = clock.wall_now()},
      [this](const BackfillProgress&) { desk->drain([](const Result<void>&) {}); }, later.done());
  EXPECT_EQ(later.error().code, Code::unavailable);
  EXPECT_THAT(later.error().message, HasSubstr("(orders added, which stay: 2)"));
  EXPECT_THAT(intents.history(), SizeIs(2)) << "the page that was under way is kept";
}

TEST_F(OrderBackfill, CountsAnOrderOfTwoListsOnce) {
  venue.pages = {
      {.orders = {an_old_one("1", Duration::hours(1))}, .next = "1"},
      {.orders = {an_old_one("1", Duration::hours(1)), an_old_one("2", Duration::days(1))}}};
  const auto filled = backfill();
  EXPECT_EQ(filled.value().orders, 2U);
  EXPECT_EQ(filled.value().inserted, 2U);
  EXPECT_EQ(progress.back().orders, 2U);
}

TEST_F(OrderBackfill, TellsHowFarItIsThroughEveryList) {
  const auto half_way = Duration::hours(84);  // of seven days
  venue.pages = {{.orders = {an_old_one("1", half_way)}, .next = "1", .lists_done = 0, .lists = 4},
                 {.next = "2", .lists_done = 1, .lists = 4},
                 {.next = "3", .lists_done = 2, .lists = 4},
                 {.lists_done = 4, .lists = 4}};
  backfill();
  std::vector<int> done;
  for (const BackfillProgress& each : progress) done.push_back(each.done_milli);
  EXPECT_THAT(done, ElementsAre(125, 250, 500, 1000));
}

TEST_F(OrderBackfill, IsRefusedWhereNoVenueIsConfigured) {
  desk = std::make_unique<OrderDesk>(OrderDesk::Options{},
                                     OrderDesk::Ports{.clock = clock,
                                                      .timers = timers,
                                                      .entropy = entropy,
                                                      .store = *store,
                                                      .counters = counters},
                                     std::vector<OrderDesk::VenueSeat>());
  EXPECT_EQ(backfill().error().code, Code::not_found);
}

TEST_F(OrderBackfill, LeavesOutWhatWasNeverPlacedOrNotAskedFor) {
  order::VenueOrder refused = an_old_one("1", Duration::hours(1));
  refused.life = order::Life::rejected;
  venue.pages = {{.orders = {refused, an_old_one("2", Duration::days(8))}}};
  EXPECT_EQ(backfill().value().orders, 0U);
}

TEST_F(OrderBackfill, DoesNotCountWhatTheVenueHeldToReducing) {
  order::VenueOrder reduces = an_old_one("1", Duration::minutes(1));
  reduces.reduce_only = true;
  venue.pages = {{.orders = {reduces, an_old_one("2", Duration::minutes(2))}}};
  backfill();
  Later<order::Quota> quota;
  desk->quota(quota.done());
  EXPECT_EQ(quota.value().used, 1);
}

// The venue does not take the reference as it is, and shows the order under another name.
TEST_F(OrderBackfill, KnowsAReferenceByTheVenuesNameForIt) {
  venue.name_begins = "X";
  order::VenueOrder lost = an_old_one("1", Duration::minutes(1));
  lost.reference = "XA-1";
  venue.script = {{.answer = {.sent = order::Sent::unknown}, .lands = true}};
  venue.readings.assign(200, order::Reading{});
  place("A-2");
  ASSERT_THAT(venue.book, SizeIs(1));
  venue.pages = {{.orders = {lost, venue.book[0]}}};
  timers.advance(Duration::milliseconds(1));
  EXPECT_EQ(backfill().value().inserted, 2U);
  Later<order::Quota> quota;
  desk->quota(quota.done());
  EXPECT_EQ(quota.value().used, 2) << "the open one, and the one that is all that is left of A-1";
  const auto again = place("A-1");
  EXPECT_EQ(again.error().code, Code::refused);
  EXPECT_THAT(again.error().message, HasSubstr("The reference 'A-1' is taken"));
  timers.advance(Duration::minutes(1));
  EXPECT_THAT(venue.sent, SizeIs(1));
}

TEST_F(OrderBackfill, NamesAVenueThatIsNotThere) {
  EXPECT_THAT(backfill("kraken").error().message, HasSubstr("kraken"));
  EXPECT_EQ(backfill("kraken").error().code, Code::not_found);
}

}  // namespace
}  // namespace pawl
