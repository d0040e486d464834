// Goal: every edge of the attempt machine, and the rules it stands for: nothing of unknown outcome
// is sent again without proof, never more attempts than allowed, never before the server's instant,
// never past the deadline. Method: one test an edge, by hand; a property over arbitrary sequences
// of events, whose rules are written here a second time.
#include "core/retry/attempts.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <vector>

#include "base/bounds.h"
#include "core/retry/backoff.h"

namespace pawl::retry {
namespace {

using State = Attempts::State;

constexpr SteadyInstant start = SteadyInstant::from_ns(1'000'000'000'000);
constexpr Duration second = Duration::seconds(1);
constexpr Duration nanosecond = Duration::nanoseconds(1);

constexpr Classification good = {Failure::none, Outcome::applied, false};
constexpr Classification refused = {Failure::rate_limited, Outcome::not_applied, true};
constexpr Classification wrong = {Failure::client_error, Outcome::not_applied, false};
constexpr Classification lost = {Failure::server_error, Outcome::unknown, true};
constexpr Classification conflict = {Failure::conflict, Outcome::unknown, false};

constexpr SteadyInstant at(std::int64_t seconds) {
  return start + second * seconds;
}

// Delays of 1 s, 2 s, 4 s; three attempts of up to 10 s.
Policy plain() {
  Policy policy;
  policy.jitter = Jitter::none;
  policy.attempt_timeout = second * 10;
  return policy;
}
const Policy plain_policy = plain();

// Gives events, and expects what comes of them.
class Driven {
 public:
  explicit Driven(Setup setup = {}) : machine(with_policy(setup)) {}
  Driven(Setup setup, const Resumed& resumed) : machine(with_policy(setup), resumed) {}

  template <class T>
  T expect(const Event& event) {
    const Effect effect = machine.decide(event);
    const T* found = std::get_if<T>(&effect);
    if (found == nullptr) {
      ADD_FAILURE() << "another effect: number " << effect.index();
      return {};
    }
    return *found;
  }

  Decision finish(const Event& event) {
    const Decision decision = expect<Finish>(event).decision;
    EXPECT_EQ(machine.state(), State::ended);
    EXPECT_EQ(decision, machine.decision());
    return decision;
  }

  // To the wait after an attempt that ended at once.
  WaitUntil fail(SteadyInstant now, Classification seen = refused) {
    expect<SpendBudget>(Ended{.now = now, .attempt = machine.facts().attempt, .seen = seen});
    return expect<WaitUntil>(BudgetAnswered{true});
  }

  Attempts machine;

