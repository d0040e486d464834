// Goal:   an intent is worked on until its outcome is known and on record: paced, repeated only
//         when that is safe, looked for when it is not.
// Method: a venue whose book and answers part ways as the script says; time moved by hand.
#include "runtime/order_work.h"

#include <gmock/gmock.h>

#include "runtime/order_desk_fixture.h"

namespace pawl {
namespace {

using order::Sent;
using order::Status;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using OrderWorkTest = OrderDeskTest;

TEST_F(OrderWorkTest, SendsOneOrderASecond) {
  std::vector<Later<Placed>> all;
  for (const char* reference : {"A-1", "A-2", "A-3"}) all.push_back(place(reference));
  EXPECT_EQ(sent(), 1U);
  timers.advance(Duration::seconds(2));
  ASSERT_EQ(sent(), 3U);
  EXPECT_EQ(venue.sent[1].at - venue.sent[0].at, Duration::seconds(1));
  EXPECT_EQ(venue.sent[2].at - venue.sent[1].at, Duration::seconds(1));
  for (const auto& each : all) EXPECT_EQ(each.value().as, PlacedAs::confirmed);
}

TEST_F(OrderWorkTest, LetsReduceOnlyPassTheOthers) {
  place("A-1");
  const auto waits = place("A-2");
  order::Order reduces = an_order();
  reduces.reduce_only = true;
  place("A-3", reduces);
  timers.advance(Duration::seconds(2));
  ASSERT_EQ(sent(), 3U);
  EXPECT_EQ(venue.sent[1].asks[0].reference, "A-3");
  EXPECT_EQ(venue.sent[2].asks[0].reference, "A-2");
}

TEST_F(OrderWorkTest, AdoptsAnOrderWhoseAnswerGotLost) {
  venue.script = {{.answer = {.sent = Sent::unknown, .message = "timed out"}, .lands = true}};
  const auto placed = place("A-1");
  EXPECT_EQ(placed.value().as, PlacedAs::confirmed);
  EXPECT_EQ(placed.value().intent.progress.order_id, "1000");
  EXPECT_EQ(sent(), 1U);
  EXPECT_TRUE(was_told(order::Told::order_found_in_reconciliation));
}

TEST_F(OrderWorkTest, SendsAgainUnderANewIdOnlyOnceAbsenceIsEarned) {
  venue.script = {{.answer = {.sent = Sent::unknown, .message = "timed out"}}};
  const auto placed = place("A-1");
  timers.advance(Duration::milliseconds(19'999));
  EXPECT_EQ(sent(), 1U);
  EXPECT_FALSE(placed.is_over());
  timers.advance(Duration::seconds(5));
  ASSERT_EQ(sent(), 2U);
  EXPECT_GE(venue.sent[1].at - venue.sent[0].at, Duration::seconds(21));
  EXPECT_NE(venue.sent[1].asks[0].request_id, venue.sent[0].asks[0].request_id);
  EXPECT_EQ(venue.sent[1].asks[0].reference, "A-1");
  EXPECT_EQ(placed.value().as, PlacedAs::confirmed);
  EXPECT_EQ(placed.value().intent.progress.attempts, 2);
}

TEST_F(OrderWorkTest, IsNotHurriedByAWallClockThatJumps) {
  venue.script = {{.answer = {.sent = Sent::unknown}}};
  const auto placed = place("A-1");
  clock.set_wall(clock.wall_now() + Duration::hours(3));
  timers.advance(Duration::seconds(19));
  EXPECT_EQ(sent(), 1U);
  EXPECT_FALSE(placed.is_over());
}

TEST_F(OrderWorkTest, LeavesUnresolvedWhatOnlyLooksAbsent) {
  const order::Reading partly{.sources = {{.source = "history"}}, .why_not_whole = "no answer"};
  venue.script = {{.answer = {.sent = Sent::unknown}}};
  for (int i = 0; i < 100; ++i) venue.readings.push_back(partly);
  const auto placed = place("A-1");
  timers.advance(Duration::minutes(5));
  EXPECT_EQ(placed.value().as, PlacedAs::unresolved);
  EXPECT_EQ(sent(), 1U);
  EXPECT_EQ(kept("A-1").progress.status, Status::unresolved);
  EXPECT_EQ(placed.value().quota.used, 1);
  EXPECT_EQ(desk->counts().unresolved, 1U);
}

TEST_F(OrderWorkTest, LeavesTwoOrdersForOneReferenceToAPersonWithBothIds) {
  venue.script = {{.answer = {.sent = Sent::unknown}, .lands = true}};
  venue.book.push_back({.order_id = "777",
                        .reference = "A-1",
                        .instrument = "BTC-USDT-SWAP",
                        .size = *parse_decimal("0.1"),
                        .price = *parse_decimal("50000"),
                        .life = order::Life::working});
  const auto placed = place("A-1");
  timers.advance(Duration::minutes(5));
  EXPECT_EQ(placed.value().as, PlacedAs::unresolved);
  std::string evidence;
  for (const order::Evidence& each : placed.value().intent.progress.evidence) {
    evidence += each.says + "\n";
  }
  EXPECT_THAT(evidence, HasSubstr("777"));
  EXPECT_THAT(evidence, HasSubstr("1001"));
}

TEST_F(OrderWorkTest, WaitsAsLongAsTheVenueSaysBeforeItSendsAgain) {
  venue.script = {
      {.answer = {
           .sent = Sent::rate_limited, .status = 429, .retry_after = Duration::seconds(30)}}};
  const auto placed = place("A-1");
  timers.advance(Duration::milliseconds(29'999));
  EXPECT_EQ(sent(), 1U);
  timers.advance(Duration::milliseconds(2'001));
  EXPECT_EQ(sent(), 2U);
  EXPECT_EQ(placed.value().as, PlacedAs::confirmed);
}

TEST_F(OrderWorkTest, EndsAtOnceAsUnsentWhenAPersonMustLogIn) {
  venue.not_ready = Error(Code::refused, Outcome::not_applied, "log in again");
  const auto placed = place("A-1");
  EXPECT_THAT(placed.error().message, HasSubstr("log in again"));
  EXPECT_EQ(placed.error().code, Code::unavailable);
  EXPECT_TRUE(kept("A-1").progress.unsent);
  EXPECT_EQ(sent(), 0U);
  venue.not_ready.reset();
  EXPECT_EQ(place("A-1").value().as, PlacedAs::confirmed) << "no turn was used up";
}

TEST_F(OrderWorkTest, RejectsWhatIsTurnedAwayAsOftenAsItMayBeSent) {
  const order::Answer turned_away{.sent = Sent::not_sent, .turned_away = true};
  for (int i = 0; i < 4; ++i) venue.script.push_back({.answer = turned_away});
  const auto placed = place("A-1");
  timers.advance(Duration::minutes(1));
  EXPECT_EQ(placed.value().as, PlacedAs::rejected);
  EXPECT_EQ(sent(), 4U) << "one more than may be made otherwise";
  EXPECT_EQ(placed.value().quota.used, 0);
}

TEST_F(OrderWorkTest, SaysUnresolvedWhenTheOutcomeCannotBeRecorded) {
  store->saves_fail = 4;
  const auto placed = place("A-1");
  timers.advance(Duration::milliseconds(6'999));
  EXPECT_FALSE(placed.is_over());
  timers.advance(Duration::milliseconds(1));
  EXPECT_EQ(placed.value().as, PlacedAs::unresolved);
  EXPECT_THAT(placed.value().message, HasSubstr("could not be recorded"));
  EXPECT_EQ(kept("A-1").progress.status, Status::sending);
  EXPECT_EQ(placed.value().quota.used, 1);
  // Once the disk is well again, somebody looks for it.
  Later<std::vector<Placed>> looked;
  desk->reconcile("A-1", looked.done());
  EXPECT_EQ(looked.value()[0].as, PlacedAs::confirmed);
  EXPECT_EQ(sent(), 1U);
}

TEST_F(OrderWorkTest, RecordsTheOutcomeBeforeTheCallerHearsIt) {
  store->saves_fail = 1;
  const auto placed = place("A-1");
  EXPECT_FALSE(placed.is_over());
  EXPECT_EQ(sent(), 1U);
  timers.advance(Duration::seconds(1));
  EXPECT_EQ(placed.value().as, PlacedAs::confirmed);
  EXPECT_EQ(kept("A-1").progress.status, Status::confirmed);
}

TEST_F(OrderWorkTest, SendsAgainForWhoComesAfterTheFirstCallerGaveUp) {
  venue.script = {{.answer = {.sent = Sent::unknown}}};
  const auto first = place("A-1", an_order(), Duration::seconds(3));
  timers.advance(Duration::seconds(5));
  EXPECT_EQ(first.value().as, PlacedAs::unresolved);
  const auto second = place("A-1");
  timers.advance(Duration::minutes(1));
  EXPECT_EQ(second.value().as, PlacedAs::confirmed);
  EXPECT_EQ(sent(), 2U);
}

TEST_F(OrderWorkTest, SendsNothingMoreForWhoOnlyLooks) {
  venue.script = {{.answer = {.sent = Sent::unknown}}};
  const auto placed = place("A-1", an_order(), Duration::seconds(3));
  timers.advance(Duration::seconds(1));
  Later<std::vector<Placed>> looked;
  desk->reconcile("A-1", looked.done());
  timers.advance(Duration::minutes(1));
  EXPECT_EQ(placed.value().as, PlacedAs::unresolved);
  EXPECT_EQ(looked.value()[0].as, PlacedAs::rejected);
  EXPECT_EQ(sent(), 1U);
}

TEST_F(OrderWorkTest, KeepsHoldOfTheIntentWhileAnAttemptIsUnderWay) {
  venue.script = {{.answer = {.sent = Sent::accepted}, .lands = true, .held = true}};
  place("A-1", an_order(), Duration::seconds(1));
  timers.advance(Duration::minutes(10));
  EXPECT_THAT(store->released, IsEmpty());
  MemoryIntentStore other(intents);
  other.take("A-1", [](const Result<TakenIntent>& taken) { EXPECT_FALSE(taken->mine); });
  venue.answer_held();
  EXPECT_THAT(store->released, SizeIs(1));
}

}  // namespace
}  // namespace pawl
