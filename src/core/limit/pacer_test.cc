// Goal: calls leave at the session's pace, in order, before their deadlines and never before an
// instant the server named; every ticket ends once.
// Method: a clock moved by hand and a store of one bucket (pacer_fixture.h). Then random walks over
// asks, withdrawals, answers of the server, late answers of the store, foreign charges, reopenings
// and clock moves, checked from outside.
#include "core/limit/pacer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <rapidcheck.h>

#include "base/bounds.h"
#include "core/limit/pacer_fixture.h"

namespace pawl::limit::pacer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<Field> orders_used_up = {{"X-RateLimit-SessionOrders-Limit", "1"},
                                           {"X-RateLimit-SessionOrders-Remaining", "0"},
                                           {"X-RateLimit-SessionOrders-Reset", "1"}};

// The pace.

TEST(Pacer, ASecondOrderWithinOneSecondWaits) {
  Session session;
  session.ask(1);
  EXPECT_THAT(session.take_released(), ElementsAre(1));
  session.advance(Duration::milliseconds(400));
  session.ask(2);
  EXPECT_THAT(session.take_released(), IsEmpty());
  EXPECT_EQ(session.wake_in(), Duration::milliseconds(600));
  session.advance_and_tick(Duration::milliseconds(600));
  EXPECT_THAT(session.take_released(), ElementsAre(2));
  EXPECT_EQ(session.wake_in(), std::nullopt);
}

TEST(Pacer, NeverWakesEarly) {
  Session session;
  session.ask(1);
  session.ask(2);
  session.advance_and_tick(second - nanosecond);
  EXPECT_THAT(session.take_released(), ElementsAre(1));
  EXPECT_EQ(session.wake_in(), nanosecond);
  session.advance_and_tick(nanosecond);
  EXPECT_THAT(session.take_released(), ElementsAre(2));
  EXPECT_EQ(session.charges, 2);  // the store is asked when there is something to get
}

TEST(Pacer, WaitsAsLongAsTheStoreSaysAfterItsAnswerHasArrived) {
  Session session;
  session.decided();  // another process was charged
  session.held = true;
  session.ask(1);
  const Answer answer = session.decided();  // refused
  session.advance(Duration::milliseconds(30));
  session.give(Charged{answer});
  EXPECT_EQ(session.wake_in(), second);
}

TEST(Pacer, ABurstGoesAtOnce) {
  Session session(with_burst(2));
  for (const Ticket ticket : {1U, 2U, 3U, 4U}) session.ask(ticket);
  EXPECT_THAT(session.take_released(), ElementsAre(1, 2, 3));
  EXPECT_EQ(session.wake_in(), second);
}

TEST(Pacer, SettingTheWallClockMovesNoWait) {
  Session session;
  session.hear(429, {{"Retry-After", "5"}});
  session.ask(1);
  session.now.wall = session.now.wall + Duration::days(30);
  session.advance_and_tick(Duration::seconds(5) - nanosecond);
  EXPECT_THAT(session.released, IsEmpty());
  session.now.wall = session.now.wall - Duration::days(60);
  session.advance_and_tick(nanosecond);
  EXPECT_THAT(session.released, ElementsAre(1));
}

// Who goes first.

TEST(Pacer, ServesFirstWhoCameFirst) {
  Session session;
  for (const Ticket ticket : {3U, 1U, 2U}) session.ask(ticket);
  for (int i = 0; i < 2; ++i) session.advance_and_tick(second);
  EXPECT_THAT(session.released, ElementsAre(3, 1, 2));
}

TEST(Pacer, CancelsGoFirst) {
  Session session;
  for (const Ticket ticket : {1U, 2U, 3U}) session.ask(ticket);
  session.ask_urgent(4);
  session.ask_urgent(5);
  for (int i = 0; i < 4; ++i) session.advance_and_tick(second);
  EXPECT_THAT(session.released, ElementsAre(1, 4, 5, 2, 3));
}

TEST(Pacer, ACancelTakesTheChargeThatIsUnderWayForAnother) {
  Session session;
  session.held = true;
  session.ask(1);
  session.ask_urgent(2);
  session.answer();
  EXPECT_THAT(session.released, ElementsAre(2));
}

