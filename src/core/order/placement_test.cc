// Goal: every edge of an order's way, and that nothing is sent again without proof.
// Method: the machine driven by hand, event by event; effects compared as text.
#include "core/order/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bounds.h"
#include "core/order/order_fixture.h"

namespace pawl::order {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using State = Placement::State;

// ---- the first attempt

TEST(Placement, SendsTheFirstAttemptWithoutAnotherSave) {
  Driven it;
  EXPECT_EQ(it.decide(Begun{}), "pace");
  EXPECT_EQ(it.decide(PaceGranted{}), "send 1");
  EXPECT_THAT(it.notes(), ElementsAre("executing_operation"));
  EXPECT_EQ(it.last<Send>()->request_id, "ref-1_place_1_aaaaaaaa");
}

TEST(Placement, LetsReduceOnlyOrdersPass) {
  Intent intent = fresh_intent();
  intent.order.reduce_only = true;
  EXPECT_EQ(Driven(intent).decide(Begun{}), "pace urgent");
}

TEST(Placement, SavesThatItIsConfirmedBeforeAnybodyHearsOfIt) {
  Driven it;
  it.send();
  EXPECT_EQ(it.decide(Answered{answered_with(Sent::accepted, "77")}), "save confirmed 1");
  EXPECT_EQ(it.decide(Saved{}), "finish confirmed");
  EXPECT_THAT(it.notes(), ElementsAre("order_confirmed"));
  const Finish finish = *it.last<Finish>();
  EXPECT_EQ(finish.progress.order_id, "77");
  EXPECT_EQ(finish.progress.life, Life::working);
  EXPECT_TRUE(finish.kept);
}

TEST(Placement, EndsAsRejectedWhenTheVenueRefuses) {
  Driven it;
  it.send();
  Answer answer = answered_with(Sent::refused);
  answer.status = 400;
  answer.code = "InsufficientFunds";
  answer.message = "no money";
  EXPECT_EQ(it.decide(Answered{answer}), "save rejected 1");
  EXPECT_THAT(it.notes(), ElementsAre("operation_failed", "client_error_no_retry"));
  EXPECT_EQ(it.decide(Saved{}), "finish rejected");
  EXPECT_THAT(it.notes(), ElementsAre("order_placement_failed_final"));
  EXPECT_THAT(it.last<Note>()->message, HasSubstr("Order placement failed: "));
  EXPECT_THAT(it.last<Note>()->message, HasSubstr(", not recorded in history"));
  EXPECT_THAT(it.progress().reason, HasSubstr("400 InsufficientFunds: no money"));
}

TEST(Placement, EndsAsRejectedWhenThePacerRefuses) {
  Driven it;
  it.decide(Begun{});
  const Error late(Code::refused, Outcome::not_applied, "too late");
  EXPECT_EQ(it.decide(PaceRefused{late}), "save rejected 1");
  EXPECT_EQ(it.decide(PaceGranted{}), "") << "late";
  EXPECT_EQ(it.decide(Saved{}), "finish rejected");
  EXPECT_EQ(it.progress().reason, "too late");
}

TEST(Placement, TakesAnAcceptanceWithoutAnIdForUnknown) {
  Driven it;
  it.send();
  EXPECT_EQ(it.decide(Answered{answered_with(Sent::accepted)}), "save reconciling 1");
}

// ---- certainly not applied

TEST(Placement, SendsAgainUnderAFreshIdWhenNothingHadLeft) {
  Driven it;
  it.send();
  EXPECT_EQ(it.decide(Answered{answered_with(Sent::not_sent)}), "wake");
  EXPECT_THAT(it.notes(), ElementsAre("operation_failed", "retrying_after_delay"));
  EXPECT_EQ(it.wake(), "save sending 2");
  const Progress saved = it.last<Save>()->progress;
  EXPECT_EQ(it.decide(Saved{}), "pace");
  EXPECT_EQ(it.decide(PaceGranted{}), "send 2");
  EXPECT_EQ(it.last<Send>()->request_id, saved.request_id) << "the one that is durable";
  EXPECT_NE(saved.request_id, "ref-1_place_1_aaaaaaaa");
  EXPECT_THAT(saved.request_id, HasSubstr("ref-1_place_"));
}

TEST(Placement, WaitsForTheResetAfterARateLimit) {
  Driven it;
  it.send();
  Answer answer = answered_with(Sent::rate_limited);
  answer.status = 429;
  answer.retry_after = Duration::seconds(30);
  answer.limits = "SessionOrders 0/1, reset 30s";
  EXPECT_EQ(it.decide(Answered{answer}), "wake");
  EXPECT_EQ(it.wake_at() - it.now().steady, Duration::seconds(30));
  EXPECT_EQ(it.last<Note>()->limits, answer.limits);
  EXPECT_EQ(it.last<Note>()->category, "rate_limited");
  it.pass(Duration::seconds(29));
  EXPECT_EQ(it.decide(Woken{}), "wake") << "too early";
  EXPECT_EQ(it.wake(), "save sending 2");
}

TEST(Placement, IsRejectedAfterAsManyAttemptsAsThereMayBe) {
  Driven it;
  it.send();
  for (int attempt = 1; attempt < 3; ++attempt) {
    EXPECT_EQ(it.decide(Answered{answered_with(Sent::rate_limited)}), "wake");
    it.wake();
    it.decide(Saved{});
    it.decide(PaceGranted{});
  }
  EXPECT_EQ(it.decide(Answered{answered_with(Sent::rate_limited)}), "save rejected 3");
  EXPECT_THAT(it.notes(), ElementsAre("operation_failed", "max_retries_exhausted"));
}

TEST(Placement, DoesNotWaitForAVenueForHours) {
  Driven it;
  it.send();
  Answer answer = answered_with(Sent::rate_limited);
  answer.retry_after = bounds::order_pushback_max + second;
  EXPECT_EQ(it.decide(Answered{answer}), "save rejected 1");
}

// ---- nothing ever left

// Ends it by `answers`, one an attempt.
Progress ended_by(const std::vector<Answer>& answers) {
  Driven it;
  it.send();
  for (const Answer& answer : answers) {
    if (it.decide(Answered{answer}) != "wake") break;
    it.wake();
    it.decide(Saved{});
    it.decide(PaceGranted{});
  }
  it.decide(Saved{});
  return it.progress();
}

TEST(Placement, SaysThatNothingLeftWhenNoAttemptReachedTheVenue) {
  const Answer unreachable = answered_with(Sent::not_sent);
  const Progress progress = ended_by({unreachable, unreachable, unreachable});
  EXPECT_EQ(progress.status, Status::rejected);
  EXPECT_EQ(progress.attempts, 3);
  EXPECT_TRUE(progress.unsent);
}

TEST(Placement, DoesNotSaySoOnceOneAttemptReachedTheVenue) {
  const Answer unreachable = answered_with(Sent::not_sent);
  Answer turned_away = unreachable;
  turned_away.turned_away = true;
  for (const Answer& one : {turned_away, answered_with(Sent::rate_limited)}) {
    const Progress progress = ended_by({unreachable, one, unreachable});
    EXPECT_EQ(progress.status, Status::rejected);
    EXPECT_FALSE(progress.unsent) << to_string(one.sent);
  }
}

TEST(Placement, SaysThatNothingLeftOfWhatWasWithdrawnOrRefusedItsTurn) {
  Driven withdrawn;
  withdrawn.decide(Begun{});
  withdrawn.decide(Withdrawn{});
  EXPECT_TRUE(withdrawn.progress().unsent);
  Driven refused;
  refused.decide(Begun{});
  refused.decide(PaceRefused{{Code::refused, Outcome::not_applied, "too late"}});
  EXPECT_TRUE(refused.progress().unsent);
}

TEST(Placement, NeverSaysSoOfWhatItDidNotOpenItself) {
  Driven it;
  it.decide(TakenOver{.resend = true});
  it.decide(Saved{});
  ASSERT_EQ(it.read_until_decided(empty_reading()), "save sending 2");
  it.decide(Saved{});
  it.decide(PaceGranted{});
  it.decide(Answered{answered_with(Sent::not_sent)});
  EXPECT_EQ(it.decide(Withdrawn{}), "save rejected 2");
  EXPECT_FALSE(it.progress().unsent);
  Driven settled;
  settled.decide(Settled{{.as = Resolution::As::absent, .reason = "I looked"}});
  EXPECT_FALSE(settled.progress().unsent);
}

TEST(Placement, DoesNotSaySoWhenTheVerdictCouldNotBeKept) {
  Driven it;
  it.decide(Begun{});
  it.decide(Withdrawn{});
  const Error lost(Code::unavailable, Outcome::unknown, "lost");
  for (int i = 0; i < 3; ++i) {
    it.decide(SaveFailed{lost});
    it.wake();
  }
  EXPECT_EQ(it.decide(SaveFailed{lost}), "finish unresolved not kept");
  EXPECT_FALSE(it.last<Finish>()->progress.unsent);
}

// ---- unknown

TEST(Placement, ReconcilesWhatGotLostAndAdoptsWhatItFinds) {
  Driven it;
  it.send();
  Answer lost = answered_with(Sent::unknown);
  lost.message = "timeout";
  EXPECT_EQ(it.decide(Answered{lost}), "save reconciling 1");
  EXPECT_THAT(it.notes(), ElementsAre("operation_failed", "reconciling_before_retry"));
  EXPECT_EQ(it.decide(Saved{}), "read");
  EXPECT_EQ(it.decide(ReadDone{reading_of({shown("77", Life::filled)})}), "save confirmed 1");
  EXPECT_THAT(it.notes(),
              ElementsAre("order_found_in_reconciliation", "order_found_skipping_retry"));
  EXPECT_EQ(it.decide(Saved{}), "finish confirmed");
  EXPECT_EQ(it.progress().order_id, "77");
  EXPECT_EQ(it.progress().life, Life::filled);
  ASSERT_EQ(it.progress().evidence.size(), 3u);
  EXPECT_EQ(it.progress().evidence[0].source, "place attempt 1");
  EXPECT_THAT(it.progress().evidence[0].says, HasSubstr("timeout"));
  EXPECT_EQ(it.progress().evidence[1].source, "GET orders");
}

TEST(Placement, IsRejectedWhenTheVenueTookItAndRefusedItThen) {
  Driven it;
  it.lose();
  EXPECT_EQ(it.decide(ReadDone{reading_of({shown("77", Life::rejected)})}), "save rejected 1");
  EXPECT_EQ(it.progress().order_id, "77");
}

TEST(Placement, DoesNotBelieveARefusalThatAnotherRowContradicts) {
  Driven it;
  it.lose();
  const Reading both = reading_of({shown("77", Life::filled), shown("77", Life::rejected)});
  EXPECT_EQ(it.decide(ReadDone{both}), "save confirmed 1");
  EXPECT_EQ(it.progress().life, Life::filled);
}

TEST(Placement, SendsAgainOnceAbsenceIsEarned) {
  Driven it;
  it.lose();
  const SteadyInstant lost = it.now().steady;
  EXPECT_EQ(it.read_until_decided(empty_reading()), "save sending 2");
  EXPECT_THAT(it.notes(),
              ElementsAre("safe_to_retry_after_reconciliation", "no_order_found_retrying"));
  EXPECT_GE(it.now().steady - lost, Settings().settle + bounds::order_absence_gap);
  EXPECT_LE(it.now().steady - lost, Settings().settle + second * 2);
  EXPECT_EQ(it.decide(Saved{}), "pace");
  EXPECT_EQ(it.decide(PaceGranted{}), "send 2");
}

TEST(Placement, IsRejectedWhenItIsAbsentAfterTheLastAttempt) {
  Intent intent = fresh_intent();
  intent.progress.attempts = 3;
  Driven it(intent);
  it.lose();
  EXPECT_EQ(it.read_until_decided(empty_reading()), "save rejected 3");
  EXPECT_THAT(it.notes(), ElementsAre("max_retries_exhausted"));
}

TEST(Placement, StartsTheSettleTimeAnewWithEveryAttempt) {
  Driven it;
  it.lose();
  EXPECT_EQ(it.read_until_decided(empty_reading()), "save sending 2");
  it.decide(Saved{});
  it.decide(PaceGranted{});
  const SteadyInstant sent = it.now().steady;
  it.decide(Answered{answered_with(Sent::unknown)});
  EXPECT_EQ(it.decide(Saved{}), "read");
  EXPECT_EQ(it.decide(ReadDone{empty_reading()}), "wake");
  EXPECT_EQ(it.wake_at() - it.now().steady, second) << "so do the waits between readings";
  EXPECT_EQ(it.wake(), "read");
  EXPECT_EQ(it.read_until_decided(empty_reading()), "save sending 3");
  EXPECT_GE(it.now().steady - sent, Settings().settle + bounds::order_absence_gap);
}

TEST(Placement, MeasuresTheSettleTimeOnTheSteadyClock) {
  Driven it;
  it.lose();
  it.set_wall(noon + Duration::days(1));
  EXPECT_EQ(it.decide(ReadDone{empty_reading()}), "wake");
  it.set_wall(noon - Duration::days(1));
  const SteadyInstant lost = it.now().steady;
  ASSERT_EQ(it.wake(), "read");
  EXPECT_EQ(it.read_until_decided(empty_reading()), "save sending 2");
  EXPECT_GE(it.now().steady - lost, Settings().settle);
}

TEST(Placement, CountsAReadingFromWhenItBegan) {
  Driven it;
  it.lose();
  it.pass(Settings().settle + second);
  // Begun before the settle time was over, done after it: it does not count, nor the one before.
  EXPECT_EQ(it.decide(ReadDone{empty_reading()}), "wake");
  EXPECT_EQ(it.wake(), "read");
  EXPECT_EQ(it.decide(ReadDone{empty_reading()}), "wake") << "the first that counts";
  EXPECT_EQ(it.wake(), "read");
  EXPECT_EQ(it.decide(ReadDone{empty_reading()}), "save sending 2");
}

TEST(Placement, WaitsUntilTheVenueTakesNoCopyAnyMore) {
  Driven it;
  it.send();
  Answer lost = answered_with(Sent::unknown);
  lost.expires = noon + Duration::seconds(60);
  it.decide(Answered{lost});
  EXPECT_EQ(it.last<Save>()->progress.expires, lost.expires);
  ASSERT_EQ(it.decide(Saved{}), "read");
  Reading reading = empty_reading();
  std::string wants = "wake";
  for (int i = 0; i < 100 && wants == "wake"; ++i) {
    reading.venue_time = it.now().wall - second;  // its clock is a second late
    wants = it.decide(ReadDone{reading});
    if (wants != "wake") break;
    ASSERT_EQ(it.wake(), "read");
  }
  EXPECT_EQ(wants, "save sending 2");
  EXPECT_GT(*reading.venue_time, *lost.expires + bounds::order_expiry_margin);
}

TEST(Placement, DoesNotTakeItForAbsentWithoutTheVenuesTime) {
  Driven it;
  it.send();
  Answer lost = answered_with(Sent::unknown);
  lost.expires = noon + second;
  it.decide(Answered{lost});
  it.decide(Saved{});
  EXPECT_EQ(it.read_until_decided(empty_reading()), "save unresolved 1");
}

TEST(Placement, KeepsTheLatestExpiryOfAllAttempts) {
  Intent intent = fresh_intent();
  intent.progress.expires = noon + Duration::hours(1);
  Driven it(intent);
  it.send();
  Answer lost = answered_with(Sent::unknown);
  lost.expires = noon + second;
  it.decide(Answered{lost});
  EXPECT_EQ(it.progress().expires, noon + Duration::hours(1));
}

// ---- what never leads to another attempt

TEST(Placement, NeverSendsADuplicateAgain) {
  Driven it;
  it.send();
  Answer answer = answered_with(Sent::duplicate);
  answer.status = 409;
  EXPECT_EQ(it.decide(Answered{answer}), "save reconciling 1");
  EXPECT_THAT(it.notes(),
              ElementsAre("operation_failed", "conflict_no_retry", "reconciling_before_retry"));
  EXPECT_TRUE(it.last<Save>()->progress.sealed);
  ASSERT_EQ(it.decide(Saved{}), "read");
  EXPECT_EQ(it.read_until_decided(empty_reading()), "save unresolved 1");
}

TEST(Placement, NeverSendsWhatWasNotCompletedAgain) {
  Driven it;
  it.send();
  Answer answer = answered_with(Sent::unknown, "55024416");
  answer.status = 202;
  answer.code = not_completed_code;
  EXPECT_EQ(it.decide(Answered{answer}), "save reconciling 1");
  EXPECT_THAT(it.notes(), ElementsAre("operation_failed", "trade_not_completed_no_retry",
                                      "reconciling_before_retry"));
  EXPECT_EQ(it.decide(Saved{}), "read 55024416") << "its id is looked at first";
  EXPECT_EQ(it.read_until_decided(empty_reading()), "save unresolved 1");
}

TEST(Placement, TakesEveryAnswerWithAnIdForALiveOrder) {
  for (const Sent sent : {Sent::refused, Sent::rate_limited, Sent::not_sent, Sent::unknown}) {
    Driven it;
    it.send();
    EXPECT_EQ(it.decide(Answered{answered_with(sent, "5")}), "save reconciling 1");
    EXPECT_TRUE(it.progress().sealed);
    EXPECT_EQ(it.decide(Saved{}), "read 5");
    EXPECT_EQ(it.decide(ReadDone{reading_of({shown("5")})}), "save confirmed 1");
  }
}

TEST(Placement, RemembersAcrossRestartsThatItIsNeverSentAgain) {
  Intent intent = fresh_intent();
  intent.progress.status = Status::reconciling;
  intent.progress.sealed = true;
  Driven it(intent);
  it.decide(TakenOver{});
  it.decide(Saved{});
  EXPECT_EQ(it.read_until_decided(empty_reading()), "save unresolved 1");
}

TEST(Placement, LeavesTwoOrdersForOneReferenceToAPerson) {
  Driven it;
  it.lose();
  EXPECT_EQ(it.decide(ReadDone{reading_of({shown("1"), shown("2")})}), "save unresolved 1");
  EXPECT_EQ(it.decide(Saved{}), "finish unresolved");
  EXPECT_THAT(it.notes(), ElementsAre("order_unresolved"));
  std::string all;
  for (const Evidence& each : it.progress().evidence) all += each.says + "\n";
  EXPECT_THAT(all, HasSubstr("order 1:"));
  EXPECT_THAT(all, HasSubstr("order 2:"));
}

TEST(Placement, LeavesAProbableOrderToAPerson) {
  Driven it;
  it.lose();
  Reading reading = empty_reading();
  reading.probable = {shown("9")};
  EXPECT_EQ(it.read_until_decided(reading), "save unresolved 1");
  EXPECT_GE(it.now().steady - SteadyInstant(), Settings().settle);
  EXPECT_THAT(it.progress().evidence.back().says, HasSubstr("looks like it: order 9"));
}

TEST(Placement, DoesNotAdoptAnothersOrder) {
  VenueOrder other_size = shown("1");
  other_size.size = decimal("0.2");
  VenueOrder other_side = shown("1");
  other_side.side = Side::sell;
  VenueOrder other_instrument = shown("1");
  other_instrument.instrument = "ETH-USDT-SWAP";
  for (const VenueOrder& other : {other_size, other_side, other_instrument}) {
    Driven it;
    it.lose();
    EXPECT_EQ(it.decide(ReadDone{reading_of({other})}), "save unresolved 1");
    EXPECT_THAT(it.progress().evidence.back().says, HasSubstr("is another: order 1"));
  }
}

TEST(Placement, GivesUpReadingWhenPatienceIsOver) {
  Driven it;
  it.lose();
  const SteadyInstant lost = it.now().steady;
  EXPECT_EQ(it.read_until_decided(unreadable()), "save unresolved 1");
  EXPECT_EQ(it.now().steady - lost, Settings().settle + Settings().patience);
  EXPECT_THAT(it.progress().reason, HasSubstr("GET orders: 503"));
}

TEST(Placement, DoesNotWaitForWhatTheVenueNoLongerKeeps) {
  Driven it;
  it.lose();
  const SteadyInstant lost = it.now().steady;
  Reading reading = empty_reading();
  reading.whole = false;
  reading.why_not_whole = "orders-history keeps canceled orders for 2h";
  EXPECT_EQ(it.read_until_decided(reading), "save unresolved 1");
  EXPECT_EQ(it.now().steady - lost, Settings().settle);
}

TEST(Placement, BelievesReadingsThatAreWholeAgain) {
  Driven it;
  it.lose();
  for (int i = 0; i < 6; ++i) {
    ASSERT_EQ(it.decide(ReadDone{unreadable()}), "wake");
    ASSERT_EQ(it.wake(), "read");
  }
  EXPECT_EQ(it.read_until_decided(empty_reading()), "save sending 2");
}

// ---- taken over

TEST(Placement, ReconcilesWhatItFindsOpen) {
  for (const Status status : {Status::sending, Status::reconciling, Status::unresolved}) {
    Intent intent = fresh_intent();
    intent.progress.status = status;
    Driven it(intent);
    EXPECT_EQ(it.decide(TakenOver{}), "save reconciling 1") << to_string(status);
    EXPECT_THAT(it.notes(), ElementsAre("reconciling_before_retry"));
    EXPECT_EQ(it.decide(Saved{}), "read");
    const SteadyInstant taken = it.now().steady;
    EXPECT_EQ(it.read_until_decided(empty_reading()), "save sending 2");
    EXPECT_GE(it.now().steady - taken, Settings().settle) << "from when it was taken over";
  }
}

// The one before may have ended within its attempt, and on disk nothing says when.
TEST(Placement, WaitsForTheLastCopyAtEveryTakeOver) {
  Intent intent = fresh_intent();
  for (const char* which : {"first", "second"}) {
    Driven it(intent);
    it.decide(TakenOver{});
    intent = it.machine().intent();  // as it is saved, and left again
    EXPECT_EQ(intent.progress.status, Status::reconciling);
    it.decide(Saved{});
    const SteadyInstant taken = it.now().steady;
    EXPECT_EQ(it.read_until_decided(empty_reading()), "save sending 2");
    EXPECT_GE(it.now().steady - taken, Settings().settle + Settings().retry.attempt_timeout)
        << which;
  }
}

TEST(Placement, SendsNothingWhenSomebodyOnlyAsks) {
  Intent intent = fresh_intent();
  Driven it(intent);
  it.decide(TakenOver{.resend = false});
  it.decide(Saved{});
  EXPECT_EQ(it.read_until_decided(empty_reading()), "save rejected 1");
}

// ---- withdrawn

TEST(Placement, EndsAsRejectedWhenWithdrawnBeforeAByteLeft) {
  Driven it;
  it.decide(Begun{});
  EXPECT_EQ(it.decide(Withdrawn{}), "leave pace, save rejected 1");
  EXPECT_EQ(it.decide(PaceGranted{}), "") << "late";
  EXPECT_EQ(it.decide(Saved{}), "finish rejected");
}

TEST(Placement, EndsAsRejectedWhenWithdrawnBeforeItBegan) {
  Driven it;
  EXPECT_EQ(it.decide(Withdrawn{}), "");
  EXPECT_EQ(it.decide(Begun{}), "save rejected 1");
}

TEST(Placement, EndsAsRejectedWhenWithdrawnBetweenAttempts) {
  Driven it;
  it.send();
  it.decide(Answered{answered_with(Sent::rate_limited)});
  EXPECT_EQ(it.decide(Withdrawn{}), "save rejected 1");
}

TEST(Placement, SeesAnAttemptThroughThatIsUnderWayWhenWithdrawn) {
  Driven it;
  it.send();
  EXPECT_EQ(it.decide(Withdrawn{}), "");
  EXPECT_EQ(it.decide(Answered{answered_with(Sent::accepted, "1")}), "save confirmed 1");
}

TEST(Placement, SendsNoFurtherAttemptOnceWithdrawn) {
  Driven it;
  it.send();
  it.decide(Withdrawn{});
  EXPECT_EQ(it.decide(Answered{answered_with(Sent::not_sent)}), "save rejected 1");

  Driven lost;
  lost.lose();
  lost.decide(Withdrawn{});
  EXPECT_EQ(lost.read_until_decided(empty_reading()), "save rejected 1");

  Driven saving;
  saving.send();
  saving.decide(Answered{answered_with(Sent::not_sent)});
  ASSERT_EQ(saving.wake(), "save sending 2");
  saving.decide(Withdrawn{});
  EXPECT_EQ(saving.decide(Saved{}), "save rejected 2");
}

TEST(Placement, SendsAnotherAttemptForWhoWantsItAfterItWasWithdrawn) {
  Driven lost;
  lost.lose();
  lost.decide(Withdrawn{});
  EXPECT_EQ(lost.decide(WantedAgain{}), "");
  EXPECT_EQ(lost.read_until_decided(empty_reading()), "save sending 2");

  Driven sending;
  sending.send();
  sending.decide(Withdrawn{});
  sending.decide(WantedAgain{});
  EXPECT_EQ(sending.decide(Answered{answered_with(Sent::not_sent)}), "wake");

  Driven saving;
  saving.send();
  saving.decide(Answered{answered_with(Sent::not_sent)});
  ASSERT_EQ(saving.wake(), "save sending 2");
  saving.decide(Withdrawn{});
  saving.decide(WantedAgain{});
  EXPECT_EQ(saving.decide(Saved{}), "pace");

  Driven over;
  over.lose();
  over.decide(Withdrawn{});
  ASSERT_EQ(over.read_until_decided(empty_reading()), "save rejected 1");
  EXPECT_EQ(over.decide(WantedAgain{}), "") << "the verdict stands";
  EXPECT_EQ(over.decide(Saved{}), "finish rejected");
}

TEST(Placement, NeverTurnsUnknownIntoFailedWhenWithdrawn) {
  Driven it;
  it.lose();
  it.decide(Withdrawn{});
  EXPECT_EQ(it.read_until_decided(unreadable()), "save unresolved 1");
}

// ---- saves that fail

TEST(Placement, RepeatsASaveAfterOneTwoAndFourSeconds) {
  Driven it;
  it.send();
  it.decide(Answered{answered_with(Sent::accepted, "77")});
  const Error full(Code::unavailable, Outcome::unknown, "disk full");
  for (const int seconds : {1, 2, 4}) {
    EXPECT_EQ(it.decide(SaveFailed{full}), "wake");
    EXPECT_THAT(it.notes(), ElementsAre("order_save_retry"));
    EXPECT_EQ(it.wake_at() - it.now().steady, Duration::seconds(seconds));
    EXPECT_EQ(it.wake(), "save confirmed 1");
  }
  EXPECT_EQ(it.decide(SaveFailed{full}), "finish unresolved not kept");
  EXPECT_THAT(it.notes(), ElementsAre("order_not_saved"));
  EXPECT_EQ(it.progress().order_id, "77") << "what is known is told";
  EXPECT_THAT(it.progress().reason, HasSubstr("disk full"));
}

TEST(Placement, GoesOnWhenASaveSucceedsAtLast) {
  Driven it;
  it.send();
  it.decide(Answered{answered_with(Sent::refused)});
  const Error full(Code::unavailable, Outcome::unknown, "disk full");
  it.decide(SaveFailed{full});
  it.wake();
  EXPECT_EQ(it.decide(Saved{}), "finish rejected");
}

TEST(Placement, DoesNotSendWhatCouldNotBeSaved) {
  Driven it;
  it.send();
  it.decide(Answered{answered_with(Sent::not_sent)});
  ASSERT_EQ(it.wake(), "save sending 2");
  const Error full(Code::unavailable, Outcome::unknown, "disk full");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(it.decide(SaveFailed{full}), "wake");
    EXPECT_EQ(it.wake(), "save sending 2");
  }
  EXPECT_EQ(it.decide(SaveFailed{full}), "finish unresolved not kept");
}

