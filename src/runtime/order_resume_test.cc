// Goal:   what a process that is gone left open is settled before anything new leaves; an order
//         that nobody can settle holds nobody up, and a person can.
// Method: desks that are dropped half-way, and others on the same store.
#include <gmock/gmock.h>

#include "base/bounds.h"
#include "runtime/order_desk_fixture.h"

namespace pawl {
namespace {

using order::Sent;
using order::Status;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class OrderResume : public OrderDeskTest {
 protected:
  // Dies with an attempt on the wire.
  void die_while_sending(const std::string& reference, bool lands) {
    venue.script = {{.answer = {.sent = Sent::accepted}, .lands = lands, .held = true}};
    place(reference);
    open();
  }
  void leave_unresolved(const std::string& reference) {
    venue.script = {{.answer = {.sent = Sent::unknown}}};
    for (int i = 0; i < 60; ++i) venue.readings.push_back({.why_not_whole = "no answer"});
    const auto placed = place(reference);
    timers.advance(Duration::minutes(5));
    EXPECT_EQ(placed.value().as, PlacedAs::unresolved);
    venue.readings.clear();
  }
};

TEST_F(OrderResume, AdoptsWhatADeadProcessHadPlaced) {
  die_while_sending("A-1", true);
  Later<desk::Resumed> resumed;
  desk->resume(resumed.done());
  EXPECT_EQ(resumed.value().taken, 1U);
  EXPECT_EQ(resumed.value().resolved, 1U);
  EXPECT_EQ(resumed.value().unresolved, 0U);
  EXPECT_EQ(kept("A-1").progress.status, Status::confirmed);
  EXPECT_EQ(sent(), 1U);
}

TEST_F(OrderResume, LetsNothingNewLeaveBeforeItIsOver) {
  die_while_sending("A-1", false);
  const auto placed = place("A-2");
  timers.advance(Duration::seconds(30));
  EXPECT_EQ(sent(), 1U);
  timers.advance(Duration::seconds(5));
  EXPECT_EQ(kept("A-1").progress.status, Status::rejected);
  EXPECT_EQ(placed.value().as, PlacedAs::confirmed);
  EXPECT_EQ(venue.sent[1].asks[0].reference, "A-2");
}

TEST_F(OrderResume, SendsWhatIsAbsentOnlyForWhoAsksForItAgain) {
  die_while_sending("A-1", false);
  const auto placed = place("A-1");
  timers.advance(Duration::seconds(35));
  EXPECT_EQ(placed.value().as, PlacedAs::confirmed);
  EXPECT_EQ(placed.value().intent.progress.attempts, 2);
  EXPECT_EQ(sent(), 2U);
}

TEST_F(OrderResume, TakesNothingFromAProcessThatLives) {
  venue.script = {{.answer = {.sent = Sent::accepted}, .lands = true, .held = true}};
  const auto first = place("A-1");
  FlakyIntentStore other_store(intents);
  const auto other = make(other_store);
  Later<desk::Resumed> resumed;
  other->resume(resumed.done());
  EXPECT_EQ(resumed.value().taken, 0U);
  venue.answer_held();
  EXPECT_EQ(first.value().as, PlacedAs::confirmed);
}

TEST_F(OrderResume, IsNotHeldUpByWhatNobodyCanSettle) {
  leave_unresolved("A-1");
  open();
  EXPECT_EQ(place("A-2").value().as, PlacedAs::confirmed);
  EXPECT_EQ(told<desk::Resumed>().back().unresolved, 1U);
  EXPECT_EQ(desk->counts().unresolved, 1U);
}

TEST_F(OrderResume, WarnsOfAnEmptyHistory) {
  Later<desk::Resumed> resumed;
  desk->resume(resumed.done());
  EXPECT_THAT(told<desk::HistoryIsEmpty>(), SizeIs(1));
}

TEST_F(OrderResume, RefusesAPlacementWhoseTimeIsUpBeforeAnythingIsKept) {
  die_while_sending("A-1", false);
  const auto placed = place("A-2", an_order(), Duration::seconds(2));
  timers.advance(Duration::seconds(2));
  EXPECT_EQ(placed.error().code, Code::unavailable);
  EXPECT_EQ(placed.error().outcome, Outcome::not_applied);
  timers.advance(Duration::minutes(2));
  EXPECT_TRUE(kept("A-2").reference.empty());
}

TEST_F(OrderResume, SaysThatNobodyKnowsWhenTheTimeOfOneThatWasLeftOpenIsUp) {
  die_while_sending("A-1", true);
  venue.readings.assign(100, {.why_not_whole = "no answer"});
  const auto placed = place("A-1", an_order(), Duration::seconds(1));
  timers.advance(Duration::seconds(1));
  EXPECT_EQ(placed.value().as, PlacedAs::unresolved);
  EXPECT_THAT(placed.value().message, HasSubstr("work on it goes on"));
  const auto other = place("A-1", an_order("0.2"), Duration::seconds(1));
  timers.advance(Duration::seconds(1));
  EXPECT_EQ(other.error().code, Code::refused);
}

TEST_F(OrderResume, SendsNothingForACallerWhoIsGone) {
  die_while_sending("A-1", false);
  const auto placed = place("A-1", an_order(), Duration::seconds(5));
  timers.advance(Duration::seconds(5));
  EXPECT_EQ(placed.value().as, PlacedAs::unresolved);
  timers.advance(Duration::minutes(5));
  EXPECT_EQ(sent(), 1U);
  EXPECT_EQ(kept("A-1").progress.status, Status::rejected);
}

TEST_F(OrderResume, SendsNothingForWhoWantsAnotherOrderUnderItsReference) {
  die_while_sending("A-1", false);
  const auto other = place("A-1", an_order("0.2"));
  timers.advance(Duration::minutes(5));
  EXPECT_EQ(other.error().code, Code::refused);
  EXPECT_EQ(sent(), 1U);
}

TEST_F(OrderResume, SendsForOneWhoWaitsThoughAnotherHasGivenUp) {
  die_while_sending("A-1", false);
  const auto first = place("A-1", an_order(), Duration::seconds(5));
  const auto second = place("A-1");
  timers.advance(Duration::minutes(1));
  EXPECT_EQ(first.value().as, PlacedAs::unresolved);
  EXPECT_EQ(second.value().as, PlacedAs::confirmed);
  EXPECT_EQ(sent(), 2U);
}

TEST_F(OrderResume, SendsForWhoComesWhileItIsLookedForOnBehalfOfNobody) {
  die_while_sending("A-1", false);
  desk->resume([](const Result<desk::Resumed>&) {});
  timers.advance(Duration::seconds(5));
  const auto placed = place("A-1");
  timers.advance(Duration::minutes(1));
  EXPECT_EQ(placed.value().as, PlacedAs::confirmed);
  EXPECT_EQ(sent(), 2U);
}

TEST_F(OrderResume, SaysThatNobodyKnowsWhenItDrainsWhileOneThatWasLeftOpenIsLookedFor) {
  die_while_sending("A-1", true);
  venue.readings.assign(100, {.why_not_whole = "no answer"});
  const auto known = place("A-1");
  const auto unknown = place("A-2");
  Later<void> drained;
  desk->drain(drained.done());
  EXPECT_EQ(known.value().as, PlacedAs::unresolved);
  EXPECT_THAT(unknown.error().message, HasSubstr("Not sent: pawl is shutting down."));
  EXPECT_EQ(unknown.error().outcome, Outcome::not_applied);
  EXPECT_TRUE(drained.is_over());
  EXPECT_EQ(kept("A-1").progress.status, Status::reconciling);
}

// Another process holds it, so that nobody here works on it.
TEST_F(OrderResume, SaysWhatIsKeptOfAnOrderWhoseTimeIsUpAtTheGate) {
  die_while_sending("A-1", false);
  MemoryIntentStore other(intents);
  order::Intent theirs;
  other.open(
      {.reference = "A-2", .order = an_order(), .now = clock.wall_now()},
      [&](const Result<Opening>& opening) { theirs = std::get<OpenedIntent>(*opening).intent; });
  const auto open = place("A-2", an_order(), Duration::seconds(1));
  timers.advance(Duration::seconds(1));
  EXPECT_EQ(open.value().as, PlacedAs::unresolved);
  other.save(theirs.id, {.status = Status::confirmed, .request_id = "r", .order_id = "9"},
             [](auto) {});
  const auto confirmed = place("A-2", an_order(), Duration::seconds(1));
  timers.advance(Duration::seconds(1));
  EXPECT_EQ(confirmed.value().as, PlacedAs::confirmed);
  const auto another = place("A-2", an_order("0.2"), Duration::seconds(1));
  timers.advance(Duration::seconds(1));
  EXPECT_EQ(another.error().code, Code::refused);
  store->gets_fail = 4;
  const auto unread = place("A-3", an_order(), Duration::seconds(1));
  timers.advance(Duration::seconds(8));
  EXPECT_EQ(unread.error().code, Code::unavailable);
  EXPECT_EQ(unread.error().outcome, Outcome::unknown);
}

TEST_F(OrderResume, LetsNothingLeaveWhileAnOpenOneCannotBeTaken) {
  die_while_sending("A-1", true);
  store->takes_fail = 4;
  const auto placed = place("A-2");
  timers.advance(Duration::seconds(7));
  EXPECT_EQ(placed.error().code, Code::unavailable);
  EXPECT_EQ(sent(), 1U);
  const auto again = place("A-2");
  timers.advance(Duration::seconds(1));
  EXPECT_EQ(kept("A-1").progress.status, Status::confirmed) << "taken now, and found";
  EXPECT_EQ(again.value().as, PlacedAs::confirmed);
}

TEST_F(OrderResume, RefusesWhileMoreAreOpenThanItLooksAt) {
  {
    MemoryIntentStore gone(intents);
    for (std::size_t i = 0; i < bounds::orders_listed_max; ++i) {
      gone.open({.reference = "B-" + std::to_string(i),
                 .order = an_order(),
                 .limit = {.enabled = false},
                 .now = clock.wall_now()},
                [](const Result<Opening>&) {});
    }
  }
  const auto placed = place("A-1");
  EXPECT_EQ(placed.error().code, Code::refused);
  EXPECT_THAT(placed.error().message, HasSubstr("Run `pawl order reconcile`"));
  EXPECT_EQ(sent(), 0U);
}

TEST_F(OrderResume, GivesTheStoredAnswerForAnUnresolvedReference) {
  leave_unresolved("A-1");
  const auto again = place("A-1");
  EXPECT_EQ(again.value().as, PlacedAs::unresolved);
  EXPECT_TRUE(again.value().replayed);
  EXPECT_EQ(sent(), 1U);
}

TEST_F(OrderResume, ReconcilesOnDemandAndNeverSends) {
  leave_unresolved("A-1");
  Later<std::vector<Placed>> looked;
  desk->reconcile("", looked.done());
  timers.advance(Duration::seconds(40));
  ASSERT_THAT(looked.value(), SizeIs(1));
  EXPECT_EQ(looked.value()[0].as, PlacedAs::rejected);
  EXPECT_EQ(looked.value()[0].quota.used, 0);
  EXPECT_EQ(desk->counts().unresolved, 0U);
  EXPECT_EQ(sent(), 1U);
}

TEST_F(OrderResume, ReconcilesOneByItsReference) {
  Later<std::vector<Placed>> none;
  desk->reconcile("A-9", none.done());
  EXPECT_EQ(none.error().code, Code::not_found);
  place("A-1");
  Later<std::vector<Placed>> settled;
  desk->reconcile("A-1", settled.done());
  EXPECT_EQ(settled.value()[0].as, PlacedAs::confirmed);
}

TEST_F(OrderResume, LetsAPersonSettleWhatNobodyElseCan) {
  leave_unresolved("A-1");
  Later<Placed> settled;
  desk->resolve("A-1",
                {.as = order::Resolution::As::placed,
                 .order_id = "4711",
                 .reason = "seen in the venue's app",
                 .who = "ops"},
                settled.done());
  EXPECT_EQ(settled.value().as, PlacedAs::confirmed);
  EXPECT_EQ(settled.value().intent.progress.order_id, "4711");
  EXPECT_EQ(kept("A-1").progress.status, Status::confirmed);
  EXPECT_EQ(desk->counts().unresolved, 0U);
  bool audited = false;
  for (const audit::Event& event : sink.events()) {
    for (const auto& [name, value] : event.details) {
      audited = audited || json::print(value).find("seen in the venue's app") != std::string::npos;
    }
  }
  EXPECT_TRUE(audited);
}

TEST_F(OrderResume, RefusesAPersonsWordOnWhatIsSettledOrUnderWay) {
  place("A-1");
  const order::Resolution absent{.reason = "not there", .who = "ops"};
  Later<Placed> settled;
  desk->resolve("A-1", absent, settled.done());
  EXPECT_EQ(settled.error().code, Code::refused);
  EXPECT_THAT(settled.error().message, HasSubstr("confirmed"));
  timers.advance(Duration::seconds(1));
  venue.script = {{.answer = {.sent = Sent::accepted}, .lands = true, .held = true}};
  place("A-2");
  Later<Placed> busy;
  desk->resolve("A-2", absent, busy.done());
  EXPECT_THAT(busy.error().message, HasSubstr("works on this order"));
}

}  // namespace
}  // namespace pawl
