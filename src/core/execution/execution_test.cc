// Goal: only who has the claim acts, every end is on record before anybody hears of it, and what
//       nobody knows stays unresolved.
// Method: every edge of the machine by hand, with a hand-moved clock.
#include "core/execution/execution.h"

#include <gtest/gtest.h>
#include <optional>
#include <vector>

namespace pawl::execution {
namespace {

using KeyAction = audit::IdempotencyAction;
using idempotency::Begun;
using idempotency::Status;
using How = Answer::How;
using State = Execution::State;

constexpr SteadyInstant start = SteadyInstant::from_ns(1'000'000'000);
const retry::Policy three = {.max_attempts = 3, .jitter = retry::Jitter::none};

Setup keyed(OnInFlight on_in_flight = OnInFlight::conflict) {
  return {.attempts = {.policy = &three},
          .has_key = true,
          .fingerprint = "f",
          .on_in_flight = on_in_flight};
}
Setup keyless() {
  return {.attempts = {.policy = &three}};
}

template <class T>
const T* find(const Effects& effects) {
  for (const Effect& effect : effects) {
    if (const T* found = std::get_if<T>(&effect)) return found;
  }
  return nullptr;
}
std::optional<KeyAction> noted(const Effects& effects) {
  const auto* note = find<NoteKey>(effects);
  return note == nullptr ? std::nullopt : std::optional(note->action);
}

Claimed claimed(Begun::Verdict verdict, std::uint64_t fence = 7) {
  Begun begun{.verdict = verdict};
  begun.record.fence = fence;
  begun.record.response.body = "kept";
  begun.retry_after = Duration::seconds(30);
  return {.now = start, .begun = begun};
}
Claimed not_claimed() {
  return {.now = start, .begun = failure(Code::unavailable, "the store does not answer")};
}
Attempted ended(retry::Classification seen, int attempt = 1, std::string body = {}) {
  return {.ended = {.now = start, .attempt = attempt, .seen = seen},
          .response = {.body = std::move(body)}};
}
constexpr retry::Classification ok = {retry::Failure::none, Outcome::applied, false};
constexpr retry::Classification refused = {retry::Failure::client_error, Outcome::not_applied,
                                           false};
constexpr retry::Classification lost = {retry::Failure::transient_network, Outcome::not_applied,
                                        true};
constexpr retry::Classification silent = {retry::Failure::transient_network, Outcome::unknown,
                                          true};
Recorded recorded() {
  return {.now = start, .recorded = {}};
}
Recorded not_recorded(Code code, SteadyInstant now = start) {
  return {.now = now, .recorded = failure(code, "no")};
}

TEST(Execution, WithoutAKeyNothingIsClaimedAndNothingRecorded) {
  Execution execution(keyless());
  EXPECT_NE(find<retry::Send>(execution.decide(Start{start})), nullptr);
  const Effects effects = execution.decide(ended(ok, 1, "answer"));
  const auto* answer = find<Answer>(effects);
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(answer->how, How::done);
  EXPECT_EQ(answer->response.body, "answer");
  EXPECT_EQ(find<Record>(effects), nullptr);
  EXPECT_EQ(execution.state(), State::ended);
}

TEST(Execution, AKeyIsClaimedBeforeAnythingIsSent) {
  Execution execution(keyed());
  const Effects effects = execution.decide(Start{start});
  const auto* claim = find<Claim>(effects);
  ASSERT_NE(claim, nullptr);
  EXPECT_EQ(claim->ask.fingerprint, "f");
  EXPECT_FALSE(claim->ask.take_over) << "it could neither find out nor repeat it safely";
  EXPECT_EQ(find<retry::Send>(effects), nullptr);
  EXPECT_NE(find<retry::Send>(execution.decide(claimed(Begun::Verdict::started))), nullptr);
  EXPECT_EQ(execution.fence(), 7u);
}

TEST(Execution, AResultIsOnRecordBeforeAnybodyHearsOfIt) {
  Execution execution(keyed());
  execution.decide(Start{start});
  execution.decide(claimed(Begun::Verdict::started));
  const Effects recording = execution.decide(ended(ok, 1, "answer"));
  const auto* record = find<Record>(recording);
  ASSERT_NE(record, nullptr);
  EXPECT_EQ(record->fence, 7u);
  EXPECT_EQ(record->how.status, Status::done);
  EXPECT_EQ(record->how.response.body, "answer");
  EXPECT_EQ(find<Answer>(recording), nullptr);
  const Effects told = execution.decide(recorded());
  EXPECT_EQ(noted(told), KeyAction::record);
  ASSERT_NE(find<Answer>(told), nullptr);
  EXPECT_EQ(find<Answer>(told)->how, How::done);
}

TEST(Execution, AReplayIsTheStoredAnswerAndSendsNothing) {
  Execution execution(keyed());
  execution.decide(Start{start});
  const Effects effects = execution.decide(claimed(Begun::Verdict::replay));
  EXPECT_EQ(noted(effects), KeyAction::hit);
  ASSERT_NE(find<Answer>(effects), nullptr);
  EXPECT_EQ(find<Answer>(effects)->how, How::replayed);
  EXPECT_EQ(find<Answer>(effects)->response.body, "kept");
  EXPECT_EQ(find<retry::Send>(effects), nullptr);
}

TEST(Execution, AKeyInFlightIsToldOrWaitedForAsSet) {
  Execution told(keyed());
  told.decide(Start{start});
  const Effects effects = told.decide(claimed(Begun::Verdict::in_flight));
  EXPECT_EQ(noted(effects), KeyAction::in_flight);
  ASSERT_NE(find<Answer>(effects), nullptr);
  EXPECT_EQ(find<Answer>(effects)->how, How::in_flight);
  EXPECT_EQ(find<Answer>(effects)->retry_after, Duration::seconds(30));

  Execution waits(keyed(OnInFlight::wait));
  waits.decide(Start{start});
  const Effects waiting = waits.decide(claimed(Begun::Verdict::in_flight));
  const auto* wait = find<retry::WaitUntil>(waiting);
  ASSERT_NE(wait, nullptr);
  EXPECT_GT(wait->at, start);
  EXPECT_NE(find<retry::WaitUntil>(waits.decide(retry::Woken{start})), nullptr) << "too early";
  EXPECT_NE(find<Claim>(waits.decide(retry::Woken{wait->at})), nullptr);
  EXPECT_EQ(find<Answer>(waits.decide(claimed(Begun::Verdict::replay)))->how, How::replayed);
}

TEST(Execution, WaitingForSomebodyElseHasAnEnd) {
  Execution execution(keyed(OnInFlight::wait));
  execution.decide(Start{start});
  Claimed late = claimed(Begun::Verdict::in_flight);
  late.now = start + Duration::seconds(60);
  const Effects effects = execution.decide(late);
  ASSERT_NE(find<Answer>(effects), nullptr);
  EXPECT_EQ(find<Answer>(effects)->how, How::in_flight);
}

TEST(Execution, AKeyThatWasUsedForSomethingElseIsRefused) {
  Execution execution(keyed());
  execution.decide(Start{start});
  const Effects effects = execution.decide(claimed(Begun::Verdict::mismatch));
  EXPECT_EQ(noted(effects), KeyAction::mismatch);
  EXPECT_EQ(find<Answer>(effects)->how, How::mismatch);
}

TEST(Execution, WhatNobodyKnowsIsToldWhereItCannotBeFoundOut) {
  Execution execution(keyed());
  execution.decide(Start{start});
  const Effects effects = execution.decide(claimed(Begun::Verdict::unknown));
  EXPECT_EQ(noted(effects), KeyAction::unknown);
  EXPECT_EQ(find<Answer>(effects)->how, How::unresolved);
  EXPECT_EQ(find<Answer>(effects)->outcome, Outcome::unknown);
}

TEST(Execution, WhatWasTakenOverIsFoundOutBeforeItIsSent) {
  auto setup = keyed();
  setup.attempts.can_reconcile = true;
  Execution execution(setup);
  EXPECT_TRUE(find<Claim>(execution.decide(Start{start}))->ask.take_over);
  const Effects effects = execution.decide(claimed(Begun::Verdict::took_over, 8));
  EXPECT_EQ(noted(effects), KeyAction::take_over);
  EXPECT_NE(find<retry::Reconcile>(effects), nullptr);
  EXPECT_EQ(find<retry::Send>(effects), nullptr);
  const Effects found = execution.decide(Found{
      .reconciled = {.now = start, .found = Outcome::applied}, .response = {.body = "found"}});
  ASSERT_NE(find<Record>(found), nullptr);
  EXPECT_EQ(find<Record>(found)->how.status, Status::done);
  EXPECT_EQ(find<Record>(found)->how.response.body, "found");
}

TEST(Execution, WhatWasTakenOverIsSentAtOnceWhereASecondCopyDoesNoHarm) {
  auto setup = keyed();
  setup.attempts.harmless = true;
  Execution execution(setup);
  EXPECT_TRUE(find<Claim>(execution.decide(Start{start}))->ask.take_over);
  EXPECT_NE(find<retry::Send>(execution.decide(claimed(Begun::Verdict::took_over))), nullptr);
}

TEST(Execution, WhatWasNotAppliedIsRecordedAsFailedSoThatItMayBeBegunAgain) {
  Execution execution(keyed());
  execution.decide(Start{start});
  execution.decide(claimed(Begun::Verdict::started));
  const Effects effects = execution.decide(ended(refused));
  ASSERT_NE(find<Record>(effects), nullptr);
  EXPECT_EQ(find<Record>(effects)->how.status, Status::failed);
  EXPECT_EQ(find<Record>(effects)->how.response.metadata, "{\"reason\":\"not_retryable\"}");
  EXPECT_NE(find<NoteDecision>(effects), nullptr);
  const Effects told = execution.decide(recorded());
  EXPECT_EQ(find<Answer>(told)->how, How::gave_up);
  EXPECT_EQ(find<Answer>(told)->outcome, Outcome::not_applied);
}

TEST(Execution, WhatMayHaveBeenAppliedIsRecordedAsUnknown) {
  Execution execution(keyed());
  execution.decide(Start{start});
  execution.decide(claimed(Begun::Verdict::started));
  const Effects effects = execution.decide(ended(silent));
  ASSERT_NE(find<Record>(effects), nullptr);
  EXPECT_EQ(find<Record>(effects)->how.status, Status::unknown);
  EXPECT_EQ(find<Answer>(execution.decide(recorded()))->how, How::unresolved);
}

TEST(Execution, ARetryIsNotedBeforeItIsWaitedFor) {
  Execution execution(keyless());
  execution.decide(Start{start});
  EXPECT_NE(find<retry::SpendBudget>(execution.decide(ended(lost))), nullptr);
  const Effects effects = execution.decide(retry::BudgetAnswered{true});
  ASSERT_EQ(effects.end() - effects.begin(), 2);
  EXPECT_TRUE(std::holds_alternative<NoteDecision>(*effects.begin()));
  const auto* wait = find<retry::WaitUntil>(effects);
  ASSERT_NE(wait, nullptr);
  EXPECT_NE(find<retry::Send>(execution.decide(retry::Woken{wait->at})), nullptr);
}

TEST(Execution, AStoreThatIsAwayRefusesOrLetsThroughAsSet) {
  Execution rejects(keyed());
  rejects.decide(Start{start});
  const Effects rejected = rejects.decide(not_claimed());
  EXPECT_EQ(find<Answer>(rejected)->how, How::no_store);
  EXPECT_EQ(find<Answer>(rejected)->outcome, Outcome::not_applied);

  auto setup = keyed();
  setup.on_store_failure = OnStoreFailure::execute;
  Execution executes(setup);
  executes.decide(Start{start});
  EXPECT_NE(find<retry::Send>(executes.decide(not_claimed())), nullptr);
  const Effects done = executes.decide(ended(ok));
  EXPECT_EQ(find<Record>(done), nullptr) << "there is no claim to complete";
  EXPECT_EQ(find<Answer>(done)->how, How::done);
}

TEST(Execution, AResultThatTheStoreDoesNotTakeIsTriedAgainAndThenTold) {
  Execution execution(keyed());
  execution.decide(Start{start});
  execution.decide(claimed(Begun::Verdict::started));
  execution.decide(ended(ok, 1, "answer"));
  SteadyInstant now = start;
  while (now - start < Duration::seconds(30)) {
    const Effects waiting = execution.decide(not_recorded(Code::unavailable, now));
    const auto* wait = find<retry::WaitUntil>(waiting);
    ASSERT_NE(wait, nullptr);
    now = std::max(now, wait->at);
    const Effects again = execution.decide(retry::Woken{now});
    ASSERT_NE(find<Record>(again), nullptr);
    EXPECT_EQ(find<Record>(again)->how.response.body, "answer");
  }
  EXPECT_LT(now - start, Duration::seconds(33));
  const Effects told = execution.decide(not_recorded(Code::unavailable, now));
  ASSERT_NE(find<Answer>(told), nullptr);
  EXPECT_EQ(find<Answer>(told)->how, How::not_recorded);
  EXPECT_EQ(find<Answer>(told)->outcome, Outcome::applied);
}

TEST(Execution, WhoWasOvertakenIsToldSo) {
  Execution execution(keyed());
  execution.decide(Start{start});
  execution.decide(claimed(Begun::Verdict::started));
  execution.decide(ended(ok));
  const Effects told = execution.decide(not_recorded(Code::refused));
  EXPECT_EQ(noted(told), KeyAction::stale);
  EXPECT_EQ(find<Answer>(told)->how, How::stale);
}

TEST(Execution, CancelledWhileClaimingItGivesTheClaimBack) {
  Execution execution(keyed());
  execution.decide(Start{start});
  const Effects nothing = execution.decide(Cancelled{start});
  EXPECT_EQ(nothing.begin(), nothing.end());
  const Effects effects = execution.decide(claimed(Begun::Verdict::started));
  EXPECT_EQ(find<retry::Send>(effects), nullptr);
  ASSERT_NE(find<Record>(effects), nullptr);
  EXPECT_EQ(find<Record>(effects)->how.status, Status::failed);
  EXPECT_EQ(find<Answer>(execution.decide(recorded()))->how, How::cancelled);
}

TEST(Execution, CancelledWhileAnAttemptIsUnderWayItIsUnknown) {
  Execution execution(keyed());
  execution.decide(Start{start});
  execution.decide(claimed(Begun::Verdict::started));
  const Effects effects = execution.decide(Cancelled{start});
  ASSERT_NE(find<Record>(effects), nullptr);
  EXPECT_EQ(find<Record>(effects)->how.status, Status::unknown);
}

TEST(Execution, CancelledWhileItWaitsForSomebodyElseItIsOver) {
  Execution execution(keyed(OnInFlight::wait));
  execution.decide(Start{start});
  execution.decide(claimed(Begun::Verdict::in_flight));
  const Effects over = execution.decide(Cancelled{start});
  EXPECT_EQ(noted(over), KeyAction::in_flight);
  EXPECT_EQ(find<Answer>(over)->how, How::cancelled);
  const Effects late = execution.decide(retry::Woken{start + Duration::hours(1)});
  EXPECT_EQ(late.begin(), late.end());
}

// Until it asks to be written down.
Execution sleepy(Setup setup) {
  setup.attempts.sleep_from = Duration::milliseconds(100);
  Execution execution(setup);
  execution.decide(Start{start});
  execution.decide(claimed(Begun::Verdict::started));
  execution.decide(ended(lost));
  return execution;
}
Slept slept(Result<void> written = {}) {
  return {.now = start, .written = std::move(written)};
}

TEST(Execution, ALongWaitIsWrittenDownBeforeTheClaimIsGivenBack) {
  Execution execution = sleepy(keyed());
  const Effects lying_down = execution.decide(retry::BudgetAnswered{true});
  EXPECT_NE(find<NoteDecision>(lying_down), nullptr);
  ASSERT_NE(find<retry::SleepFor>(lying_down), nullptr);
  EXPECT_EQ(find<retry::SleepFor>(lying_down)->delay, Duration::seconds(1));
  EXPECT_EQ(find<Record>(lying_down), nullptr) << "who dies here must leave something that goes on";
  const Effects giving_back = execution.decide(slept());
  ASSERT_NE(find<Record>(giving_back), nullptr);
  EXPECT_EQ(find<Record>(giving_back)->how.status, Status::failed) << "nothing was applied";
  EXPECT_EQ(find<Answer>(giving_back), nullptr);
  const Effects told = execution.decide(recorded());
  ASSERT_NE(find<Answer>(told), nullptr);
  EXPECT_EQ(find<Answer>(told)->how, How::asleep);
  EXPECT_EQ(find<Answer>(told)->sleep, Duration::seconds(1));
}

TEST(Execution, WhatIsWrittenDownSleepsWhateverBecomesOfItsKey) {
  for (const Code code : {Code::refused, Code::internal}) {
    Execution execution = sleepy(keyed());
    execution.decide(retry::BudgetAnswered{true});
    execution.decide(slept());
    const Effects told = execution.decide(not_recorded(code));
    ASSERT_NE(find<Answer>(told), nullptr);
    EXPECT_EQ(find<Answer>(told)->how, How::asleep);
  }
  Execution away = sleepy(keyed());
  away.decide(retry::BudgetAnswered{true});
  away.decide(slept());
  EXPECT_NE(find<retry::WaitUntil>(away.decide(not_recorded(Code::unavailable))), nullptr);
  EXPECT_EQ(find<Answer>(away.decide(Cancelled{.now = start, .closing = true}))->how, How::asleep);
}

TEST(Execution, WhatCouldNotBeWrittenDownIsOver) {
  Execution execution = sleepy(keyed());
  execution.decide(retry::BudgetAnswered{true});
  const Effects effects = execution.decide(slept(failure(Code::unavailable, "no queue")));
  EXPECT_EQ(find<Record>(effects)->how.status, Status::failed) << "its key is free";
  const Effects over = execution.decide(recorded());
  const auto* told = find<Answer>(over);
  ASSERT_NE(told, nullptr);
  EXPECT_EQ(told->how, How::not_slept);
  EXPECT_EQ(told->outcome, Outcome::not_applied);
  EXPECT_EQ(told->store_said->message, "no queue");

  Execution perhaps = sleepy(keyed());
  perhaps.decide(retry::BudgetAnswered{true});
  const Error lost_answer(Code::unavailable, Outcome::unknown, "no answer");
  const Effects silence = perhaps.decide(slept(std::unexpected(lost_answer)));
  EXPECT_EQ(find<Record>(silence)->how.status, Status::failed) << "as yet nothing was applied";
  const Effects unsure = perhaps.decide(recorded());
  EXPECT_EQ(find<Answer>(unsure)->outcome, Outcome::unknown) << "it may be, when that task is due";
}

TEST(Execution, WithoutAKeyItSleepsOnceItIsWrittenDown) {
  auto setup = keyless();
  setup.attempts.sleep_from = Duration::milliseconds(100);
  Execution execution(setup);
  execution.decide(Start{start});
  execution.decide(ended(lost));
  EXPECT_NE(find<retry::SleepFor>(execution.decide(retry::BudgetAnswered{true})), nullptr);
  const Effects nothing = execution.decide(Cancelled{start});
  EXPECT_EQ(nothing.begin(), nothing.end()) << "it is on its way";
  const Effects told = execution.decide(slept());
  EXPECT_EQ(find<Answer>(told)->how, How::asleep);
}

TEST(Execution, WhoGoesOnLetsGoOfTheClaimItSleptUnder) {
  Execution before = sleepy(keyed());
  before.decide(retry::BudgetAnswered{true});
  auto setup = keyed();
  setup.resumed = retry::Resumed{before.attempts().facts(), Duration::seconds(1)};
  setup.slept_fence = 7;
  const std::vector<Recorded> answers = {recorded(), not_recorded(Code::refused),
                                         not_recorded(Code::not_found)};
  for (const Recorded& answer : answers) {
    Execution after(setup);
    const Effects first = after.decide(Start{start});
    ASSERT_NE(find<Record>(first), nullptr);
    EXPECT_EQ(find<Record>(first)->fence, 7u);
    EXPECT_EQ(find<Record>(first)->how.status, Status::failed);
    EXPECT_EQ(find<Claim>(first), nullptr);
    EXPECT_NE(find<Claim>(after.decide(answer)), nullptr);
    const Effects sent = after.decide(claimed(Begun::Verdict::started, 8));
    ASSERT_NE(find<retry::Send>(sent), nullptr);
    EXPECT_EQ(find<retry::Send>(sent)->attempt, 2);
    EXPECT_EQ(after.fence(), 8u);
  }
  Execution nowhere(setup);
  nowhere.decide(Start{start});
  const Effects over = nowhere.decide(not_recorded(Code::unavailable));
  ASSERT_NE(find<Answer>(over), nullptr);
  EXPECT_EQ(find<Answer>(over)->how, How::no_store);
}

TEST(Execution, CancelledWhileItTakesOverNobodyKnowsWhatTheOtherDid) {
  auto setup = keyed();
  setup.attempts.can_reconcile = true;
  Execution execution(setup);
  execution.decide(Start{start});
  execution.decide(Cancelled{start});
  const Effects effects = execution.decide(claimed(Begun::Verdict::took_over));
  ASSERT_NE(find<Record>(effects), nullptr);
  EXPECT_EQ(find<Record>(effects)->how.status, Status::unknown);
  const Effects told = execution.decide(recorded());
  EXPECT_EQ(find<Answer>(told)->outcome, Outcome::unknown);
}

TEST(Execution, WhatIsSleptWithoutKnowingItsOutcomeIsOnRecordAsThat) {
  auto setup = keyed();
  setup.attempts.can_reconcile = true;
  setup.attempts.sleep_from = Duration::milliseconds(100);
  Execution execution(setup);
  execution.decide(Start{start});
  execution.decide(claimed(Begun::Verdict::started));
  Attempted told_to_wait = ended(silent);
  told_to_wait.ended.pushback = Duration::seconds(9);
  EXPECT_EQ(find<retry::SleepFor>(execution.decide(told_to_wait))->delay, Duration::seconds(9));
  const Effects effects = execution.decide(slept());
  ASSERT_NE(find<Record>(effects), nullptr);
  EXPECT_EQ(find<Record>(effects)->how.status, Status::unknown);
  const Effects told = execution.decide(recorded());
  EXPECT_EQ(find<Answer>(told)->outcome, Outcome::unknown);

  setup.resumed = retry::Resumed{execution.attempts().facts(), Duration::seconds(9)};
  setup.slept_fence = 7;
  Execution after(setup);
  const Effects first = after.decide(Start{start});
  EXPECT_EQ(find<Record>(first)->how.status, Status::unknown) << "it is not free either";
}

TEST(Execution, AfterASleepItGoesOnWithItsNextAttempt) {
  auto setup = keyed();
  setup.attempts.sleep_from = Duration::milliseconds(100);
  Execution before(setup);
  before.decide(Start{start});
  before.decide(claimed(Begun::Verdict::started));
  before.decide(ended(lost));
  before.decide(retry::BudgetAnswered{true});
  setup.resumed = retry::Resumed{before.attempts().facts(), Duration::seconds(1)};
  Execution after(setup);
  after.decide(Start{start});
  const Effects effects = after.decide(claimed(Begun::Verdict::started));
  ASSERT_NE(find<retry::Send>(effects), nullptr);
  EXPECT_EQ(find<retry::Send>(effects)->attempt, 2);

  setup.attempts.can_reconcile = true;
  setup.resumed = retry::Resumed{before.attempts().facts(), Duration::seconds(1)};
  Execution overtaken(setup);
  overtaken.decide(Start{start});
  const Effects first = overtaken.decide(claimed(Begun::Verdict::took_over));
  EXPECT_EQ(find<retry::Send>(first), nullptr) << "somebody had it meanwhile";
  EXPECT_NE(find<retry::Reconcile>(first), nullptr);
}

TEST(Execution, WhatNobodyKnowsIsKeptForLongerThanAResult) {
  Execution execution(keyed());
  const Effects claiming = execution.decide(Start{start});
  EXPECT_EQ(find<Claim>(claiming)->ask.ttl, Duration::days(366)) << "for when nobody completes it";
  execution.decide(claimed(Begun::Verdict::started));
  const Effects effects = execution.decide(ended(silent));
  EXPECT_EQ(find<Record>(effects)->how.status, Status::unknown);
  EXPECT_EQ(find<Record>(effects)->how.ttl, Duration::days(366));
  Execution other(keyed());
  other.decide(Start{start});
  other.decide(claimed(Begun::Verdict::started));
  EXPECT_EQ(find<Record>(other.decide(ended(ok)))->how.ttl, Duration::hours(24));
}

TEST(Execution, WhenTimeEndsItDoesNotWaitForTheStore) {
  Execution settling(keyed());
  settling.decide(Start{start});
  settling.decide(claimed(Begun::Verdict::started));
  settling.decide(ended(ok));
  EXPECT_NE(find<retry::WaitUntil>(settling.decide(not_recorded(Code::unavailable))), nullptr);
  const Effects nothing = settling.decide(Cancelled{start});
  EXPECT_EQ(nothing.begin(), nothing.end()) << "a result is put on record, cancelled or not";
  const Effects told = settling.decide(Cancelled{.now = start, .closing = true});
  ASSERT_NE(find<Answer>(told), nullptr);
  EXPECT_EQ(find<Answer>(told)->how, How::not_recorded);

  Execution recording(keyed());
  recording.decide(Start{start});
  recording.decide(claimed(Begun::Verdict::started));
  recording.decide(ended(ok));
  recording.decide(Cancelled{.now = start, .closing = true});
  const Effects end = recording.decide(not_recorded(Code::unavailable));
  ASSERT_NE(find<Answer>(end), nullptr);
  EXPECT_EQ(find<Answer>(end)->how, How::not_recorded);
}

TEST(Execution, AStoreThatIsBrokenIsNotSomebodyElse) {
  Execution execution(keyed());
  execution.decide(Start{start});
  execution.decide(claimed(Begun::Verdict::started));
  execution.decide(ended(ok));
  const Effects told = execution.decide(not_recorded(Code::internal));
  EXPECT_EQ(noted(told), KeyAction::not_recorded);
  ASSERT_NE(find<Answer>(told), nullptr);
  EXPECT_EQ(find<Answer>(told)->how, How::not_recorded);
  EXPECT_EQ(find<Answer>(told)->store_said->message, "no");
}

TEST(Execution, TheDeadlineCountsTheWaitForTheKeyToo) {
  retry::Policy hurried = three;
  hurried.deadline = Duration::seconds(2);
  auto setup = keyed(OnInFlight::wait);
  setup.attempts.policy = &hurried;
  Execution waits(setup);
  waits.decide(Start{start});
  const Effects waiting = waits.decide(claimed(Begun::Verdict::in_flight));
  EXPECT_LE(find<retry::WaitUntil>(waiting)->at, start + Duration::seconds(2));
  Claimed late = claimed(Begun::Verdict::in_flight);
  waits.decide(retry::Woken{start + Duration::seconds(2)});
  late.now = start + Duration::seconds(2);
  EXPECT_EQ(find<Answer>(waits.decide(late))->how, How::in_flight);

  Execution slow(setup);
  slow.decide(Start{start});
  Claimed begun = claimed(Begun::Verdict::started);
  begun.now = start + Duration::milliseconds(1'500);
  EXPECT_EQ(find<retry::Send>(slow.decide(begun))->timeout, Duration::milliseconds(500));

  Execution too_slow(setup);
  too_slow.decide(Start{start});
  begun.now = start + Duration::seconds(3);
  const Effects effects = too_slow.decide(begun);
  EXPECT_EQ(find<retry::Send>(effects), nullptr);
  ASSERT_NE(find<Record>(effects), nullptr);
  EXPECT_EQ(find<Record>(effects)->how.status, Status::failed);
}

}  // namespace
}  // namespace pawl::execution