// ---- settled by a person

TEST(Placement, TakesAPersonsWordForAnOrderThatWasPlaced) {
  Intent intent = fresh_intent();
  intent.progress.status = Status::unresolved;
  Driven it(intent);
  const Resolution said{
      .as = Resolution::As::placed, .order_id = "42", .reason = "seen in the portal", .who = "ann"};
  ASSERT_TRUE(check(said, intent));
  EXPECT_EQ(it.decide(Settled{said}), "save confirmed 1");
  EXPECT_THAT(it.notes(), ElementsAre("order_settled"));
  EXPECT_EQ(it.decide(Saved{}), "finish confirmed");
  EXPECT_EQ(it.progress().order_id, "42");
  EXPECT_EQ(it.progress().evidence.back().source, "person");
  EXPECT_THAT(it.progress().evidence.back().says, HasSubstr("ann: settled as placed"));
}

TEST(Placement, TakesAPersonsWordForAnOrderThatIsAbsent) {
  Intent intent = fresh_intent();
  intent.progress.status = Status::unresolved;
  Driven it(intent);
  const Resolution said{.as = Resolution::As::absent, .reason = "support says so", .who = "ann"};
  EXPECT_EQ(it.decide(Settled{said}), "save rejected 1");
  EXPECT_THAT(it.progress().reason, HasSubstr("support says so"));
}