 private:
  static Setup with_policy(Setup setup) {
    if (setup.policy == nullptr) setup.policy = &plain_policy;
    return setup;
  }
};

Setup careful() {
  return {.can_reconcile = true};
}
Setup hedged() {
  return {.harmless = true, .hedge_after = second};
}

void expect_end(const Decision& decision, Next next, Reason reason, Outcome outcome) {
  EXPECT_EQ(to_string(decision.next), to_string(next));
  EXPECT_EQ(to_string(decision.reason), to_string(reason));
  EXPECT_EQ(to_string(decision.outcome), to_string(outcome));
}

// From idle.

TEST(Attempts, BeginSendsTheFirst) {
  Driven driven;
  EXPECT_EQ(driven.machine.state(), State::idle);
  const Send send = driven.expect<Send>(Begin{start});
  EXPECT_EQ(send.attempt, 1);
  EXPECT_EQ(send.timeout, second * 10);
  EXPECT_EQ(send.hedge_at, std::nullopt);
  EXPECT_EQ(driven.machine.state(), State::sending);
}

TEST(Attempts, WhileTheBreakerIsOpenNothingIsSent) {
  Driven driven;
  expect_end(driven.finish(Begin{.now = start, .breaker_open = true}), Next::give_up,
             Reason::breaker_open, Outcome::not_applied);
}

TEST(Attempts, WhatWasTakenOverIsLookedForBeforeItIsSent) {
  Driven driven(careful());
  EXPECT_EQ(driven.expect<Reconcile>(Begin{.now = start, .taken_over = true}).attempt, 0);
  EXPECT_EQ(driven.machine.state(), State::reconciling);
  driven.expect<SpendBudget>(Reconciled{at(1), Outcome::not_applied});
  EXPECT_EQ(driven.expect<WaitUntil>(BudgetAnswered{true}).at, at(1)) << "at once";
  EXPECT_EQ(driven.expect<Send>(Woken{at(1)}).attempt, 1);
}

TEST(Attempts, WhatWasTakenOverAndCannotBeLookedForIsUnresolved) {
  Driven driven;
  expect_end(driven.finish(Begin{.now = start, .taken_over = true}), Next::unresolved,
             Reason::outcome_unknown, Outcome::unknown);
}

TEST(Attempts, WhatWasTakenOverAndIsHarmlessIsSent) {
  Driven driven({.harmless = true});
  driven.expect<Send>(Begin{.now = start, .taken_over = true});
  expect_end(driven.finish(Ended{.now = start, .seen = wrong}), Next::give_up,
             Reason::not_retryable, Outcome::unknown);
}

TEST(Attempts, WhatSleptGoesOnWithItsNextAttempt) {
  Driven before({.sleep_from = second * 2});
  before.expect<Send>(Begin{start});
  before.fail(at(3));
  before.expect<Send>(Woken{at(4)});
  before.expect<SpendBudget>(Ended{.now = at(5), .attempt = 2, .seen = refused});
  EXPECT_EQ(before.expect<SleepFor>(BudgetAnswered{true}).delay, second * 2);

  const Resumed resumed{before.machine.facts(), second * 5};
  Driven after({}, resumed);
  EXPECT_EQ(after.expect<Send>(Begin{at(1000)}).attempt, 3);
  EXPECT_EQ(after.machine.facts().elapsed, second * 10) << "5 before, and 5 of sleep";
  expect_end(after.finish(Ended{.now = at(1000), .attempt = 3, .seen = refused}), Next::give_up,
             Reason::attempts_exhausted, Outcome::not_applied);

  Driven early({}, {before.machine.facts(), second});
  EXPECT_EQ(early.expect<WaitUntil>(Begin{at(1000)}).at, at(1001)) << "what is left of it";
}

TEST(Attempts, WhatWaitedForItsKeyAfterASleepHasWaitedThatLongToo) {
  Driven before({.sleep_from = second});
  before.expect<Send>(Begin{start});
  before.expect<SpendBudget>(Ended{.now = start, .seen = refused, .pushback = second * 9});
  EXPECT_EQ(before.expect<SleepFor>(BudgetAnswered{true}).delay, second * 9);
  Driven after({}, {before.machine.facts(), second * 9});
  after.expect<Send>(Begin{.now = at(1000), .waited = second * 3});
  EXPECT_EQ(after.machine.facts().elapsed, second * 12) << "9 of sleep, and 3 for the key";
}

TEST(Attempts, WhoeverCanWaitsForAnOpenBreaker) {
  Driven driven;
  EXPECT_EQ(
      driven.expect<WaitUntil>(Begin{.now = start, .breaker_open = true, .probe_in = second * 7})
          .at,
      at(7));
  EXPECT_EQ(driven.machine.decision().reason, Reason::breaker_open);
  EXPECT_EQ(
      driven.expect<WaitUntil>(Woken{.now = at(7), .breaker_open = true, .probe_in = second}).at,
      at(8));
  EXPECT_EQ(driven.expect<Send>(Woken{.now = at(8)}).attempt, 1) << "to wait uses up no attempt";
  EXPECT_EQ(driven.machine.facts().previous_delay, Duration()) << "nor does it lengthen a backoff";

  Driven sleeper({.sleep_from = second * 5});
  EXPECT_EQ(
      sleeper.expect<SleepFor>(Begin{.now = start, .breaker_open = true, .probe_in = second * 7})
          .delay,
      second * 7);
  Driven after({.sleep_from = second * 5}, {sleeper.machine.facts(), second * 7});
  EXPECT_EQ(after.expect<Send>(Begin{at(50)}).attempt, 1);

  Policy hasty = plain();
  hasty.deadline = second * 5;
  Driven late({.policy = &hasty});
  expect_end(late.finish(Begin{.now = start, .breaker_open = true, .probe_in = second * 7}),
             Next::give_up, Reason::breaker_open, Outcome::not_applied);
}

TEST(Attempts, WhatSleptBeforeReconciliationGoesOnWithThat) {
  auto setup = careful();
  setup.sleep_from = second * 60;
  Driven before(setup);
  before.expect<Send>(Begin{start});
  const SleepFor sleep =
      before.expect<SleepFor>(Ended{.now = start, .seen = lost, .pushback = second * 90});
  EXPECT_EQ(sleep.delay, second * 90);
  Driven after(setup, {before.machine.facts(), second * 90});
  EXPECT_EQ(after.expect<Reconcile>(Begin{at(5)}).attempt, 1);
}

TEST(Attempts, WhatSleptAndIsNoLongerAllowedEnds) {
  Driven before({.sleep_from = second});
  before.expect<Send>(Begin{start});
  before.expect<SpendBudget>(Ended{.now = start, .seen = refused});
  before.expect<SleepFor>(BudgetAnswered{true});
  Policy once = plain();
  once.max_attempts = 1;
  Driven stricter({.policy = &once}, {before.machine.facts(), second});
  expect_end(stricter.finish(Begin{start}), Next::give_up, Reason::attempts_exhausted,
             Outcome::not_applied);
  Policy hasty = plain();
  hasty.deadline = second * 100;
  Driven late({.policy = &hasty}, {before.machine.facts(), second * 100});
  expect_end(late.finish(Begin{start}), Next::give_up, Reason::deadline_exceeded,
             Outcome::not_applied);
}

// From sending.

TEST(Attempts, RetrySuccessCaseNeedsNoRetry) {
  Driven driven;
  driven.expect<Send>(Begin{start});
  expect_end(driven.finish(Ended{.now = at(1), .seen = good}), Next::done, Reason::succeeded,
             Outcome::applied);
  EXPECT_EQ(driven.machine.facts().attempt, 1);
}

TEST(Attempts, AFailureThatMayBeRetriedAsksTheBudgetAndWaits) {
  Driven driven;
  driven.expect<Send>(Begin{start});
  driven.expect<SpendBudget>(Ended{.now = at(3), .seen = refused});
  EXPECT_EQ(driven.machine.state(), State::asking);
  EXPECT_EQ(driven.expect<WaitUntil>(BudgetAnswered{true}).at, at(4));
  EXPECT_EQ(driven.machine.state(), State::waiting);
  EXPECT_EQ(driven.machine.decision().reason, Reason::retry_backoff);
  EXPECT_EQ(decide(plain_policy, driven.machine.facts()), driven.machine.decision());
}

TEST(Attempts, AnUnknownOutcomeIsReconciled) {
  Driven driven(careful());
  driven.expect<Send>(Begin{start});
  const Reconcile reconcile = driven.expect<Reconcile>(Ended{.now = at(1), .seen = lost});
  EXPECT_EQ(reconcile.attempt, 1);
  EXPECT_EQ(reconcile.timeout, second * 10);
  EXPECT_EQ(driven.machine.state(), State::reconciling);
}

TEST(Attempts, ReconciliationWaitsForTheServersInstant) {
  Driven driven(careful());
  driven.expect<Send>(Begin{start});
  const Ended busy{.now = at(1), .seen = lost, .pushback = second * 5};
  EXPECT_EQ(driven.expect<WaitUntil>(busy).at, at(6));
  EXPECT_EQ(driven.expect<Reconcile>(Woken{at(6)}).attempt, 1);
}

TEST(Attempts, AnUnknownOutcomeThatCannotBeReconciledIsUnresolved) {
  Driven driven;
  driven.expect<Send>(Begin{start});
  expect_end(driven.finish(Ended{.now = at(1), .seen = lost}), Next::unresolved,
             Reason::outcome_unknown, Outcome::unknown);
}

TEST(Attempts, NonRetryableFailuresEndAtOnce) {
  Driven driven;
  driven.expect<Send>(Begin{start});
  expect_end(driven.finish(Ended{.now = at(1), .seen = wrong}), Next::give_up,
             Reason::not_retryable, Outcome::not_applied);
  Driven listed;
  listed.expect<Send>(Begin{start});
  const Ended by_list{.now = at(1), .seen = refused, .listed = Listed::non_retryable};
  expect_end(listed.finish(by_list), Next::give_up, Reason::listed_non_retryable,
             Outcome::not_applied);
}

TEST(Attempts, RetryExhaustionAfterAllAttemptsFailed) {
  Driven driven;
  driven.expect<Send>(Begin{start});
  EXPECT_EQ(driven.fail(start).at, at(1));
  EXPECT_EQ(driven.expect<Send>(Woken{at(1)}).attempt, 2);
  EXPECT_EQ(driven.fail(at(1)).at, at(3));
  EXPECT_EQ(driven.expect<Send>(Woken{at(3)}).attempt, 3);
  expect_end(driven.finish(Ended{.now = at(3), .attempt = 3, .seen = refused}), Next::give_up,
             Reason::attempts_exhausted, Outcome::not_applied);
}

TEST(Attempts, AServersInstantIsNeverUndercut) {
  Driven driven;
  driven.expect<Send>(Begin{start});
  driven.expect<SpendBudget>(Ended{.now = at(2), .seen = refused, .pushback = second * 60});
  EXPECT_EQ(driven.expect<WaitUntil>(BudgetAnswered{true}).at, at(62));
  EXPECT_EQ(driven.machine.decision().reason, Reason::retry_pushback);
}

TEST(Attempts, AServersInstantHoldsAfterReconciliationToo) {
  Driven driven(careful());
  driven.expect<Send>(Begin{start});
  driven.expect<Reconcile>(Ended{.now = start, .seen = lost});
  driven.expect<SpendBudget>(
      Reconciled{.now = at(1), .found = Outcome::not_applied, .pushback = second * 30});
  EXPECT_EQ(driven.expect<WaitUntil>(BudgetAnswered{true}).at, at(31));
}

TEST(Attempts, TheDeadlineBoundsEveryTimeout) {
  Policy policy = plain();
  policy.deadline = second * 12;
  Driven driven({.policy = &policy});
  EXPECT_EQ(driven.expect<Send>(Begin{start}).timeout, second * 10);
  driven.fail(at(5));
  EXPECT_EQ(driven.expect<Send>(Woken{at(6)}).timeout, second * 6);
  expect_end(driven.finish(Ended{.now = at(11), .attempt = 2, .seen = refused}), Next::give_up,
             Reason::deadline_exceeded, Outcome::not_applied);
}

// Hedging.

TEST(Attempts, AHedgeIsSentBesideTheFirstWhenThatTakesLong) {
  Driven driven(hedged());
  EXPECT_EQ(driven.expect<Send>(Begin{start}).hedge_at, at(1));
  driven.expect<SpendBudget>(Woken{at(1)});
  EXPECT_EQ(driven.machine.state(), State::asking);
  const Send second_copy = driven.expect<Send>(BudgetAnswered{true});
  EXPECT_EQ(second_copy.attempt, 2);
  EXPECT_EQ(second_copy.hedge_at, std::nullopt) << "one beside it at the most";
  expect_end(driven.finish(Ended{.now = at(2), .attempt = 2, .seen = good}), Next::done,
             Reason::succeeded, Outcome::applied);
  driven.expect<Nothing>(Ended{.now = at(3), .attempt = 1, .seen = lost});
}

TEST(Attempts, AHedgeNeedsTheBudget) {
  Driven driven(hedged());
  driven.expect<Send>(Begin{start});
  driven.expect<SpendBudget>(Woken{at(1)});
  driven.expect<Nothing>(BudgetAnswered{false});
  EXPECT_EQ(driven.machine.state(), State::sending);
  driven.expect<Nothing>(Woken{at(2)});
  expect_end(driven.finish(Ended{.now = at(3), .seen = good}), Next::done, Reason::succeeded,
             Outcome::applied);
}

TEST(Attempts, AHedgeIsNotSentTooEarlyNorThroughAnOpenBreaker) {
  Driven driven(hedged());
  driven.expect<Send>(Begin{start});
  EXPECT_EQ(driven.expect<WaitUntil>(Woken{at(1) - nanosecond}).at, at(1));
  EXPECT_EQ(driven.machine.state(), State::sending);
  driven.expect<Nothing>(Woken{.now = at(1), .breaker_open = true});
}

TEST(Attempts, WithAHedgeUnderWayAFailureIsNotTheEnd) {
  Driven driven(hedged());
  driven.expect<Send>(Begin{start});
  driven.expect<SpendBudget>(Woken{at(1)});
  driven.expect<Send>(BudgetAnswered{true});
  driven.expect<Nothing>(Ended{.now = at(2), .attempt = 1, .seen = lost, .pushback = second * 9});
  driven.expect<SpendBudget>(
      Ended{.now = at(3), .attempt = 2, .seen = refused, .pushback = second * 3});
  EXPECT_EQ(driven.machine.decision().outcome, Outcome::unknown) << "of the first";
  EXPECT_EQ(driven.expect<WaitUntil>(BudgetAnswered{true}).at, at(11)) << "the later of both";
  EXPECT_EQ(driven.expect<Send>(Woken{at(11)}).attempt, 3);
}

TEST(Attempts, NeitherTheLastAttemptNorWhatIsNotHarmlessIsHedged) {
  auto setup = hedged();
  setup.harmless = false;
  Driven careless(setup);
  EXPECT_EQ(careless.expect<Send>(Begin{start}).hedge_at, std::nullopt);
  careless.expect<Nothing>(Woken{at(5)});

  Policy once = plain();
  once.max_attempts = 1;
  setup = hedged();
  setup.policy = &once;
  Driven last(setup);
  EXPECT_EQ(last.expect<Send>(Begin{start}).hedge_at, std::nullopt);

  setup = hedged();
  setup.hedge_after = second * 10;
  Driven late(setup);
  EXPECT_EQ(late.expect<Send>(Begin{start}).hedge_at, std::nullopt) << "its time-out comes first";
}

// From asking.

TEST(Attempts, WithoutBudgetItIsGivenUp) {
  Driven driven;
  driven.expect<Send>(Begin{start});
  driven.expect<SpendBudget>(Ended{.now = at(1), .seen = refused});
  expect_end(driven.finish(BudgetAnswered{false}), Next::give_up, Reason::budget_exhausted,
             Outcome::not_applied);
  EXPECT_EQ(decide(plain_policy, driven.machine.facts()), driven.machine.decision());
}

TEST(Attempts, ALongWaitIsSleptDurablyAndEndsTheMachine) {
  Driven driven({.sleep_from = second * 30});
  driven.expect<Send>(Begin{start});
  driven.expect<SpendBudget>(Ended{.now = start, .seen = refused, .pushback = second * 30});
  EXPECT_EQ(driven.expect<SleepFor>(BudgetAnswered{true}).delay, second * 30);
  EXPECT_EQ(driven.machine.state(), State::ended);
  EXPECT_EQ(decide(plain_policy, driven.machine.facts()), driven.machine.decision());
}

// From waiting.

TEST(Attempts, WhenTheWaitIsOverTheNextIsSentAndNotBefore) {
  Driven driven;
  driven.expect<Send>(Begin{start});
  driven.fail(start);
  EXPECT_EQ(driven.expect<WaitUntil>(Woken{at(1) - nanosecond}).at, at(1));
  EXPECT_EQ(driven.machine.state(), State::waiting);
  EXPECT_EQ(driven.expect<Send>(Woken{at(1)}).attempt, 2);
}

TEST(Attempts, ABreakerThatOpenedMeanwhileEndsIt) {
  Driven driven({.harmless = true});
  driven.expect<Send>(Begin{start});
  driven.fail(start, lost);
  expect_end(driven.finish(Woken{.now = at(1), .breaker_open = true}), Next::give_up,
             Reason::breaker_open, Outcome::unknown);
}

TEST(Attempts, AWaitThatEndedTooLateEndsIt) {
  Policy policy = plain();
  policy.deadline = second * 12;
  Driven driven({.policy = &policy});
  driven.expect<Send>(Begin{start});
  driven.fail(start);
  expect_end(driven.finish(Woken{at(12)}), Next::give_up, Reason::deadline_exceeded,
             Outcome::not_applied);
}

TEST(Attempts, DecorrelatedDelaysKnowWhatWasWaitedBefore) {
  Policy policy = plain();
  policy.jitter = Jitter::decorrelated;
  Driven driven({.policy = &policy, .key = 7});
  driven.expect<Send>(Begin{start});
  const Duration first = driven.fail(start).at - start;
  driven.expect<Send>(Woken{start + first});
  const Duration next = driven.fail(start + first).at - (start + first);
  EXPECT_EQ(next, backoff(policy, 7, 2, first));
}

// From reconciling.

TEST(Attempts, WhatReconciliationFoundIsDone) {
  Driven driven(careful());
  driven.expect<Send>(Begin{start});
  driven.expect<Reconcile>(Ended{.now = at(1), .seen = conflict});
  expect_end(driven.finish(Reconciled{at(2), Outcome::applied}), Next::done, Reason::found_applied,
             Outcome::applied);
}

TEST(Attempts, WhatReconciliationShowedAbsentIsSentAgain) {
  Driven driven(careful());
  driven.expect<Send>(Begin{start});
  driven.expect<Reconcile>(Ended{.now = at(1), .seen = lost});
  driven.expect<SpendBudget>(Reconciled{at(2), Outcome::not_applied});
  EXPECT_EQ(driven.expect<WaitUntil>(BudgetAnswered{true}).at, at(3));
  EXPECT_EQ(driven.expect<Send>(Woken{at(3)}).attempt, 2);
  driven.expect<Reconcile>(Ended{.now = at(4), .attempt = 2, .seen = lost});
}

TEST(Attempts, AConflictIsNotSentAgainThoughItWasShownAbsent) {
  Driven driven(careful());
  driven.expect<Send>(Begin{start});
  driven.expect<Reconcile>(Ended{.now = at(1), .seen = conflict});
  expect_end(driven.finish(Reconciled{at(2), Outcome::not_applied}), Next::give_up,
             Reason::not_retryable, Outcome::not_applied);
}

TEST(Attempts, ReconciliationIsRepeatedABoundedNumberOfTimesAndEndsUnresolved) {
  Driven driven(careful());
  driven.expect<Send>(Begin{start});
  driven.expect<Reconcile>(Ended{.now = start, .seen = lost});
  SteadyInstant now = start;
  for (int made = 1; made < bounds::retry_reconciles_max; ++made) {
    now = driven.expect<WaitUntil>(Reconciled{now, Outcome::unknown}).at;
    EXPECT_EQ(driven.machine.state(), State::waiting);
    driven.expect<Reconcile>(Woken{.now = now, .breaker_open = true});
  }
  EXPECT_EQ(now, at(1 + 2 + 4 + 8));
  expect_end(driven.finish(Reconciled{now, Outcome::unknown}), Next::unresolved,
             Reason::reconciles_exhausted, Outcome::unknown);
}

TEST(Attempts, ALongWaitForReconciliationIsSleptDurably) {
  auto setup = careful();
  setup.sleep_from = second;
  Driven driven(setup);
  driven.expect<Send>(Begin{start});
  driven.expect<Reconcile>(Ended{.now = start, .seen = lost});
  EXPECT_EQ(driven.expect<SleepFor>(Reconciled{start, Outcome::unknown}).delay, second);
  EXPECT_EQ(driven.machine.decision().reason, Reason::outcome_unknown);
  Driven after(setup, {driven.machine.facts(), second});
  after.expect<Reconcile>(Begin{start});
  EXPECT_EQ(after.machine.facts().reconciles, 1);
}

// Cancellation, from everywhere.

TEST(Attempts, CancelledBeforeAnythingWasSentNothingWasApplied) {
  Driven driven;
  expect_end(driven.finish(Cancelled{start}), Next::give_up, Reason::cancelled,
             Outcome::not_applied);
}

TEST(Attempts, CancelledWhileUnderWayItsOutcomeIsUnknown) {
  Driven driven;
  driven.expect<Send>(Begin{start});
  expect_end(driven.finish(Cancelled{start}), Next::give_up, Reason::cancelled, Outcome::unknown);
  Driven asking(hedged());
  asking.expect<Send>(Begin{start});
  asking.expect<SpendBudget>(Woken{at(1)});
  expect_end(asking.finish(Cancelled{start}), Next::give_up, Reason::cancelled, Outcome::unknown);
}

TEST(Attempts, CancelledBetweenAttemptsItIsAsTheLastOneLeftIt) {
  Driven driven;
  driven.expect<Send>(Begin{start});
  driven.fail(start);
  expect_end(driven.finish(Cancelled{start}), Next::give_up, Reason::cancelled,
             Outcome::not_applied);
  Driven harmless({.harmless = true});
  harmless.expect<Send>(Begin{start});
  harmless.fail(start, lost);
  expect_end(harmless.finish(Cancelled{start}), Next::give_up, Reason::cancelled, Outcome::unknown);
}

TEST(Attempts, CancelledWhileReconcilingItsOutcomeIsUnknown) {
  Driven driven(careful());
  driven.expect<Send>(Begin{start});
  driven.expect<Reconcile>(Ended{.now = at(1), .seen = lost});
  expect_end(driven.finish(Cancelled{start}), Next::give_up, Reason::cancelled, Outcome::unknown);
}

TEST(Attempts, AfterTheEndEveryEventIsPassedOver) {
  Driven driven;
  driven.finish(Cancelled{start});
  for (const Event& late :
       {Event(Ended{.now = start}), Event(Woken{start}), Event(Cancelled{start}),
        Event(Reconciled{start, Outcome::applied}), Event(BudgetAnswered{true})}) {
    driven.expect<Nothing>(late);
    EXPECT_EQ(driven.machine.state(), State::ended);
  }
}

TEST(AttemptsDeathTest, EventsThatDoNotBelongToTheStateAreABug) {
  EXPECT_DEATH(Driven().machine.decide(Woken{start}), "waiting");
  EXPECT_DEATH(Driven().machine.decide(Reconciled{start, Outcome::applied}), "reconciling");
  Driven driven;
  driven.expect<Send>(Begin{start});
  EXPECT_DEATH(driven.machine.decide(Ended{.now = start, .attempt = 2, .seen = good}), "open");
  EXPECT_DEATH(driven.machine.decide(BudgetAnswered{true}), "asking");
}

// What the rules forbid, watched from outside of the machine.
class Watch {
 public:
  Watch(const Policy& policy, bool harmless, SteadyInstant began)
      : policy_(policy), harmless_(harmless), began_(began) {}

