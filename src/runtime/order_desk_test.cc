// Goal:   a desk that ends leaves nothing behind that the next one cannot settle, and hears calls
//         from any thread.
// Method: drains in every state of an order; desks that go half-way; threads.
#include "runtime/order_desk.h"

#include <gmock/gmock.h>
#include <thread>

#include "runtime/order_desk_fixture.h"

namespace pawl {
namespace {

using order::Sent;
using order::Status;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class OrderDeskEnd : public OrderDeskTest {
 protected:
  Later<void> drain() {
    Later<void> later;
    desk->drain(later.done());
    return later;
  }
};

TEST_F(OrderDeskEnd, WaitsForWhatIsOnTheWire) {
  venue.script = {{.answer = {.sent = Sent::accepted}, .lands = true, .held = true}};
  const auto placed = place("A-1");
  const auto drained = drain();
  EXPECT_FALSE(drained.is_over());
  venue.answer_held();
  EXPECT_TRUE(drained.is_over());
  EXPECT_EQ(placed.value().as, PlacedAs::confirmed);
}

TEST_F(OrderDeskEnd, WithdrawsWhatHasNotLeft) {
  place("A-1");
  const auto waits = place("A-2");
  const auto drained = drain();
  EXPECT_TRUE(drained.is_over());
  EXPECT_EQ(waits.error().code, Code::unavailable);
  EXPECT_EQ(kept("A-2").progress.status, Status::rejected);
  EXPECT_EQ(sent(), 1U);
}

TEST_F(OrderDeskEnd, LeavesOpenWhatIsBeingLookedFor) {
  venue.script = {{.answer = {.sent = Sent::unknown}}};
  const auto placed = place("A-1");
  const auto drained = drain();
  EXPECT_TRUE(drained.is_over());
  EXPECT_EQ(placed.value().as, PlacedAs::unresolved);
  EXPECT_THAT(placed.value().message, HasSubstr("the next start goes on with it"));
  EXPECT_EQ(kept("A-1").progress.status, Status::reconciling);
  EXPECT_THAT(store->released, SizeIs(1));
}

TEST_F(OrderDeskEnd, LooksForNothingMoreOnceTheWireIsQuiet) {
  venue.script = {{.answer = {.sent = Sent::unknown}, .held = true}};
  const auto placed = place("A-1");
  const auto drained = drain();
  venue.answer_held();
  timers.advance(Duration::seconds(1));
  EXPECT_TRUE(drained.is_over());
  EXPECT_EQ(placed.value().as, PlacedAs::unresolved);
  EXPECT_NE(kept("A-1").progress.status, Status::rejected);
}

TEST_F(OrderDeskEnd, BeginsNothingMore) {
  drain();
  EXPECT_EQ(place("A-1").error().code, Code::unavailable);
  Later<Changed> canceled;
  desk->cancel("A-1", canceled.done());
  EXPECT_EQ(canceled.error().code, Code::unavailable);
  EXPECT_THAT(intents.intents(), SizeIs(0));
}

TEST_F(OrderDeskEnd, LetsThoseGoWhoWaitForTheStart) {
  venue.script = {{.answer = {.sent = Sent::accepted}, .held = true}};
  place("A-1");
  open();
  const auto placed = place("A-2");
  const auto drained = drain();
  EXPECT_EQ(placed.error().code, Code::unavailable);
  EXPECT_TRUE(drained.is_over());
}

TEST_F(OrderDeskEnd, PassesOverAnswersThatComeAfterIt) {
  venue.script = {{.answer = {.sent = Sent::accepted}, .lands = true, .held = true}};
  const auto placed = place("A-1");
  desk.reset();
  venue.answer_held();
  EXPECT_FALSE(placed.is_over());
  EXPECT_EQ(kept("A-1").progress.status, Status::sending);
}

TEST_F(OrderDeskEnd, HearsCallsFromAnyThread) {
  options.limit.weekly_max_orders = 1'000;
  burst = 1'000;
  open();
  std::vector<Later<Placed>> all(200);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = t; i < all.size(); i += 4) {
        desk->place({.reference = "A-" + std::to_string(i), .order = an_order()}, all[i].done());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  drain();
  for (const auto& each : all) EXPECT_EQ(each.value().as, PlacedAs::confirmed);
  EXPECT_EQ(sent(), 200U);
  EXPECT_EQ(desk->counts().confirmed, 200U);
}

}  // namespace
}  // namespace pawl