TEST(Resolution, MustBeReasonedAndAboutAnOpenOrder) {
  Intent intent = fresh_intent();
  const Resolution absent{.as = Resolution::As::absent, .reason = "r", .who = "ann"};
  EXPECT_TRUE(check(absent, intent));
  Resolution unreasoned = absent;
  unreasoned.reason = "\n ";
  EXPECT_EQ(check(unreasoned, intent).error().code, Code::usage);
  Resolution placed{.as = Resolution::As::placed, .reason = "r", .who = "ann"};
  EXPECT_EQ(check(placed, intent).error().code, Code::usage) << "no id";
  intent.progress.order_id = "5";
  EXPECT_TRUE(check(placed, intent)) << "the venue had named it";
  placed.order_id = std::string(bounds::order_name_bytes_max + 1, '1');
  EXPECT_FALSE(check(placed, intent));
  for (const char* id : {" 5", "5\n", "5 6", "5\u00a0"}) {
    placed.order_id = id;
    EXPECT_EQ(check(placed, intent).error().code, Code::usage) << id;
  }
  Resolution contradictory = absent;
  contradictory.order_id = "5";
  EXPECT_FALSE(check(contradictory, intent));
  for (const Status status : {Status::confirmed, Status::rejected}) {
    intent.progress.status = status;
    EXPECT_EQ(check(absent, intent).error().code, Code::refused);
  }
  EXPECT_EQ(resolution_of("placed"), Resolution::As::placed);
  EXPECT_EQ(resolution_of("maybe"), std::nullopt);
  EXPECT_EQ(to_string(Resolution::As::absent), "absent");
}