TEST(Pacer, HoldsOthersBackUntilACancelHasHadItsTurn) {
  Session session;
  session.ask(1);
  session.ask(2);
  EXPECT_THAT(session.others_held_for, IsEmpty()) << "one order holds no other up";
  session.advance(Duration::milliseconds(400));
  session.ask_urgent(3);
  const Duration expected = Duration::milliseconds(600) + bounds::pacer_charge_age_max;
  EXPECT_THAT(session.others_held_for, ElementsAre(expected));
  session.advance_and_tick(Duration::milliseconds(10));
  EXPECT_EQ(session.others_held_for.size(), 1U) << "said once for an instant";
  session.advance_and_tick(Duration::milliseconds(590));
  EXPECT_THAT(session.released, ElementsAre(1, 3));
  EXPECT_EQ(session.urgent_charges, 1);
}

TEST(Pacer, HoldsNobodyBackForAnInstantThatIsFarAway) {
  Session session;
  session.hear(429, {{"Retry-After", "3600"}});
  session.ask_urgent(1);
  EXPECT_THAT(session.others_held_for, IsEmpty());
}

TEST(Pacer, WhoIsHeldBackWaitsAndMakesWayForItsOwnCancel) {
  Session session;
  session.held = true;
  session.ask(1);
  const Answer refused = answer_of({.closed = true, .retry_after = second});
  session.give(Charged{refused, true});
  EXPECT_EQ(session.wake_in(), second);
  EXPECT_THAT(session.take_notes(), ElementsAre("token_wait place 1s 0.000"));
  session.advance_and_tick(second);  // asks again
  session.ask_urgent(2);
  session.give(Charged{refused, true});
  EXPECT_EQ(session.urgent_charges, 1) << "the cancel asks at once";
  session.answer();
  EXPECT_THAT(session.released, ElementsAre(2));
}

TEST(Pacer, RefusesMoreThanALaneHolds) {
  Session session;
  session.held = true;
  Ticket ticket = 0;
  while (ticket < bounds::pacer_waiting_max) session.ask(++ticket);
  EXPECT_THAT(session.refused, IsEmpty());
  session.ask(++ticket);
  ASSERT_TRUE(session.refused.contains(ticket));
  EXPECT_EQ(session.refused.at(ticket).code, Code::refused);
  EXPECT_THAT(session.refused.at(ticket).message, HasSubstr("1000 calls"));
  session.ask_urgent(++ticket);  // orders that wait keep no cancel out
  EXPECT_FALSE(session.refused.contains(ticket));
  EXPECT_EQ(session.machine.waiting(), bounds::pacer_waiting_max + 1);
}

// Deadlines.

TEST(Pacer, RefusesAtOnceWhatCannotLeaveInTime) {
  Session session;
  session.ask(1);
  session.advance(Duration::milliseconds(250));
  session.ask(2, Duration::milliseconds(750) - nanosecond);
  ASSERT_TRUE(session.refused.contains(2));
  const Error& error = session.refused.at(2);
  EXPECT_EQ(error.code, Code::refused);
  EXPECT_EQ(error.outcome, Outcome::not_applied);
  EXPECT_EQ(error.message,
            "'place' was not sent: its deadline is 2024-10-04T00:00:01.000Z, and the earliest it "
            "could leave is 2024-10-04T00:00:01.000Z, by the session's pace. Ask again with a "
            "later deadline; the pace is 1/1s.");
  session.ask(3, Duration::milliseconds(750));
  EXPECT_FALSE(session.refused.contains(3));
}

TEST(Pacer, AsksNoStoreForWhatIsTooLateAlready) {
  Session session;
  session.held = true;
  session.ask(1, -nanosecond);
  EXPECT_TRUE(session.refused.contains(1));
  EXPECT_FALSE(session.charge_waits);
}

TEST(Pacer, AClosingRefusesWhoseDeadlineComesBeforeItsEnd) {
  Session session;
  session.ask(1);
  session.ask(2, Duration::seconds(20));
  session.ask(3);
  session.hear(429, {{"Retry-After", "30"}});
  EXPECT_THAT(session.refused.at(2).message, HasSubstr("as the server said"));
  EXPECT_EQ(session.wake_in(), Duration::seconds(30));
}

