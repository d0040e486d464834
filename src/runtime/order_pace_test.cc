// Goal:   the pacer of a session is woken by timers and hears the venue, while it is there.
// Method: a fake venue, time moved by hand.
#include "runtime/order_pace.h"

#include "runtime/order_desk_fixture.h"

namespace pawl {
namespace {

class OrderPaceTest : public OrderDeskTest {
 protected:
  std::shared_ptr<OrderPace> pace =
      OrderPace::open({.rate = {1, Duration::seconds(1)}},
                      {.clock = clock, .timers = timers, .counters = counters}, venue);
  Later<void> ask() {
    Later<void> later;
    pace->pacer().ask({.operation = "place_order"}, later.done());
    return later;
  }
};

TEST_F(OrderPaceTest, LetsOneLeaveASecond) {
  const auto first = ask();
  const auto second = ask();
  EXPECT_TRUE(first.is_over());
  EXPECT_FALSE(second.is_over());
  timers.advance(Duration::seconds(1));
  EXPECT_TRUE(second.is_over());
}

TEST_F(OrderPaceTest, WaitsForTheResetThatTheVenueNamed) {
  venue.heard(429,
              {{"X-RateLimit-SessionOrders-Remaining", "0"},
               {"X-RateLimit-SessionOrders-Reset", "5"},
               {"X-RateLimit-AppDay-Remaining", "9000"},
               {"X-RateLimit-AppDay-Reset", "40000"}},
              {});
  const auto asked = ask();
  timers.advance(Duration::milliseconds(4'900));
  EXPECT_FALSE(asked.is_over());
  timers.advance(Duration::seconds(2));
  EXPECT_TRUE(asked.is_over());
}

TEST_F(OrderPaceTest, IgnoresAVenueThatSpeaksAfterTheEnd) {
  (void)ask();
  const auto waits = ask();
  const HeardAnswer late = venue.heard;
  const std::weak_ptr<OrderPace> gone = pace;
  pace.reset();
  EXPECT_TRUE(gone.expired()) << "neither the venue nor a timer keeps it";
  late(429, {}, {});
  timers.advance(Duration::minutes(1));
  EXPECT_FALSE(waits.is_over()) << "it was withdrawn";
}

}  // namespace
}  // namespace pawl