// ---- all of them

TEST(Placement, DoesNothingOnceItIsOver) {
  Driven it;
  it.send();
  it.decide(Answered{answered_with(Sent::accepted, "77")});
  it.decide(Saved{});
  ASSERT_TRUE(it.machine().is_over());
  const Intent before = it.machine().intent();
  const Error error(Code::unavailable, Outcome::unknown, "x");
  for (const Event& late : std::vector<Event>{
           Begun{}, TakenOver{}, PaceGranted{}, PaceRefused{error}, Saved{}, SaveFailed{error},
           Answered{}, ReadDone{}, Woken{}, Withdrawn{}, WantedAgain{}}) {
    EXPECT_EQ(it.decide(late), "");
  }
  EXPECT_EQ(it.machine().intent(), before);
}

TEST(Placement, CarriesBothIdsInEveryNoteAndEvent) {
  Driven it;
  const auto check_all = [&] {
    for (const Effect& effect : it.effects()) {
      if (const auto* note = std::get_if<Note>(&effect)) {
        EXPECT_EQ(note->external_reference, "ref-1");
        EXPECT_EQ(note->request_id, it.progress().request_id);
      }
      if (const auto* keep = std::get_if<Keep>(&effect)) {
        EXPECT_EQ(keep->event.correlation.external_reference, "ref-1");
        EXPECT_THAT(keep->event.correlation.request_id, HasSubstr("ref-1_place_"));
      }
    }
  };
  for (const Event& event :
       std::vector<Event>{Begun{}, PaceGranted{}, Answered{answered_with(Sent::unknown)}, Saved{},
                          ReadDone{reading_of({shown("1")})}, Saved{}}) {
    it.decide(event);
    check_all();
  }
  EXPECT_TRUE(it.machine().is_over());
}

TEST(Placement, TellsTheAuditLogBeforeItActs) {
  Driven it;
  it.decide(Begun{});
  EXPECT_TRUE(std::holds_alternative<Keep>(it.effects().front()));
  it.decide(PaceGranted{});
  it.decide(Answered{answered_with(Sent::unknown)});
  EXPECT_EQ(it.last<Keep>()->event.type, audit::EventType::order);
  EXPECT_TRUE(std::holds_alternative<Keep>(it.effects().front()));
  it.decide(Saved{});
  it.decide(ReadDone{empty_reading()});
  EXPECT_EQ(it.last<Keep>()->event.type, audit::EventType::reconcile);
}

}  // namespace
}  // namespace pawl::order