TEST(Pacer, AStaleOrderNeverLeavesLate) {
  Session session;
  session.held = true;
  session.ask(1, Duration::milliseconds(100));
  EXPECT_EQ(session.wake_in(), Duration::milliseconds(100) + nanosecond);
  session.advance_and_tick(Duration::milliseconds(100));
  EXPECT_THAT(session.refused, IsEmpty());
  session.advance_and_tick(nanosecond);
  EXPECT_THAT(session.refused.at(1).message, HasSubstr("passed before it was its turn"));
  session.answer();
  EXPECT_THAT(session.released, IsEmpty());
}

TEST(Pacer, AnOrderMayLeaveAtItsDeadlineToTheNanosecond) {
  for (const Duration late : {Duration(), nanosecond}) {
    Session session;
    session.held = true;
    session.ask(1, Duration::milliseconds(100));
    const Answer answer = session.decided();
    session.advance(Duration::milliseconds(100) + late);
    session.give(Charged{answer});
    EXPECT_EQ(session.released.size(), late == Duration() ? 1U : 0U);
    EXPECT_EQ(session.refused.size(), late == Duration() ? 0U : 1U);
  }
}

// Charges that come too late for whom they were meant.

TEST(Pacer, AChargeWhoseTicketWasWithdrawnServesTheNext) {
  Session session;
  session.held = true;
  session.ask(1);
  session.ask(2);
  session.give(Withdrawn{1});
  session.answer();
  EXPECT_THAT(session.released, ElementsAre(2));
  EXPECT_EQ(session.refunds, 0);
}

TEST(Pacer, AChargeThatServesNobodyIsGivenBack) {
  Session session;
  session.held = true;
  session.ask(1);
  session.give(Withdrawn{1});
  session.give(Withdrawn{1});
  session.answer();
  EXPECT_EQ(session.refunds, 1);
  EXPECT_THAT(session.notes, IsEmpty());
  session.held = false;
  session.ask(2);
  EXPECT_THAT(session.released, ElementsAre(2));
}

TEST(Pacer, AChargeThatTimeHasEarnedBackIsNotGivenBackAsWell) {
  Session session;
  session.held = true;
  session.ask(1);
  const Answer answer = session.decided();
  session.give(Withdrawn{1});
  session.advance(Duration::milliseconds(500));  // and as long again to the store
  session.give(Charged{answer});
  EXPECT_EQ(session.refunds, 0);
}

TEST(Pacer, WithABurstAChargeIsGivenBackWhileTheBucketWouldNotHaveBeenFullAnyway) {
  for (const bool was_full : {true, false}) {
    Session session(with_burst(2));
    if (!was_full) session.decided();  // another process was charged
    session.held = true;
    session.ask(1);
    session.give(Withdrawn{1});
    const Answer answer = session.decided();
    session.advance(Duration::milliseconds(100));
    session.give(Charged{answer});
    EXPECT_EQ(session.refunds, was_full ? 0 : 1);
  }
}

TEST(Pacer, AnOldChargeLetsNobodyPass) {
  Session session;
  session.held = true;
  session.ask(1);
  const Answer answer = session.decided();
  session.advance(bounds::pacer_charge_age_max + nanosecond);
  session.charge_waits = false;
  session.give(Charged{answer});
  EXPECT_THAT(session.released, IsEmpty());
  EXPECT_EQ(session.refunds, 1);
  session.answer();  // it asked again
  EXPECT_THAT(session.released, ElementsAre(1));
}

TEST(Pacer, AChargeUnderWayWhenTheServerClosesLetsNobodyPass) {
  Session session;
  session.held = true;
  session.ask(1);
  session.hear(429, {{"Retry-After", "3"}});
  session.give(Charged{answer_of({.allowed = true, .full_after = second})});
  EXPECT_THAT(session.released, IsEmpty());
  EXPECT_EQ(session.refunds, 1);
  EXPECT_EQ(session.wake_in(), Duration::seconds(3));
}

TEST(Pacer, WithoutTheStoreNobodyLeaves) {
  Session session;
  session.held = true;
  session.ask(1);
  session.ask(2);
  session.charge_waits = false;
  session.give(ChargeFailed{Error(Code::unavailable, Outcome::unknown, "connection refused")});
  ASSERT_TRUE(session.refused.contains(1));
  EXPECT_EQ(session.refused.at(1).code, Code::unavailable);
  EXPECT_EQ(session.refused.at(1).outcome, Outcome::not_applied);
  EXPECT_THAT(session.refused.at(1).message, HasSubstr("connection refused"));
  EXPECT_THAT(session.notes, ElementsAre("store_failed connection refused", "not_sent place 1"));
  EXPECT_TRUE(session.charge_waits);  // the next asks for itself
  session.answer();
  EXPECT_THAT(session.released, ElementsAre(2));
}

