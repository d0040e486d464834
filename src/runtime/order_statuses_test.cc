// Goal:   orders that are filled or canceled are recorded as such, once, and still count.
// Method: a venue whose book changes; polls and words of its channel.
#include <gmock/gmock.h>

#include "base/bounds.h"
#include "runtime/order_desk_fixture.h"

namespace pawl {
namespace {

using order::Life;
using ::testing::SizeIs;

class OrderStatuses : public OrderDeskTest {
 protected:
  std::size_t poll() {
    Later<std::size_t> later;
    desk->poll_statuses(later.done());
    return later.value();
  }
};

TEST_F(OrderStatuses, RecordsAFilledOrderOnce) {
  place("A-1");
  EXPECT_EQ(poll(), 1U);
  EXPECT_THAT(told<desk::StatusUpdated>(), SizeIs(0));
  venue.book[0].life = Life::filled;
  EXPECT_EQ(poll(), 1U);
  EXPECT_EQ(poll(), 0U);
  ASSERT_THAT(told<desk::StatusUpdated>(), SizeIs(1));
  EXPECT_EQ(told<desk::StatusUpdated>()[0].life, Life::filled);
  EXPECT_EQ(told<desk::StatusUpdated>()[0].ids.external_reference, "A-1");
  EXPECT_EQ(intents.history()[0].status, "filled");
}

TEST_F(OrderStatuses, StillCountsACanceledOrder) {
  place("A-1");
  venue.book[0].life = Life::canceled;
  poll();
  EXPECT_EQ(intents.history()[0].status, "canceled");
  Later<order::Quota> quota;
  desk->quota(quota.done());
  EXPECT_EQ(quota.value().used, 1);
}

TEST_F(OrderStatuses, HearsTheVenuesOwnChannel) {
  place("A-1");
  order::VenueOrder order = venue.book[0];
  order.life = Life::filled;
  venue.told(order);
  desk->seen("okx", order);
  EXPECT_THAT(told<desk::StatusUpdated>(), SizeIs(1));
  EXPECT_EQ(kept("A-1").progress.life, Life::filled);
}

TEST_F(OrderStatuses, PassesOverOrdersThatTheVenueNoLongerShows) {
  place("A-1");
  place("A-2");
  timers.advance(Duration::seconds(1));
  venue.book.erase(venue.book.begin());
  venue.book[0].life = Life::filled;
  EXPECT_EQ(poll(), 2U);
  EXPECT_THAT(told<desk::StatusUpdated>(), SizeIs(1));
}

// More than one round looks at.
TEST_F(OrderStatuses, LooksAtAllInTurnHoweverManyThereAre) {
  MemoryIntentStore other(intents);
  for (std::size_t i = 0; i < bounds::orders_polled_max + 2; ++i) {
    const std::string id = std::to_string(i);
    const order::Progress placed{.status = order::Status::confirmed,
                                 .request_id = "r",
                                 .order_id = id,
                                 .life = Life::working};
    other.open({.reference = id, .order = an_order(), .counts = false, .now = clock.wall_now()},
               [&](const Result<Opening>& opening) {
                 other.save(std::get<OpenedIntent>(*opening).intent.id, placed, [](auto) {});
               });
    venue.book.push_back({.order_id = id, .life = Life::working});
  }
  venue.book.back().life = Life::filled;
  EXPECT_EQ(poll(), bounds::orders_polled_max);
  EXPECT_THAT(told<desk::StatusUpdated>(), SizeIs(0));
  EXPECT_EQ(poll(), 2U) << "those that the first round did not come to";
  EXPECT_THAT(told<desk::StatusUpdated>(), SizeIs(1));
  venue.book.front().life = Life::filled;
  EXPECT_EQ(poll(), bounds::orders_polled_max) << "and from the start again";
  EXPECT_THAT(told<desk::StatusUpdated>(), SizeIs(2));
}

TEST_F(OrderStatuses, GoesOnBehindAnOrderThatTheVenueDoesNotAnswerFor) {
  place("A-1");
  place("A-2");
  timers.advance(Duration::seconds(1));
  venue.book[1].life = Life::filled;
  venue.not_looked_at = {venue.book[0].order_id};
  EXPECT_EQ(poll(), 1U);
  EXPECT_THAT(told<desk::StatusUpdated>(), SizeIs(0));
  EXPECT_EQ(poll(), 1U);
  EXPECT_THAT(told<desk::StatusUpdated>(), SizeIs(1)) << "it does not stand before the others";
  venue.not_looked_at.clear();
  EXPECT_EQ(poll(), 1U);
}

TEST_F(OrderStatuses, IgnoresAChannelThatSpeaksAfterTheEnd) {
  place("A-1");
  const auto late = venue.told;
  order::VenueOrder order = venue.book[0];
  order.life = Life::filled;
  desk.reset();
  late(order);
  EXPECT_THAT(told<desk::StatusUpdated>(), SizeIs(0));
}

}  // namespace
}  // namespace pawl