  void ended(const Ended& event) {
    unproven_ = unproven_ || event.seen.outcome == Outcome::unknown;
    hear(event.now, event.pushback);
  }
  void reconciled(const Reconciled& event) {
    if (event.found == Outcome::not_applied) unproven_ = false;
    hear(event.now, event.pushback);
  }
  void sent(const Send& send, SteadyInstant now) {
    RC_ASSERT(harmless_ || !unproven_);
    RC_ASSERT(send.attempt == ++sends_);
    RC_ASSERT(sends_ <= policy_.max_attempts);
    RC_ASSERT(now >= not_before_);
    RC_ASSERT(send.timeout > Duration());
    RC_ASSERT(send.timeout <= policy_.attempt_timeout);
    if (policy_.deadline > Duration()) {
      RC_ASSERT(now + send.timeout <= began_ + policy_.deadline);
    }
    RC_ASSERT(harmless_ || !send.hedge_at);
  }
  void finished(const Decision& decision) {
    if (unproven_ && !harmless_ && decision.next != Next::done) {
      RC_ASSERT(decision.outcome == Outcome::unknown);
    }
    if (decision.next == Next::done) RC_ASSERT(decision.outcome == Outcome::applied);
  }

 private:
  void hear(SteadyInstant now, Duration pushback) {
    if (pushback > Duration()) not_before_ = std::max(not_before_, now + pushback);
  }