// What the server says.

TEST(Pacer, A429WithReset1BacksOff) {
  Session session;
  session.ask(1);
  session.advance(Duration::milliseconds(100));
  session.hear(429, orders_used_up);
  EXPECT_THAT(session.closed_for, ElementsAre(second));
  session.ask(2);
  session.advance_and_tick(second - nanosecond);
  EXPECT_THAT(session.take_released(), ElementsAre(1));
  session.advance_and_tick(nanosecond);
  EXPECT_THAT(session.take_released(), ElementsAre(2));
}

TEST(Pacer, RemainingZeroClosesUntilTheReset) {
  Session session;
  session.hear(200, {{"x-ratelimit-sessionorders-remaining", "0"},
                     {"x-ratelimit-sessionorders-reset", "7"}});
  EXPECT_THAT(session.closed_for, ElementsAre(Duration::seconds(7)));
  session.hear(200, {{"X-RateLimit-SessionOrders-Remaining", "1"},
                     {"X-RateLimit-SessionOrders-Reset", "60"}});
  EXPECT_EQ(session.closed_for.size(), 1U);
}

TEST(Pacer, AResetOfZeroClosesForASecond) {
  Session session;
  session.hear(200, {{"X-RateLimit-SessionOrders-Remaining", "0"},
                     {"X-RateLimit-SessionOrders-Reset", "0"}});
  EXPECT_THAT(session.closed_for, ElementsAre(second));
}

TEST(Pacer, WaitsForTheDimensionThatIsUsedUpAndNotForTheDay) {
  Session session;
  std::vector<Field> fields = orders_used_up;
  fields.push_back({"X-RateLimit-AppDay-Limit", "10000000"});
  fields.push_back({"X-RateLimit-AppDay-Remaining", "9999999"});
  fields.push_back({"X-RateLimit-AppDay-Reset", "82332"});
  session.hear(429, fields);
  EXPECT_THAT(session.closed_for, ElementsAre(second));
}

TEST(Pacer, AnEarlierInstantNeverShortensAClosing) {
  Session session;
  session.hear(429, {{"Retry-After", "10"}});
  session.hear(429, orders_used_up);
  session.hear(429, {});
  session.ask(1);
  EXPECT_EQ(session.wake_in(), Duration::seconds(10));
  EXPECT_EQ(session.closed_for.size(), 1U);
  session.hear(429, {{"Retry-After", "11"}});
  EXPECT_EQ(session.wake_in(), Duration::seconds(11));
}

TEST(Pacer, A429ThatNamesNoInstantClosesForOneInterval) {
  for (const auto& fields : {std::vector<Field>{}, {{"Retry-After", "0"}}}) {
    Session session({.bucket = TokenBucket({.count = 2, .period = second}, 0)});
    session.hear(429, fields);
    EXPECT_THAT(session.closed_for, ElementsAre(Duration::milliseconds(500)));
    Session fixed({.adaptive = false});
    fixed.hear(429, fields);
    EXPECT_THAT(fixed.closed_for, IsEmpty());
  }
}

TEST(Pacer, AServersNeverIsBelievedForADay) {
  Session session;
  session.hear(429, {{"Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT"}});
  EXPECT_THAT(session.closed_for, ElementsAre(Duration::hours(24)));
  EXPECT_THAT(
      session.take_notes(),
      ElementsAre("refused place 429 ", "reset 2024-10-05T00:00:00.000Z 1d by Retry-After, not " +
                                            to_string(Instant::max())));
}

TEST(Pacer, HowLongAWordIsBelievedIsASetting) {
  Session session({.closing_max = Duration::minutes(5)});
  session.hear(429, {{"Retry-After", "299"}});
  session.hear(429, {{"Retry-After", "301"}});
  EXPECT_THAT(session.closed_for, ElementsAre(Duration::seconds(299), Duration::minutes(5)));
  Session patient({.closing_max = Duration::max()});  // stores keep none for longer
  patient.hear(429, {{"Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT"}});
  EXPECT_THAT(patient.closed_for, ElementsAre(bounds::limit_period_max));
}

