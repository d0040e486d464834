// Goal: the one decision that all retries share, way by way. Method: one test a reason, and
// which of two reasons goes first; delays are pinned without jitter.
#include "core/retry/decide.h"

#include <gtest/gtest.h>
#include <set>

#include "base/bounds.h"
#include "core/retry/backoff.h"

namespace pawl::retry {
namespace {

constexpr Duration second = Duration::seconds(1);
constexpr Classification refused = {Failure::rate_limited, Outcome::not_applied, true};
constexpr Classification lost = {Failure::transient_network, Outcome::unknown, true};
constexpr Classification conflict = {Failure::conflict, Outcome::unknown, false};

// Delays of 1 s, 2 s, 4 s …, and five attempts.
Policy plain() {
  Policy policy;
  policy.max_attempts = 5;
  policy.jitter = Jitter::none;
  return policy;
}

Facts after(Classification seen, int attempt = 1) {
  Facts facts;
  facts.attempt = attempt;
  facts.seen = seen;
  return facts;
}

Decision stopped(Next next, Reason reason, Outcome outcome = Outcome::not_applied) {
  return {.next = next, .reason = reason, .outcome = outcome};
}

TEST(RetryDecision, WhatWasAppliedIsDone) {
  EXPECT_EQ(decide(plain(), after({Failure::none, Outcome::applied, false})),
            stopped(Next::done, Reason::succeeded, Outcome::applied));
}

TEST(RetryDecision, WhatWasNotAppliedIsTriedAgainAfterItsBackoff) {
  for (int attempt = 1; attempt < 5; ++attempt) {
    const Decision decision = decide(plain(), after(refused, attempt));
    EXPECT_EQ(decision.next, Next::backoff);
    EXPECT_EQ(decision.reason, Reason::retry_backoff);
    EXPECT_EQ(decision.delay, second * (std::int64_t{1} << (attempt - 1)));
    EXPECT_EQ(decision.outcome, Outcome::not_applied);
  }
}

TEST(RetryDecision, TheDelayIsTheOneOfBackoff) {
  Policy policy;
  policy.jitter = Jitter::decorrelated;
  Facts facts = after(refused, 2);
  facts.key = jitter_key("order-1");
  facts.previous_delay = second * 4;
  EXPECT_EQ(decide(policy, facts).delay, backoff(policy, facts.key, 2, second * 4));
}

TEST(RetryDecision, PushbackWinsOverBackoffAndIsNeverUndercut) {
  Facts facts = after(refused);
  facts.pushback = second + Duration::nanoseconds(1);
  EXPECT_EQ(decide(plain(), facts).delay, facts.pushback);
  EXPECT_EQ(decide(plain(), facts).reason, Reason::retry_pushback);
  facts.pushback = Duration::hours(3);
  EXPECT_EQ(decide(plain(), facts).delay, Duration::hours(3)) << "above max_delay too";
  facts.pushback = second;
  EXPECT_EQ(decide(plain(), facts).reason, Reason::retry_backoff);
  facts.pushback = bounds::retry_pushback_max + Duration::nanoseconds(1);
  EXPECT_EQ(decide(plain(), facts), stopped(Next::give_up, Reason::pushback_too_long));
}

TEST(RetryDecision, AnUnknownOutcomeIsFoundOutBeforeAnythingElse) {
  Facts facts = after(lost);
  facts.can_reconcile = true;
  EXPECT_EQ(decide(plain(), facts),
            stopped(Next::reconcile, Reason::outcome_unknown, Outcome::unknown));
  facts.attempt = 5;
  EXPECT_EQ(decide(plain(), facts).next, Next::reconcile) << "after the last attempt too";
  facts.listed = Listed::retryable;
  EXPECT_EQ(decide(plain(), facts).next, Next::reconcile) << "whatever a list says";
  facts.listed = Listed::non_retryable;
  EXPECT_EQ(decide(plain(), facts).next, Next::reconcile);
}

TEST(RetryDecision, AnUnknownOutcomeThatNobodyCanFindOutIsUnresolved) {
  EXPECT_EQ(decide(plain(), after(lost)),
            stopped(Next::unresolved, Reason::outcome_unknown, Outcome::unknown));
}

TEST(RetryDecision, AnUnknownOutcomeOfWhatIsHarmlessIsTriedAgain) {
  Facts facts = after(lost);
  facts.harmless = true;
  facts.can_reconcile = true;
  EXPECT_EQ(decide(plain(), facts).next, Next::backoff);
  EXPECT_EQ(decide(plain(), facts).outcome, Outcome::unknown);
  facts.attempt = 5;
  EXPECT_EQ(decide(plain(), facts),
            stopped(Next::give_up, Reason::attempts_exhausted, Outcome::unknown));
}

TEST(RetryDecision, WhatAnEarlierAttemptMayHaveDoneStaysPartOfTheOutcome) {
  Facts facts = after(refused, 5);
  facts.harmless = true;
  facts.may_be_applied = true;
  EXPECT_EQ(decide(plain(), facts).outcome, Outcome::unknown);
  facts.seen = {Failure::none, Outcome::applied, false};
  EXPECT_EQ(decide(plain(), facts).outcome, Outcome::applied);
}

TEST(RetryDecision, ReconciliationThatFoundItEndsIt) {
  Facts facts = after(conflict);
  facts.can_reconcile = true;
  facts.reconciles = 1;
  facts.found = Outcome::applied;
  EXPECT_EQ(decide(plain(), facts), stopped(Next::done, Reason::found_applied, Outcome::applied));
}

TEST(RetryDecision, ReconciliationThatShowedAbsenceLetsItBeSentAgain) {
  Facts facts = after(lost, 2);
  facts.can_reconcile = true;
  facts.reconciles = 1;
  facts.found = Outcome::not_applied;
  const Decision decision = decide(plain(), facts);
  EXPECT_EQ(decision.next, Next::backoff);
  EXPECT_EQ(decision.delay, second * 2);
  EXPECT_EQ(decision.outcome, Outcome::not_applied);
}

TEST(RetryDecision, AConflictIsNeverSentAgainThoughAListSaysSo) {
  Facts facts = after(conflict);
  facts.can_reconcile = true;
  EXPECT_EQ(decide(plain(), facts).next, Next::reconcile);
  facts.reconciles = 1;
  facts.found = Outcome::not_applied;
  EXPECT_EQ(decide(plain(), facts), stopped(Next::give_up, Reason::not_retryable));
  facts.listed = Listed::retryable;
  EXPECT_EQ(decide(plain(), facts), stopped(Next::give_up, Reason::not_retryable));
  facts.harmless = true;
  EXPECT_EQ(decide(plain(), facts).next, Next::backoff) << "a read may";
}

TEST(RetryDecision, ReconciliationThatFoundNothingOutIsRepeatedLaterAndABoundedNumberOfTimes) {
  Facts facts = after(lost);
  facts.can_reconcile = true;
  for (int made = 1; made < bounds::retry_reconciles_max; ++made) {
    facts.reconciles = made;
    const Decision decision = decide(plain(), facts);
    EXPECT_EQ(decision.next, Next::reconcile);
    EXPECT_EQ(decision.delay, second * (std::int64_t{1} << (made - 1)));
  }
  facts.reconciles = bounds::retry_reconciles_max;
  EXPECT_EQ(decide(plain(), facts),
            stopped(Next::unresolved, Reason::reconciles_exhausted, Outcome::unknown));
}

TEST(RetryDecision, ReconciliationWaitsForWhatTheServerNamed) {
  Facts facts = after(lost);
  facts.can_reconcile = true;
  facts.pushback = second * 7;
  EXPECT_EQ(decide(plain(), facts).next, Next::reconcile);
  EXPECT_EQ(decide(plain(), facts).delay, second * 7);
  facts.pushback = bounds::retry_pushback_max + second;
  EXPECT_EQ(decide(plain(), facts),
            stopped(Next::unresolved, Reason::pushback_too_long, Outcome::unknown));
}

TEST(RetryDecision, PastTheDeadlineItIsLookedForOnceMoreAndThenLeftUnresolved) {
  Policy policy = plain();
  policy.deadline = second * 10;
  Facts facts = after(lost);
  facts.can_reconcile = true;
  facts.elapsed = second * 11;
  EXPECT_EQ(decide(policy, facts).next, Next::reconcile);
  facts.reconciles = 1;
  EXPECT_EQ(decide(policy, facts),
            stopped(Next::unresolved, Reason::deadline_exceeded, Outcome::unknown));
}

TEST(RetryDecision, RetryExhaustionIsSaidToBeThat) {
  EXPECT_EQ(decide(plain(), after(refused, 5)), stopped(Next::give_up, Reason::attempts_exhausted));
  EXPECT_EQ(decide(plain(), after(refused, 9)).reason, Reason::attempts_exhausted);
}

TEST(RetryDecision, ExceptionClassificationByListsGoesBeforeTheKind) {
  Facts facts = after(refused);
  facts.listed = Listed::non_retryable;
  EXPECT_EQ(decide(plain(), facts), stopped(Next::give_up, Reason::listed_non_retryable));
  facts = after({Failure::client_error, Outcome::not_applied, false});
  EXPECT_EQ(decide(plain(), facts), stopped(Next::give_up, Reason::not_retryable));
  facts.listed = Listed::retryable;
  EXPECT_EQ(decide(plain(), facts).next, Next::backoff);
}

TEST(RetryDecision, ADelayThatWouldPassTheDeadlineIsNotWaited) {
  Policy policy = plain();
  policy.deadline = second * 10;
  Facts facts = after(refused);
  facts.elapsed = second * 9 - Duration::nanoseconds(1);
  EXPECT_EQ(decide(policy, facts).next, Next::backoff);
  facts.elapsed = second * 9;
  EXPECT_EQ(decide(policy, facts), stopped(Next::give_up, Reason::deadline_exceeded))
      << "no time is left for the attempt";
  facts.elapsed = {};
  facts.pushback = Duration::hours(1);
  EXPECT_EQ(decide(policy, facts).reason, Reason::deadline_exceeded) << "and not undercut";
}

TEST(RetryDecision, WithoutBudgetThereIsNoRetryAndItIsAskedLast) {
  Facts facts = after(refused);
  facts.budget_allows = false;
  EXPECT_EQ(decide(plain(), facts), stopped(Next::give_up, Reason::budget_exhausted));
  facts.attempt = 5;
  EXPECT_EQ(decide(plain(), facts).reason, Reason::attempts_exhausted);
}

TEST(RetryDecision, LongWaitsAreSleptDurably) {
  Facts facts = after(refused);
  facts.sleep_from = second;
  EXPECT_EQ(decide(plain(), facts).next, Next::sleep);
  EXPECT_EQ(decide(plain(), facts).delay, second);
  facts.sleep_from = second + Duration::nanoseconds(1);
  EXPECT_EQ(decide(plain(), facts).next, Next::backoff);
  facts = after(lost);
  facts.can_reconcile = true;
  facts.sleep_from = second;
  EXPECT_EQ(decide(plain(), facts).next, Next::reconcile) << "at once";
  facts.pushback = second * 60;
  EXPECT_EQ(decide(plain(), facts).next, Next::sleep);
  EXPECT_EQ(decide(plain(), facts).reason, Reason::outcome_unknown);
}

TEST(RetryDecision, AnOpenBreakerAndACancellationEndIt) {
  Facts facts = after(refused);
  facts.breaker_open = true;
  EXPECT_EQ(decide(plain(), facts), stopped(Next::give_up, Reason::breaker_open));
  facts.cancelled = true;
  EXPECT_EQ(decide(plain(), facts), stopped(Next::give_up, Reason::cancelled));
  facts = after(lost);
  facts.can_reconcile = true;
  facts.cancelled = true;
  EXPECT_EQ(decide(plain(), facts), stopped(Next::give_up, Reason::cancelled, Outcome::unknown));
}

TEST(RetryDecision, BeforeTheFirstAttemptThereIsNothingToWaitFor) {
  Facts facts;
  EXPECT_EQ(decide(plain(), facts).next, Next::backoff);
  EXPECT_EQ(decide(plain(), facts).delay, Duration());
  EXPECT_EQ(decide(plain(), facts).outcome, Outcome::not_applied);
}

TEST(RetryDecision, NamesAreDifferentAndReadBack) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < reason_names().size(); ++i) {
    const auto reason = static_cast<Reason>(i);
    EXPECT_EQ(to_string(reason), reason_names()[i]);
    EXPECT_EQ(reason_of(to_string(reason)), reason);
    EXPECT_TRUE(names.insert(to_string(reason)).second);
  }
  EXPECT_EQ(to_string(Reason::cancelled), "cancelled") << "the last";
  EXPECT_EQ(to_string(Reason::outcome_unknown), "outcome_unknown");
  EXPECT_EQ(reason_of("because"), std::nullopt);
  for (int i = 0; i < 6; ++i) {
    const auto next = static_cast<Next>(i);
    EXPECT_EQ(next_of(to_string(next)), next);
  }
  EXPECT_EQ(to_string(Next::unresolved), "unresolved");
  EXPECT_EQ(next_of("again"), std::nullopt);
}

}  // namespace
}  // namespace pawl::retry
