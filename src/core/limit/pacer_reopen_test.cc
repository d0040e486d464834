// Goal: what a server closed can be opened again, here and for everybody who shares the store; and
// reopening lets nobody pass too soon, nor lifts what is said after it.
// Method: as in pacer_test.cc. Another process reopens by what it does to the store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bounds.h"
#include "core/limit/pacer_fixture.h"

namespace pawl::limit::pacer {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<Field> closed_for_an_hour = {{"Retry-After", "3600"}};

TEST(PacerReopening, ReopenedGoesOnAtThePace) {
  Session session(with_burst(2));
  session.hear(429, closed_for_an_hour);
  for (const Ticket ticket : {1U, 2U}) session.ask(ticket);
  session.take_notes();
  session.give(Reopened{});
  EXPECT_THAT(session.take_notes(), ElementsAre("reopened, wait 1s", "token_wait place 1s 0.000"));
  EXPECT_EQ(session.wake_in(), second);
  session.advance_and_tick(second);
  EXPECT_THAT(session.take_released(), ElementsAre(1));  // and no burst: what was used is not known
  session.advance_and_tick(second);
  EXPECT_THAT(session.take_released(), ElementsAre(2));
}

TEST(PacerReopening, AWordHeardAfterReopeningClosesAgain) {
  Session session;
  session.hear(429, closed_for_an_hour);
  session.give(Reopened{});
  session.hear(429, {{"Retry-After", "5"}});
  session.ask(1);
  EXPECT_EQ(session.wake_in(), Duration::seconds(5));
}

TEST(PacerReopening, AnAnswerFromBeforeTheReopeningClosesNothing) {
  Session session;
  session.held = true;
  session.ask(1, Duration::seconds(5));
  session.give(Reopened{});
  session.charge_waits = false;
  session.give(Charged{answer_of({.closed = true, .retry_after = Duration::hours(1)})});
  EXPECT_THAT(session.refused, IsEmpty());
  EXPECT_EQ(session.wake_in(), second);
}

TEST(PacerReopening, LearnsFromTheStoreThatAnotherProcessHasReopened) {
  Session session;
  session.hear(429, closed_for_an_hour);
  session.ask(1);
  EXPECT_EQ(session.wake_in(), bounds::pacer_look_wait);
  session.advance_and_tick(bounds::pacer_look_wait);
  EXPECT_EQ(session.charges, 1);
  EXPECT_EQ(session.wake_in(), bounds::pacer_look_wait);  // closed still
  session.reopen_elsewhere();
  session.take_notes();
  session.advance_and_tick(bounds::pacer_look_wait);
  EXPECT_THAT(session.released, ElementsAre(1));
  EXPECT_THAT(session.take_notes(), ElementsAre("reopened elsewhere", "acquired place 0"));
}

TEST(PacerReopening, AClosingHeardElsewhereIsLookedAfterToo) {
  Session session;
  session.held = true;
  session.ask(1);
  session.charge_waits = false;
  session.give(Charged{answer_of({.closed = true, .retry_after = Duration::hours(1)})});
  EXPECT_EQ(session.wake_in(), bounds::pacer_look_wait);
  session.held = false;
  session.advance_and_tick(bounds::pacer_look_wait);
  EXPECT_THAT(session.released, ElementsAre(1));
}

TEST(PacerReopening, NobodyIsRefusedForAClosingThatMayBeOver) {
  Session session;
  session.hear(429, closed_for_an_hour);
  session.ask(1, Duration::seconds(5));
  EXPECT_TRUE(session.refused.contains(1));
  session.reopen_elsewhere();
  session.advance(bounds::pacer_look_wait);
  session.ask(2, Duration::seconds(5));
  EXPECT_THAT(session.released, ElementsAre(2));
}

TEST(PacerReopening, TheLastMinuteOfAClosingIsWaitedOutWhateverTheStoreSays) {
  Session session;
  session.hear(429, {{"Retry-After", "65"}});
  session.reopen_elsewhere();  // or its clock is ahead
  session.ask(1);
  EXPECT_EQ(session.wake_in(), Duration::seconds(65));
  session.advance_and_tick(Duration::seconds(65) - nanosecond);
  EXPECT_THAT(session.released, IsEmpty());
}

TEST(PacerReopening, ALookThatFailsRefusesNobody) {
  Session session;
  session.hear(429, closed_for_an_hour);
  session.ask(1);
  session.held = true;
  session.advance_and_tick(bounds::pacer_look_wait);
  session.charge_waits = false;
  session.give(ChargeFailed{Error(Code::unavailable, Outcome::unknown, "gone")});
  EXPECT_THAT(session.refused, IsEmpty());
  EXPECT_EQ(session.wake_in(), bounds::pacer_look_wait);
}

TEST(PacerReopening, AWordHeardDuringALookHolds) {
  Session session;
  session.hear(429, closed_for_an_hour);
  session.ask(1);
  session.held = true;
  session.advance_and_tick(bounds::pacer_look_wait);
  session.reopen_elsewhere();
  session.hear(429, {{"Retry-After", "7200"}});
  session.charge_waits = false;
  session.give(Charged{answer_of({.allowed = true, .full_after = second})});
  EXPECT_THAT(session.released, IsEmpty());
}

}  // namespace
}  // namespace pawl::limit::pacer