TEST(Pacer, ARetryAfterThatIsAnEpochClosesUntilThen) {
  Session session;
  const std::int64_t epoch = session.now.wall.ns() / 1'000'000'000 + 7;
  session.hear(429, {{"Retry-After", std::to_string(epoch)}});
  EXPECT_THAT(session.closed_for, ElementsAre(Duration::seconds(7)));
}

TEST(Pacer, A503ClosesOnlyForAsLongAsItSays) {
  Session session;
  session.hear(503, {});
  EXPECT_THAT(session.closed_for, IsEmpty());
  session.hear(503, {{"Retry-After", "120"}});
  EXPECT_THAT(session.closed_for, ElementsAre(Duration::minutes(2)));
  session.hear(200, {{"Retry-After", "600"}});  // about something else
  EXPECT_EQ(session.closed_for.size(), 1U);
}

TEST(Pacer, StaysClosedWhenTheStoreCouldNotBeTold) {
  class Deaf : public Session {
    void run(const Close&) override {
      give(TellingFailed{Error(Code::unavailable, Outcome::not_applied, "store gone")});
    }
  };
  Deaf session;
  session.hear(429, {{"Retry-After", "4"}});
  session.ask(1);
  EXPECT_THAT(session.notes, testing::Contains("store_failed store gone"));
  EXPECT_EQ(session.wake_in(), Duration::seconds(4));
  session.advance_and_tick(Duration::seconds(4) - nanosecond);
  EXPECT_THAT(session.released, IsEmpty());
  session.advance_and_tick(nanosecond);
  EXPECT_THAT(session.released, ElementsAre(1));
}

// What the log is told.

TEST(Pacer, TellsOnceWhyTheFirstWaits) {
  Session session;
  session.ask(1);
  session.advance(Duration::milliseconds(480));
  session.ask(2);
  session.ask_urgent(3);  // now the first
  session.give(Ticked{});
  EXPECT_THAT(session.take_notes(), ElementsAre("acquired place 0", "token_wait place 520ms 0.480",
                                                "token_wait cancel 520ms 0.480"));
  session.hear(429, {{"Retry-After", "2"}});
  EXPECT_THAT(session.take_notes(),
              ElementsAre("refused place 429 ", "reset 2024-10-04T00:00:02.480Z 2s by Retry-After",
                          "waiting cancel 2s"));
}

TEST(Pacer, AClosingByAnotherProcessIsToldAsOne) {
  Session session;
  session.held = true;
  session.ask(1);
  session.give(Charged{answer_of({.closed = true, .retry_after = Duration::seconds(5)})});
  EXPECT_THAT(session.take_notes(), ElementsAre("waiting place 5s"));
  session.held = false;
  session.advance_and_tick(Duration::seconds(5));
  session.ask(2);
  EXPECT_THAT(session.take_notes(), ElementsAre("acquired place 0", "token_wait place 1s 0.000"));
}

TEST(Pacer, WhatThePaceWouldDoAnywayIsNoWarning) {
  Session session;
  session.hear(200, orders_used_up);
  session.take_notes();
  session.advance(Duration::milliseconds(1));
  session.hear(200, orders_used_up);
  EXPECT_THAT(session.take_notes(), IsEmpty());
  session.hear(200, {{"X-RateLimit-Session-Remaining", "0"}, {"X-RateLimit-Session-Reset", "60"}});
  EXPECT_THAT(session.take_notes(), ElementsAre("reset 2024-10-04T00:01:00.001Z 1m by Session",
                                                "approaching place Session: remaining 0, reset "
                                                "2024-10-04T00:01:00.001Z"));
}

TEST(Pacer, WarnsOnceNearALimitUntilThereIsRoomAgain) {
  Session session;
  const auto left = [&](std::string_view remaining) {
    session.hear(200, {{"X-RateLimit-Session-Limit", "120"},
                       {"X-RateLimit-Session-Remaining", remaining},
                       {"X-RateLimit-Session-Reset", "1"}});
    return session.take_notes();
  };
  EXPECT_THAT(left("3"), IsEmpty());
  EXPECT_THAT(left("2"), ElementsAre("approaching place Session: limit 120, remaining 2, reset "
                                     "2024-10-04T00:00:01.000Z"));
  EXPECT_THAT(left("1"), IsEmpty());
  session.hear(200, {{"X-RateLimit-Session-Limit", "120"}});  // does not tell
  EXPECT_THAT(left("0"), IsEmpty());
  EXPECT_THAT(left("119"), IsEmpty());
  EXPECT_THAT(left("1"), ElementsAre(HasSubstr("remaining 1")));
}

