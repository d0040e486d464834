// Goal:   orders that are placed together leave in one call as far as venue and pace take them, and
//         each has its own intent and answer.
// Method: a venue that shows its calls.
#include "runtime/order_batch.h"

#include <gmock/gmock.h>

#include "runtime/order_desk_fixture.h"

namespace pawl {
namespace {

using order::Sent;
using ::testing::SizeIs;

class OrderBatchTest : public OrderDeskTest {
 protected:
  Later<std::vector<Result<Placed>>> batch(const std::vector<std::string>& references) {
    std::vector<PlaceRequest> requests;
    for (const std::string& reference : references) {
      requests.push_back({.reference = reference, .order = an_order()});
    }
    Later<std::vector<Result<Placed>>> later;
    desk->place_batch(std::move(requests), later.done());
    return later;
  }
};

TEST_F(OrderBatchTest, SendsOneCallWhereThePaceHasRoomForAll) {
  burst = 2;
  open();
  const auto placed = batch({"A-1", "A-2", "A-3"});
  ASSERT_THAT(placed.value(), SizeIs(3));
  EXPECT_THAT(venue.sent, SizeIs(1));
  EXPECT_EQ(placed.value()[2]->intent.reference, "A-3");
  EXPECT_EQ(placed.value()[2]->intent.progress.order_id, "1002");
}

TEST_F(OrderBatchTest, SendsAtThePaceWhereItHasRoomForOne) {
  const auto placed = batch({"A-1", "A-2", "A-3"});
  EXPECT_THAT(venue.sent, SizeIs(1));
  timers.advance(Duration::seconds(2));
  EXPECT_THAT(venue.sent, SizeIs(3));
  EXPECT_THAT(placed.value(), SizeIs(3));
}

TEST_F(OrderBatchTest, GoesWithoutThoseThatAreDeniedOrKnown) {
  burst = 3;
  options.limit.weekly_max_orders = 3;
  open();
  place("A-1");
  timers.advance(Duration::seconds(10));
  const auto placed = batch({"A-1", "A-2", "A-2", "A-3"});
  EXPECT_TRUE(placed.value()[0]->replayed);
  EXPECT_EQ(placed.value()[1]->intent, placed.value()[2]->intent);
  EXPECT_EQ(placed.value()[3]->as, PlacedAs::confirmed);
  ASSERT_THAT(venue.sent, SizeIs(2));
  EXPECT_THAT(venue.sent[1].asks, SizeIs(2));
  const auto denied = batch({"A-4", "A-5"});
  EXPECT_EQ(denied.value()[0]->as, PlacedAs::denied);
  EXPECT_EQ(denied.value()[1]->as, PlacedAs::denied);
  EXPECT_THAT(venue.sent, SizeIs(2));
}

TEST_F(OrderBatchTest, LeavesNothingBehindWhenItsDeskGoesWhileItGathers) {
  burst = 1;
  open();
  store->opens_fail_after = 1;
  const auto token = std::make_shared<int>();
  desk->place_batch(
      {{.reference = "A-1", .order = an_order()}, {.reference = "A-2", .order = an_order()}},
      [token](const Result<std::vector<Result<Placed>>>&) {});
  EXPECT_GT(token.use_count(), 1);
  desk.reset();
  timers.close();
  EXPECT_EQ(token.use_count(), 1) << "somebody still holds its caller";
}

TEST_F(OrderBatchTest, TakesNoTurnBeforeAllOfItAreThere) {
  burst = 1;
  open();
  // The second waits a second for the disk, and the first for the second.
  store->opens_fail_after = 1;
  batch({"A-1", "A-2"});
  timers.advance(Duration::milliseconds(500));
  EXPECT_THAT(venue.sent, SizeIs(0));
  place("A-3");
  place("A-4");
  EXPECT_EQ(sent(), 2U) << "its turns are not taken yet";
  timers.advance(Duration::seconds(3));
  ASSERT_THAT(venue.sent, SizeIs(3));
  EXPECT_THAT(venue.sent[2].asks, SizeIs(2));
}

TEST_F(OrderBatchTest, LeavesAWholeSecondBeforeWhatComesBehindIt) {
  burst = 1;
  open();
  store->opens_fail_after = 1;
  batch({"A-1", "A-2"});
  timers.advance(Duration::seconds(1));
  EXPECT_EQ(sent(), 2U);
  place("A-3");
  timers.advance(Duration::milliseconds(999));
  EXPECT_EQ(sent(), 2U);
  timers.advance(Duration::milliseconds(1));
  EXPECT_EQ(sent(), 3U);
}

TEST_F(OrderBatchTest, GoesWithoutThoseThatGaveUpBeforeAllWereThere) {
  burst = 1;
  open();
  store->opens_fail_after = 1;
  Later<std::vector<Result<Placed>>> later;
  desk->place_batch(
      {{.reference = "A-1", .order = an_order(), .wait_max = Duration::milliseconds(500)},
       {.reference = "A-2", .order = an_order()}},
      later.done());
  timers.advance(Duration::seconds(3));
  EXPECT_FALSE(later.value()[0].has_value() && later.value()[0]->as == PlacedAs::confirmed);
  EXPECT_EQ(later.value()[1]->as, PlacedAs::confirmed);
  ASSERT_THAT(venue.sent, SizeIs(1));
  EXPECT_THAT(venue.sent[0].asks, SizeIs(1));
}

TEST_F(OrderBatchTest, SettlesEachByItsOwnAnswer) {
  burst = 1;
  open();
  venue.script = {{.answer = {.sent = Sent::refused, .message = "no margin"}},
                  {.answer = {.sent = Sent::unknown}, .lands = true}};
  const auto placed = batch({"A-1", "A-2"});
  timers.advance(Duration::seconds(30));
  EXPECT_EQ(placed.value()[0]->as, PlacedAs::rejected);
  EXPECT_EQ(placed.value()[1]->as, PlacedAs::confirmed);
  EXPECT_EQ(sent(), 2U);
}

TEST_F(OrderBatchTest, SaysWhichOfThemNeverLeft) {
  burst = 1;
  options.placement.retry.max_attempts = 1;
  open();
  venue.script = {{.answer = {.sent = Sent::not_sent}},
                  {.answer = {.sent = Sent::accepted}, .lands = true}};
  const auto placed = batch({"A-1", "A-2"});
  EXPECT_EQ(placed.value()[0].error().code, Code::unavailable);
  EXPECT_EQ(placed.value()[1]->as, PlacedAs::confirmed);
}

TEST_F(OrderBatchTest, AnswersNothingForNothing) {
  EXPECT_THAT(batch({}).value(), SizeIs(0));
}

}  // namespace
}  // namespace pawl