  const Policy& policy_;
  const bool harmless_;
  const SteadyInstant began_;
  bool unproven_ = false;
  int sends_ = 0;
  SteadyInstant not_before_;
};

// Runs one operation to its end with arbitrary answers; the queue's sleep included.
struct World {
  Policy policy = plain();
  Setup setup = {};
  SteadyInstant now = start;
  std::vector<int> under_way = {};

  static std::int64_t dice(std::int64_t most) { return *rc::gen::inRange<std::int64_t>(0, most); }
  void pass_time(std::int64_t most_ms) { now = now + Duration::milliseconds(dice(most_ms)); }
  Duration pushback() { return dice(3) == 0 ? Duration::milliseconds(dice(20'000)) : Duration(); }

  Event answer() {
    pass_time(4'000);
    const int attempt = under_way[static_cast<std::size_t>(dice(std::ssize(under_way)))];
    std::erase(under_way, attempt);
    constexpr Classification all[] = {good, refused, wrong, lost, lost, refused, conflict};
    return Ended{.now = now,
                 .attempt = attempt,
                 .seen = all[dice(std::size(all))],
                 .listed = static_cast<Listed>(dice(3)),
                 .pushback = pushback()};
  }
};

RC_GTEST_PROP(Attempts, KeepTheirRulesWhateverHappens, ()) {
  World world;
  world.policy.max_attempts = static_cast<int>(1 + World::dice(6));
  world.policy.deadline = World::dice(2) == 0 ? Duration() : second * (1 + World::dice(40));
  world.setup = {.policy = &world.policy,
                 .key = static_cast<std::uint64_t>(World::dice(1'000)),
                 .harmless = World::dice(2) == 0,
                 .can_reconcile = World::dice(3) > 0,
                 .sleep_from = World::dice(3) == 0 ? second * 2 : Duration::max(),
                 .hedge_after = World::dice(2) == 0 ? second : Duration()};
  Watch watch(world.policy, world.setup.harmless, start);
  Attempts machine(world.setup);
  Event event = Begin{.now = start};
  for (int steps = 0; machine.state() != State::ended; ++steps) {
    RC_ASSERT(steps < 300);
    const Effect effect = machine.decide(event);
    if (const auto* send = std::get_if<Send>(&effect)) {
      watch.sent(*send, world.now);
      world.under_way.push_back(send->attempt);
    } else if (const auto* wait = std::get_if<WaitUntil>(&effect)) {
      if (World::dice(4) > 0) world.now = std::max(world.now, wait->at);
    } else if (const auto* sleep = std::get_if<SleepFor>(&effect)) {
      const Resumed resumed{machine.facts(), sleep->delay};
      world.now = world.now + sleep->delay;
      machine = Attempts(world.setup, resumed);
    } else if (const auto* finish = std::get_if<Finish>(&effect)) {
      watch.finished(finish->decision);
      break;
    }
    switch (machine.state()) {
      case State::idle:
        event = Begin{.now = world.now,
                      .breaker_open = World::dice(10) == 0,
                      .probe_in = second * World::dice(3)};
        break;
      case State::sending:
        if (World::dice(3) == 0) {
          world.pass_time(2'000);
          event = Woken{.now = world.now, .breaker_open = World::dice(10) == 0};
        } else {
          event = world.answer();
          watch.ended(std::get<Ended>(event));
        }
        break;
      case State::asking:
        event = BudgetAnswered{World::dice(8) > 0};
        break;
      case State::waiting:
        world.pass_time(1'000);
        event = Woken{.now = world.now,
                      .breaker_open = World::dice(20) == 0,
                      .probe_in = second * World::dice(3)};
        break;
      case State::reconciling: {
        world.pass_time(3'000);
        constexpr Outcome all[] = {Outcome::not_applied, Outcome::unknown, Outcome::not_applied,
                                   Outcome::applied};
        event = Reconciled{world.now, all[World::dice(4)], world.pushback()};
        watch.reconciled(std::get<Reconciled>(event));
        break;
      }
      case State::ended:
        break;
    }
    if (World::dice(100) == 0) event = Cancelled{world.now};
  }
}

}  // namespace
}  // namespace pawl::retry