TEST(Pacer, ALimitOfOneIsWarnedAboutOnce) {
  Session session;
  const auto left = [&](std::string_view remaining) {
    session.hear(200, {{"X-RateLimit-SessionOrders-Limit", "1"},
                       {"X-RateLimit-SessionOrders-Remaining", remaining}});
    return session.take_notes();
  };
  EXPECT_THAT(left("1"), IsEmpty());
  EXPECT_THAT(left("0"), ElementsAre("approaching place SessionOrders: limit 1, remaining 0"));
  EXPECT_THAT(left("1"), IsEmpty());
  EXPECT_THAT(left("0"), IsEmpty());
}

TEST(Pacer, TellsTheHeadersOfEveryRefusal) {
  Session session;
  const std::string readings =
      "SessionOrders: limit 1, remaining 0, reset 2024-10-04T00:00:01.000Z";
  session.hear(429, orders_used_up);
  EXPECT_THAT(session.take_notes(),
              ElementsAre("refused place 429 " + readings,
                          "reset 2024-10-04T00:00:01.000Z 1s by SessionOrders",
                          "approaching place " + readings));
  session.hear(429, orders_used_up);  // closed already
  EXPECT_THAT(session.take_notes(), ElementsAre("refused place 429 " + readings));
  session.hear(503, {});  // not about limits
  EXPECT_THAT(session.take_notes(), IsEmpty());
  session.hear(429, {});
  EXPECT_THAT(session.take_notes(), ElementsAre("refused place 429 "));
}

TEST(Pacer, TellsOnceAnAnswerThatSomeOfItMadeNoSense) {
  Session session;
  session.hear(200, {{"Retry-After", "soon"}, {"X-RateLimit-Limit", "many"}});
  EXPECT_THAT(session.take_notes(), ElementsAre("ignored place 2 of 2"));
  session.hear(200, {{"X-RateLimit-Limit", "5"}});
  EXPECT_THAT(session.take_notes(), IsEmpty());
  session.hear(200, {{"X-RateLimit-Limit", "-5"}});
  EXPECT_THAT(session.take_notes(), ElementsAre("ignored place 1 of 3"));
}

TEST(Pacer, TellsWhoWasNotSent) {
  Session session;
  session.held = true;
  Ticket ticket = 0;
  while (ticket < bounds::pacer_waiting_max) session.ask(++ticket);
  session.ask(++ticket);
  EXPECT_THAT(session.take_notes(), ElementsAre("not_sent place 1001"));
  session.ask_urgent(++ticket, -nanosecond);
  EXPECT_THAT(session.take_notes(), ElementsAre("not_sent cancel 1002"));
}

TEST(Pacer, RemembersOnlySoManyDimensions) {
  Session session;
  const auto hear_of = [&](std::size_t dimension) {
    const std::string name = "X-RateLimit-D" + std::to_string(dimension) + "-Remaining";
    session.hear(200, {{name, "1"}});
    return session.take_notes().size();
  };
  for (std::size_t i = 0; i <= bounds::limit_readings_max; ++i) EXPECT_EQ(hear_of(i), 1U);
  EXPECT_EQ(hear_of(1), 0U);
  EXPECT_EQ(hear_of(0), 1U);  // forgotten for the last one
}

// Random walks: whatever happens, in whatever order.

class Walk : public Session {
 public:
  explicit Walk(Settings settings) : Session(settings), settings_(settings) {}

  void step(int op, int number) {
    const Duration some = Duration::milliseconds(number) + Duration::nanoseconds(number % 3);
    switch (op) {
      case 0:
      case 1:
      case 2:
        waits_[op == 2].emplace(++last_, now.steady + some * 10);
        op == 2 ? ask_urgent(last_, some * 10) : ask(last_, some * 10);
        break;
      case 3:
        withdraw(1 + static_cast<Ticket>(number) % (last_ + 1));
        break;
      case 4:
        advance_and_tick(number % 4 == 0 ? some : Duration::milliseconds(number / 10));
        break;
      case 5:
        if (wake) advance_and_tick(*wake - now.steady);
        break;
      case 6:
        hear_some(number);
        break;
      case 7:
        if (decided().allowed) used_.push_back(now.steady);  // another process
        break;
      case 8:
        held = number % 2 == 0;
        break;
      case 9:
      case 10:
        answer_ ? arrive() : decide();
        break;
      case 11:
        give(Reopened{});
        break;
      default:
        now.wall = now.wall + some - Duration::milliseconds(500);
    }
  }

