// Goal:   a placement answers once, and what it says is what is on record; the weekly limit, known
//         references and other processes are minded.
// Method: a desk on a store in memory and a venue whose answers are scripted; time moved by hand.
#include "runtime/order_placing.h"

#include <gmock/gmock.h>

#include "core/audit/event.h"
#include "runtime/order_desk_fixture.h"

namespace pawl {
namespace {

using order::Sent;
using order::Status;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

class OrderPlacing : public OrderDeskTest {
 protected:
  std::int64_t used() {
    Later<order::Quota> quota;
    desk->quota(quota.done());
    return quota.value().used;
  }
  const order::Answer unreachable{
      .sent = Sent::not_sent, .code = "unavailable", .message = "okx.test: connection refused"};
};

TEST_F(OrderPlacing, ConfirmsWhatTheVenueAccepts) {
  const auto placed = place("A-1");
  EXPECT_EQ(placed.value().as, PlacedAs::confirmed);
  EXPECT_EQ(placed.value().intent.progress.order_id, "1000");
  EXPECT_EQ(placed.value().quota.used, 1);
  EXPECT_EQ(kept("A-1").progress.status, Status::confirmed);
  EXPECT_THAT(intents.history(), SizeIs(1));
  EXPECT_EQ(desk->counts().confirmed, 1U);
  EXPECT_EQ(desk->counts().under_way, 0U);
}

TEST_F(OrderPlacing, KeepsTheIntentBeforeAByteLeaves) {
  venue.script = {{.answer = {.sent = Sent::accepted}, .lands = true, .held = true}};
  const auto placed = place("A-1");
  EXPECT_FALSE(placed.is_over());
  EXPECT_EQ(kept("A-1").progress.status, Status::sending);
  EXPECT_EQ(kept("A-1").progress.request_id, venue.sent[0].asks[0].request_id);
  venue.answer_held();
  EXPECT_EQ(placed.value().as, PlacedAs::confirmed);
}

TEST_F(OrderPlacing, MakesAReferenceForWhoGaveNone) {
  const auto placed = place("");
  EXPECT_FALSE(placed.value().intent.reference.empty());
  EXPECT_EQ(venue.sent[0].asks[0].reference, placed.value().intent.reference);
}

TEST_F(OrderPlacing, RejectsWhatTheVenueRefusesAndFreesItsSlot) {
  venue.script = {{.answer = {.sent = Sent::refused, .status = 400, .message = "no margin"}}};
  const auto placed = place("A-1");
  EXPECT_EQ(placed.value().as, PlacedAs::rejected);
  EXPECT_THAT(placed.value().message, HasSubstr("no margin"));
  EXPECT_THAT(placed.value().message, HasSubstr("external_reference=A-1"));
  EXPECT_THAT(placed.value().message, HasSubstr("request_id=A-1_place_"));
  EXPECT_EQ(placed.value().quota.used, 0);
  EXPECT_THAT(intents.history(), SizeIs(0));
}

TEST_F(OrderPlacing, RefusesWhatTheVenueDoesNotTakeAndKeepsNothing) {
  const auto placed = place(std::string(40, 'x'));
  EXPECT_EQ(placed.error().code, Code::invalid);
  EXPECT_THAT(intents.intents(), SizeIs(0));
  order::Order elsewhere = an_order();
  elsewhere.venue = "kraken";
  EXPECT_THAT(place("A-1", elsewhere).error().message, HasSubstr("There is: okx."));
}

TEST_F(OrderPlacing, AnswersTheSameReferenceWithTheStoredAnswerAndSendsNothing) {
  place("A-1");
  const auto again = place("A-1");
  EXPECT_EQ(again.value().as, PlacedAs::confirmed);
  EXPECT_TRUE(again.value().replayed);
  EXPECT_EQ(again.value().intent.progress.order_id, "1000");
  EXPECT_EQ(again.value().quota.used, 1);
  EXPECT_EQ(sent(), 1U);
}

TEST_F(OrderPlacing, RefusesAnotherOrderUnderTheSameReferenceAndSaysWhatDiffers) {
  place("A-1");
  const auto other = place("A-1", an_order("0.2"));
  EXPECT_EQ(other.error().code, Code::refused);
  EXPECT_THAT(other.error().message, HasSubstr("size was 0.1 and is 0.2"));
  EXPECT_THAT(other.error().message, HasSubstr("external_reference=A-1"));
  EXPECT_EQ(sent(), 1U);
}

TEST_F(OrderPlacing, RefusesAnotherOrderUnderAReferenceThatIsUnderWay) {
  venue.script = {{.answer = {.sent = Sent::accepted}, .lands = true, .held = true}};
  const auto first = place("A-1");
  EXPECT_EQ(place("A-1", an_order("0.2")).error().code, Code::refused);
  venue.answer_held();
  EXPECT_EQ(first.value().as, PlacedAs::confirmed);
}

TEST_F(OrderPlacing, TellsTwoWhoPlaceTheSameOrderAtOnceTheSameOutcome) {
  venue.script = {{.answer = {.sent = Sent::accepted}, .lands = true, .held = true}};
  const auto first = place("A-1");
  const auto second = place("A-1");
  venue.answer_held();
  EXPECT_EQ(first.value().intent, second.value().intent);
  EXPECT_EQ(sent(), 1U);
}

TEST_F(OrderPlacing, DeniesWhatIsAboveTheWeeklyLimitAndKeepsNothing) {
  options.limit.weekly_max_orders = 1;
  open();
  place("A-1");
  const auto denied = place("A-2");
  EXPECT_EQ(denied.value().as, PlacedAs::denied);
  EXPECT_THAT(denied.value().message,
              HasSubstr("Weekly order limit exceeded: 1/1 orders placed this week"));
  EXPECT_EQ(sent(), 1U);
  EXPECT_EQ(desk->counts().denied, 1U);
  EXPECT_THAT(told<desk::QuotaDenied>(), SizeIs(1));
  timers.advance(Duration::days(7));
  EXPECT_EQ(place("A-2").value().as, PlacedAs::confirmed);
}

TEST_F(OrderPlacing, FreesReduceOnlyFromTheLimitWhereTheVenueEnforcesIt) {
  options.limit.weekly_max_orders = 1;
  open();
  place("A-1");
  order::Order reduces = an_order();
  reduces.reduce_only = true;
  const auto reduced = place("A-2", reduces);
  timers.advance(Duration::seconds(1));
  EXPECT_EQ(reduced.value().as, PlacedAs::confirmed);
  EXPECT_THAT(told<desk::QuotaReduceOnly>(), SizeIs(1));
}

TEST_F(OrderPlacing, CountsReduceOnlyThatIsTheCallersWordAlone) {
  venue.enforces = false;
  options.limit.weekly_max_orders = 1;
  open();
  order::Order reduces = an_order();
  reduces.reduce_only = true;
  EXPECT_EQ(place("A-1", reduces).value().quota.used, 1);
  EXPECT_THAT(told<desk::ReduceOnlyIsAWord>(), SizeIs(1));
  EXPECT_EQ(place("A-2", reduces).value().as, PlacedAs::denied);
}

TEST_F(OrderPlacing, SkipsALimitThatIsDisabledAndRecordsTheOrder) {
  options.limit = {.enabled = false, .weekly_max_orders = 1};
  open();
  place("A-1");
  const auto second = place("A-2");
  timers.advance(Duration::seconds(1));
  EXPECT_EQ(second.value().as, PlacedAs::confirmed);
  EXPECT_THAT(told<desk::QuotaBypassed>(), SizeIs(2));
  EXPECT_THAT(intents.history(), SizeIs(2));
}

TEST_F(OrderPlacing, TriesADatabaseThatFailsAfterOneTwoAndFourSecondsAndThenRefuses) {
  store->opens_fail = 4;
  const auto placed = place("A-1");
  timers.advance(Duration::milliseconds(6'999));
  EXPECT_FALSE(placed.is_over());
  timers.advance(Duration::milliseconds(1));
  EXPECT_EQ(placed.error().code, Code::unavailable);
  EXPECT_THAT(placed.error().message,
              HasSubstr("unable to verify frequency limit (database error)"));
  EXPECT_EQ(store->opens, 4);
  EXPECT_THAT(told<desk::StoreFailed>(), SizeIs(4));
  EXPECT_EQ(told<desk::StoreFailed>().back().delay, Duration());
  EXPECT_EQ(sent(), 0U);
}

TEST_F(OrderPlacing, SendsOnceWhenTheAnswerOfTheStoreGotLost) {
  store->open_is_lost = true;
  const auto placed = place("A-1");
  timers.advance(Duration::seconds(1));
  EXPECT_EQ(placed.value().as, PlacedAs::confirmed);
  EXPECT_EQ(sent(), 1U);
  EXPECT_EQ(placed.value().intent.progress.attempts, 1);
}

TEST_F(OrderPlacing, WaitsForTheOutcomeOfAnotherProcess) {
  venue.script = {{.answer = {.sent = Sent::accepted}, .lands = true, .held = true}};
  const auto first = place("A-1");
  FlakyIntentStore other_store(intents);
  const auto other = make(other_store);
  Later<Placed> second;
  other->place({.reference = "A-1", .order = an_order()}, second.done());
  timers.advance(Duration::seconds(30));
  EXPECT_FALSE(second.is_over());
  venue.answer_held();
  timers.advance(Duration::seconds(1));
  EXPECT_EQ(first.value().as, PlacedAs::confirmed);
  EXPECT_EQ(second.value().as, PlacedAs::confirmed);
  EXPECT_TRUE(second.value().replayed);
  EXPECT_EQ(sent(), 1U);
  EXPECT_THAT(told<desk::WaitsForOther>(), SizeIs(1));
}

TEST_F(OrderPlacing, TakesOverWhatAnotherProcessDroppedWhileItWaited) {
  venue.script = {{.answer = {.sent = Sent::accepted}, .lands = true, .held = true}};
  const auto first = place("A-1");
  FlakyIntentStore other_store(intents);
  const auto other = make(other_store);
  Later<Placed> second;
  other->place({.reference = "A-1", .order = an_order()}, second.done());
  timers.advance(Duration::seconds(1));
  desk.reset();
  store.reset();  // the process died, and its lock is free
  timers.advance(Duration::seconds(1));
  EXPECT_EQ(second.value().as, PlacedAs::confirmed);
  EXPECT_EQ(sent(), 1U);
  EXPECT_FALSE(first.is_over());
}

TEST_F(OrderPlacing, TellsACallerWhoseTimeIsUpThatNobodyKnowsAndGoesOn) {
  venue.script = {{.answer = {.sent = Sent::accepted}, .lands = true, .held = true}};
  const auto placed = place("A-1", an_order(), Duration::seconds(3));
  timers.advance(Duration::seconds(3));
  EXPECT_EQ(placed.value().as, PlacedAs::unresolved);
  EXPECT_THAT(placed.value().message, HasSubstr("work on it goes on"));
  EXPECT_EQ(kept("A-1").progress.status, Status::sending);
  venue.answer_held();
  EXPECT_EQ(kept("A-1").progress.status, Status::confirmed);
}

TEST_F(OrderPlacing, WithdrawsWhatHasNotLeftWhenTheCallersTimeIsUp) {
  place("A-1");
  venue.heard(429, {{"Retry-After", "60"}}, {});
  const auto placed = place("A-2", an_order(), Duration::seconds(3));
  timers.advance(Duration::seconds(3));
  EXPECT_EQ(placed.error().code, Code::unavailable);
  EXPECT_EQ(placed.error().outcome, Outcome::not_applied);
  EXPECT_EQ(kept("A-2").progress.status, Status::rejected);
  EXPECT_EQ(used(), 1);
  timers.advance(Duration::minutes(5));
  EXPECT_EQ(sent(), 1U);
}

// ---- nothing ever left

TEST_F(OrderPlacing, SaysThatNothingWasSentWhenTheVenueCannotBeReached) {
  for (int i = 0; i < 3; ++i) venue.script.push_back({.answer = unreachable});
  const auto placed = place("A-1");
  timers.advance(Duration::minutes(1));
  const Error& error = placed.error();
  EXPECT_EQ(error.code, Code::unavailable);
  EXPECT_EQ(error.outcome, Outcome::not_applied);
  EXPECT_THAT(error.message, StartsWith("Nothing was sent: "));
  EXPECT_THAT(error.message, HasSubstr("connection refused"));
  EXPECT_THAT(error.message, HasSubstr("may be placed again"));
  const order::Intent intent = kept("A-1");
  EXPECT_EQ(intent.progress.attempts, 3);
  EXPECT_EQ(intent.progress.status, Status::rejected);
  EXPECT_THAT(error.message,
              HasSubstr("(external_reference=A-1, request_id=" + intent.progress.request_id + ")"))
      << "of the last attempt";
  EXPECT_EQ(used(), 0);
  EXPECT_TRUE(was_told(order::Told::order_placement_failed_final));
}

TEST_F(OrderPlacing, PlacesAgainUnderTheSameReferenceWhatNeverLeft) {
  for (int i = 0; i < 3; ++i) venue.script.push_back({.answer = unreachable});
  const auto first = place("A-1");
  timers.advance(Duration::minutes(1));
  EXPECT_EQ(first.error().code, Code::unavailable);
  clock.set_wall(clock.wall_now() + Duration::days(7));
  const auto second = place("A-1");
  EXPECT_EQ(second.value().as, PlacedAs::confirmed);
  EXPECT_FALSE(second.value().replayed);
  EXPECT_EQ(second.value().quota.used, 1);
  EXPECT_EQ(used(), 1) << "in the week that is";
  EXPECT_EQ(second.value().intent.created, clock.wall_now());
  EXPECT_EQ(sent(), 4U);
  EXPECT_THAT(second.value().intent.progress.evidence, SizeIs(5)) << "of both";
  EXPECT_TRUE(place("A-1").value().replayed) << "from now on it is known";
  EXPECT_EQ(sent(), 4U);
}

TEST_F(OrderPlacing, RefusesAnotherOrderUnderAReferenceOfWhichNothingLeft) {
  for (int i = 0; i < 3; ++i) venue.script.push_back({.answer = unreachable});
  place("A-1");
  timers.advance(Duration::minutes(1));
  EXPECT_EQ(place("A-1", an_order("0.2")).error().code, Code::refused);
  EXPECT_EQ(sent(), 3U);
}

TEST_F(OrderPlacing, DeniesWhatIsPlacedAgainWhenTheWeekIsFull) {
  options.limit.weekly_max_orders = 1;
  open();
  for (int i = 0; i < 3; ++i) venue.script.push_back({.answer = unreachable});
  place("A-1");
  timers.advance(Duration::minutes(1));
  EXPECT_EQ(place("A-2").value().as, PlacedAs::confirmed);
  EXPECT_EQ(place("A-1").value().as, PlacedAs::denied);
  EXPECT_EQ(kept("A-1").progress.status, Status::rejected);
}

TEST_F(OrderPlacing, GoesOnWithWhatWasOpenedAgainWhenTheStoresAnswerIsLost) {
  for (int i = 0; i < 3; ++i) venue.script.push_back({.answer = unreachable});
  place("A-1");
  timers.advance(Duration::minutes(1));
  store->open_is_lost = true;
  const auto again = place("A-1");
  timers.advance(Duration::seconds(1));
  EXPECT_EQ(again.value().as, PlacedAs::confirmed);
  EXPECT_EQ(venue.reads, 0) << "it is its own: nothing of it had left";
}

TEST_F(OrderPlacing, SaysThatNothingWasSentOnlyOnceThatIsOnRecord) {
  place("A-1");
  venue.heard(429, {{"Retry-After", "60"}}, {});
  const auto placed = place("A-2", an_order(), Duration::seconds(3));
  store->saves_fail = 1;
  timers.advance(Duration::seconds(3));
  EXPECT_EQ(placed.value().as, PlacedAs::unresolved);
  EXPECT_EQ(kept("A-2").progress.status, Status::sending);
  timers.advance(Duration::seconds(1));
  EXPECT_TRUE(kept("A-2").progress.unsent);
}

TEST_F(OrderPlacing, SaysSoWhileAnotherProcessHasNotLetGoOfIt) {
  MemoryIntentStore other(intents);
  order::Progress ended{.status = Status::rejected, .request_id = "r", .reason = "no way there"};
  ended.unsent = true;
  other.open({.reference = "A-1", .order = an_order(), .now = clock.wall_now()},
             [&](const Result<Opening>& opening) {
               other.save(std::get<OpenedIntent>(*opening).intent.id, ended, [](auto) {});
             });
  const auto placed = place("A-1");
  EXPECT_EQ(placed.error().code, Code::unavailable);
  EXPECT_THAT(placed.error().message, HasSubstr("Nothing was sent: no way there"));
  EXPECT_EQ(sent(), 0U);
}

TEST_F(OrderPlacing, RecordsEveryDecisionBeforeItsEffect) {
  venue.script = {{.answer = {.sent = Sent::accepted}, .lands = true, .held = true}};
  place("A-1");
  std::vector<audit::EventType> types;
  for (const audit::Event& event : sink.events()) {
    types.push_back(event.type);
    EXPECT_EQ(event.correlation.external_reference, "A-1");
    EXPECT_EQ(event.correlation.correlation_id, "A-1");
    EXPECT_EQ(event.correlation.request_id, venue.sent[0].asks[0].request_id);
  }
  using enum audit::EventType;
  EXPECT_EQ(types, (std::vector{quota, audit::EventType::order, pace}));
}

TEST_F(OrderPlacing, SendsNothingThatTheAuditLogDoesNotTake) {
  MemoryEventSink full(0);
  audit = &full;
  open();
  const auto placed = place("A-1");
  timers.advance(Duration::seconds(10));
  EXPECT_EQ(placed.error().code, Code::unavailable);
  EXPECT_THAT(placed.error().message, StartsWith("Nothing was sent: "));
  EXPECT_EQ(kept("A-1").progress.status, Status::rejected);
  EXPECT_EQ(sent(), 0U);
  EXPECT_FALSE(told<desk::AuditFailed>().empty());
}

}  // namespace
}  // namespace pawl