  // Everything that still waits has a deadline.
  void finish() {
    held = false;
    if (charge_waits && !answer_) decide();
    if (answer_) arrive();
    for (int i = 0; i < 10'000 && wake; ++i) advance_and_tick(*wake - now.steady);
    RC_ASSERT(waits_[0].empty() && waits_[1].empty() && machine.waiting() == 0);
    std::sort(used_.begin(), used_.end());
    const std::int64_t at_once = settings_.bucket.burst + 1;
    for (std::size_t i = 0; i < used_.size(); ++i) {
      for (std::size_t j = i; j < used_.size(); ++j) {
        const auto count = static_cast<std::int64_t>(j - i + 1);
        const Duration between = used_[j] - used_[i];
        RC_ASSERT(count <= at_once + between.ns() / settings_.bucket.interval.ns());
      }
    }
  }

 private:
  void run(const Charge&) override {
    RC_ASSERT(!charge_waits);  // one at a time
    charge_waits = true;
    if (held) return;
    decide();
    arrive();
  }
  // The store's answer may take its time.
  void decide() {
    if (!charge_waits) return;
    answer_ = decided();
    charged_at_ = now.steady;
  }
  void arrive() {
    charge_waits = false;
    give(Charged{*std::exchange(answer_, std::nullopt)});
  }
  void run(const Release& effect) override {
    const bool urgent = waits_[1].contains(effect.ticket);
    auto& lane = waits_[urgent];
    RC_ASSERT(urgent || waits_[1].empty());
    RC_ASSERT(lane.begin()->first == effect.ticket);  // they were numbered as they came
    RC_ASSERT(now.steady <= lane.begin()->second);
    RC_ASSERT(now.steady >= closed_until_);
    RC_ASSERT(now.steady - charged_at_ <= bounds::pacer_charge_age_max);
    used_.push_back(charged_at_);
    lane.erase(lane.begin());
  }
  void run(const Refuse& effect) override {
    RC_ASSERT(waits_[0].erase(effect.ticket) + waits_[1].erase(effect.ticket) == 1);
  }
  void run(const Close& effect) override {
    Session::run(effect);
    closed_until_ = std::max(closed_until_, now.steady + (effect.until - now.wall));
  }
  void run(const Open& effect) override {
    Session::run(effect);
    closed_until_ = {};
  }
  void withdraw(Ticket ticket) {
    waits_[0].erase(ticket);
    waits_[1].erase(ticket);
    give(Withdrawn{ticket});
  }
  void hear_some(int number) {
    const std::string seconds = std::to_string(number % 4);
    switch (number % 3) {
      case 0:
        return hear(429, {});
      case 1:
        return hear(429, {{"Retry-After", seconds}});
      default:
        return hear(200, {{"X-RateLimit-SessionOrders-Remaining", "0"},
                          {"X-RateLimit-SessionOrders-Reset", seconds},
                          {"X-RateLimit-AppDay-Remaining", "5"},
                          {"X-RateLimit-AppDay-Reset", "80000"}});
    }
  }

  Settings settings_;
  std::map<Ticket, SteadyInstant> waits_[2];  // normal, urgent; with their deadlines
  Ticket last_ = 0;
  std::vector<SteadyInstant> used_;  // when what was used was charged
  std::optional<Answer> answer_;     // on its way to us
  SteadyInstant charged_at_;
  SteadyInstant closed_until_;
};

TEST(Pacer, KeepsItsPromisesOnRandomWalks) {
  EXPECT_TRUE(rc::check([] {
    const auto steps =
        *rc::gen::resize(300, rc::gen::container<std::vector<std::pair<int, int>>>(rc::gen::pair(
                                  rc::gen::inRange(0, 13), rc::gen::inRange(0, 1'000))));
    Walk walk(with_burst(*rc::gen::inRange(0, 3)));
    for (const auto& [op, number] : steps) walk.step(op, number);
    walk.finish();
  }));
}

}  // namespace
}  // namespace pawl::limit::pacer
