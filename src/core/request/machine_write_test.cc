// Goal: every edge of a write with a key, and the rules behind them: a replay costs nothing and
// sends nothing, a refusal burns no key, nothing is told before it is on record, and what may have
// been applied is never sent again. Method: one test an edge; then a property that walks clients
// with one key through the machine over a store that fails, forgets to answer and is shared, and
// counts what reached the upstream.
#include <array>
#include <gtest/gtest.h>
#include <initializer_list>
#include <rapidcheck/gtest.h>

#include "core/request/machine.h"

namespace pawl::request {
namespace {

using idempotency::Record;
using idempotency::Status;
using State = Machine::State;
using Verdict = idempotency::Begun::Verdict;

const limit::Policy pace("global", limit::TokenBucket({5, Duration::seconds(1)}, 0));
const std::array<limit::Count, 1> counts = {{{&pace, "tenant:acme"}}};
const Error away(Code::unavailable, Outcome::unknown, "connection lost");

WriteRules rules() {
  return {.header = "Idempotency-Key",
          .methods = {"POST"},
          .store_statuses = {{200, 299}, {400, 499}},
          .body_limit = 100,
          .ttl = Duration::hours(24),
          .lease = Duration::seconds(60),
          .store_deadline = Duration::milliseconds(50)};
}
const WriteRules standard = rules();

WriteRules with(auto change) {
  WriteRules out = rules();
  change(out);
  return out;
}

limit::Answer allowed() {
  limit::Answer answer;
  answer.allowed = true;
  answer.verdicts.add({.allowed = true, .limit = 5, .remaining = 4});
  return answer;
}

template <class T>
const T* find(const Effects& effects) {
  for (const Effect& effect : effects) {
    if (const T* found = std::get_if<T>(&effect)) return found;
  }
  return nullptr;
}

template <class T>
T only(const Effects& effects) {
  const T* found = find<T>(effects);
  EXPECT_NE(found, nullptr);
  return found == nullptr ? T{} : *found;
}

std::string answer_of(int status) {
  return answer_metadata(status, "OK", {});
}

Record record(Status status, std::string fingerprint = "f") {
  return {.status = status,
          .fence = 7,
          .fingerprint = std::move(fingerprint),
          .response = {.body = "made", .metadata = answer_of(201)}};
}

Machine looking(const WriteRules& how = standard) {
  Machine machine;
  machine.decide(Arrived{counts, false, &how});
  EXPECT_EQ(machine.state(), State::gathering);
  const Effects effects = machine.decide(Gathered{"f"});
  EXPECT_EQ(only<LookUp>(effects).deadline, how.store_deadline);
  EXPECT_EQ(find<ChargeLimit>(effects), nullptr) << "the replay is looked for first";
  return machine;
}

Machine claiming(const WriteRules& how = standard) {
  Machine machine = looking(how);
  EXPECT_NE(find<ChargeLimit>(machine.decide(LookedUp{1, std::nullopt})), nullptr);
  machine.decide(Charged{.answer = allowed()});
  const auto claim = only<Claim>(machine.decide(Recorded{}));
  EXPECT_EQ(claim.begin.fingerprint, "f");
  EXPECT_EQ(claim.begin.lease, how.lease);
  EXPECT_GE(claim.begin.ttl, bounds::record_unknown_ttl) << "for when nobody completes it";
  return machine;
}

idempotency::Begun begun(Verdict verdict, Record now = record(Status::in_flight)) {
  return {.verdict = verdict, .record = std::move(now)};
}

Machine sending(const WriteRules& how = standard) {
  Machine machine = claiming(how);
  EXPECT_NE(find<SendUpstream>(machine.decide(Claimed{2, begun(Verdict::started)})), nullptr);
  EXPECT_TRUE(machine.holds_answer());
  return machine;
}

http::ProblemCode refusal(const Effects& effects) {
  const Refuse* refuse = find<Refuse>(effects);
  EXPECT_NE(refuse, nullptr);
  return refuse == nullptr ? http::ProblemCode::not_found : refuse->code;
}

TEST(Write, IsRecordedBeforeTheClientHears) {
  Machine machine = sending();
  Effects effects = machine.decide(Answered{201, {.body = "made", .metadata = answer_of(201)}});
  const auto write = only<RecordWrite>(effects);
  EXPECT_EQ(write.fence, 7u);
  EXPECT_EQ(write.how.status, Status::done);
  EXPECT_EQ(write.how.response.body, "made");
  EXPECT_EQ(find<Deliver>(effects), nullptr);
  effects = machine.decide(Written{write.ask, {}});
  EXPECT_EQ(only<NoteWrite>(effects).what, WriteEvent::executed);
  EXPECT_EQ(only<RecordEnd>(effects).status, 201);
  EXPECT_NE(find<Deliver>(effects), nullptr);
  EXPECT_EQ(machine.state(), State::ended);
}

TEST(Write, AReplayCostsNothingAndSendsNothing) {
  Machine machine = looking();
  const Effects effects = machine.decide(LookedUp{1, record(Status::done)});
  EXPECT_EQ(only<Replay>(effects).head.status, 201);
  EXPECT_EQ(only<Replay>(effects).body, "made");
  EXPECT_EQ(only<NoteWrite>(effects).what, WriteEvent::replayed);
  EXPECT_EQ(find<ChargeLimit>(effects), nullptr);
  EXPECT_EQ(find<RefundLimit>(effects), nullptr) << "nothing was charged";
  EXPECT_EQ(find<SendUpstream>(effects), nullptr);
}

TEST(Write, ARefusalByTheLimitsClaimsNoKey) {
  Machine machine = looking();
  machine.decide(LookedUp{1, std::nullopt});
  limit::Answer no;
  no.verdicts.add({.allowed = false, .limit = 5, .retry_after = Duration::seconds(1)});
  machine.decide(Charged{.answer = no});
  const Effects effects = machine.decide(Recorded{});
  EXPECT_EQ(refusal(effects), http::ProblemCode::rate_limit);
  EXPECT_EQ(find<Claim>(effects), nullptr);
}

TEST(Write, WhoLosesTheKeyAfterPayingIsRefunded) {
  for (const Verdict verdict : {Verdict::replay, Verdict::in_flight, Verdict::unknown}) {
    Machine machine = claiming();
    const Status status = verdict == Verdict::replay      ? Status::done
                          : verdict == Verdict::in_flight ? Status::in_flight
                                                          : Status::unknown;
    const Effects effects = machine.decide(Claimed{2, begun(verdict, record(status))});
    EXPECT_NE(find<RefundLimit>(effects), nullptr) << to_string(verdict);
    EXPECT_EQ(find<SendUpstream>(effects), nullptr) << to_string(verdict);
    EXPECT_EQ(machine.state(), State::ended);
  }
}

TEST(Write, AnotherBodyUnderTheKeyIsRefused) {
  Machine machine = looking();
  Effects effects = machine.decide(LookedUp{1, record(Status::done, "other")});
  EXPECT_EQ(refusal(effects), http::ProblemCode::idempotency_mismatch);
  EXPECT_EQ(only<RecordEnd>(effects).status, 422);
  const WriteRules conflict = with([](auto& r) { r.on_mismatch = OnMismatch::conflict; });
  machine = looking(conflict);
  effects = machine.decide(LookedUp{1, record(Status::in_flight, "other")});
  EXPECT_EQ(only<Refuse>(effects).status, 409);
  EXPECT_EQ(only<RecordEnd>(effects).status, 409);
}

TEST(Write, OneUnderWayIsAConflictWithARetryAfter) {
  Machine machine = looking();
  const Effects effects = machine.decide(LookedUp{1, record(Status::in_flight)});
  EXPECT_EQ(refusal(effects), http::ProblemCode::idempotency_in_flight);
  EXPECT_GE(only<Refuse>(effects).retry_after_seconds, 1);
  EXPECT_EQ(only<NoteWrite>(effects).what, WriteEvent::in_flight);
}

TEST(Write, OneUnderWayIsWaitedForAndLookedAtAgain) {
  const WriteRules waits = with([](auto& r) { r.on_in_flight = OnInFlight::wait; });
  Machine machine = looking(waits);
  auto wait = only<WaitForOther>(machine.decide(LookedUp{1, record(Status::in_flight)}));
  EXPECT_EQ(machine.state(), State::waiting);
  auto look = only<LookUp>(machine.decide(Overdue{wait.ask}));
  const Effects effects = machine.decide(LookedUp{look.ask, record(Status::done)});
  EXPECT_NE(find<Replay>(effects), nullptr);
}

TEST(Write, NobodyWaitsForEver) {
  const WriteRules waits = with([](auto& r) { r.on_in_flight = OnInFlight::wait; });
  Machine machine = looking(waits);
  Duration waited;
  std::uint64_t ask = 1;
  while (true) {
    const Effects effects = machine.decide(LookedUp{ask, record(Status::in_flight)});
    const auto* wait = find<WaitForOther>(effects);
    if (wait == nullptr) {
      EXPECT_EQ(refusal(effects), http::ProblemCode::idempotency_in_flight);
      break;
    }
    waited = waited + wait->wait;
    ask = only<LookUp>(machine.decide(Overdue{wait->ask})).ask;
  }
  EXPECT_LE(waited, bounds::write_wait_max);
  EXPECT_GE(waited, bounds::write_wait_max - Duration::seconds(2));
}

TEST(Write, AnUnknownOneIsNotSentAgainUnlessTheRulesSaySo) {
  Machine machine = looking();
  Effects effects = machine.decide(LookedUp{1, record(Status::unknown)});
  EXPECT_EQ(refusal(effects), http::ProblemCode::outcome_unknown);
  const WriteRules executes = with([](auto& r) { r.on_unknown = OnUnknown::execute; });
  machine = looking(executes);
  EXPECT_NE(find<ChargeLimit>(machine.decide(LookedUp{1, record(Status::unknown)})), nullptr);
  machine.decide(Charged{.answer = allowed()});
  EXPECT_TRUE(only<Claim>(machine.decide(Recorded{})).begin.take_over);
  effects = machine.decide(Claimed{2, begun(Verdict::took_over)});
  EXPECT_EQ(only<NoteWrite>(effects).what, WriteEvent::taken_over);
  EXPECT_NE(find<SendUpstream>(effects), nullptr);
}

TEST(Write, AFailedOneIsFreeAgain) {
  Machine machine = looking();
  EXPECT_NE(find<ChargeLimit>(machine.decide(LookedUp{1, record(Status::failed)})), nullptr);
}

TEST(Write, ATombstoneProtectsAndSaysWhy) {
  Machine machine = looking();
  Record large = record(Status::done);
  large.response = {.body = {}, .metadata = answer_of(200), .tombstone = true};
  EXPECT_EQ(refusal(machine.decide(LookedUp{1, large})),
            http::ProblemCode::idempotency_not_replayable);
  machine = looking();
  Record foreign = record(Status::done);
  foreign.response.metadata = "{}";
  EXPECT_EQ(refusal(machine.decide(LookedUp{1, foreign})),
            http::ProblemCode::idempotency_not_replayable)
      << "what cannot be read is not made up";
}

TEST(Write, ALargeAnswerIsOnRecordBeforeItStreamsOn) {
  Machine machine = sending();
  Effects effects = machine.decide(Overflowed{200, answer_of(200)});
  const auto write = only<RecordWrite>(effects);
  EXPECT_TRUE(write.how.response.tombstone);
  EXPECT_EQ(find<Deliver>(effects), nullptr);
  effects = machine.decide(Written{write.ask, {}});
  EXPECT_NE(find<Deliver>(effects), nullptr);
  EXPECT_EQ(find<RecordEnd>(effects), nullptr) << "it is still on its way";
  EXPECT_FALSE(machine.holds_answer());
  EXPECT_EQ(only<RecordEnd>(machine.decide(Answered{200})).status, 200);
}

TEST(Write, AFailureIsOnRecordBeforeTheClientHears) {
  struct Case {
    Outcome outcome;
    Status status;
    WriteEvent event;
  };
  for (const Case& c : {Case{Outcome::not_applied, Status::failed, WriteEvent::not_stored},
                        Case{Outcome::unknown, Status::unknown, WriteEvent::unknown}}) {
    Machine machine = sending();
    Effects effects = machine.decide(
        Failed{.kind = Failed::Kind::unreachable, .outcome = c.outcome, .reused_connection = true});
    const auto write = only<RecordWrite>(effects);
    EXPECT_EQ(write.how.status, c.status);
    EXPECT_EQ(find<Refuse>(effects), nullptr);
    EXPECT_EQ(find<SendUpstream>(effects), nullptr);
    effects = machine.decide(Written{write.ask, {}});
    EXPECT_EQ(refusal(effects), http::ProblemCode::upstream_unreachable);
    EXPECT_EQ(only<NoteWrite>(effects).what, c.event);
    EXPECT_EQ(only<RecordEnd>(effects).outcome, c.outcome);
  }
}

TEST(Write, GoesOnWhenItsClientLeaves) {
  Machine machine = sending();
  const Effects left = machine.decide(Abandoned{.sent = true});
  EXPECT_EQ(left.begin(), left.end());
  EXPECT_EQ(machine.state(), State::sending);
  const auto write = only<RecordWrite>(
      machine.decide(Answered{201, {.body = "made", .metadata = answer_of(201)}}));
  EXPECT_EQ(write.how.status, Status::done) << "for the retry";
  EXPECT_EQ(only<RecordEnd>(machine.decide(Written{write.ask, {}})).status, 0) << "nobody saw it";
}

TEST(Write, WhoLeavesBeforeItIsSentGivesTheKeyBack) {
  Machine machine = claiming();
  const Effects effects = machine.decide(Abandoned{.sent = false});
  EXPECT_NE(find<RecordEnd>(effects), nullptr);
  EXPECT_EQ(only<LeaveClaim>(effects).how.status, Status::failed);
}

TEST(Write, AClaimThatComesTooLateIsToldHowItEnded) {
  const auto end_of = [](const Event& event) {
    Machine machine = claiming();
    EXPECT_NE(find<SendUpstream>(machine.decide(Overdue{2})), nullptr);
    const Effects late = machine.decide(Claimed{2, begun(Verdict::started)});
    EXPECT_EQ(late.begin(), late.end()) << "it is on its way without";
    EXPECT_FALSE(machine.holds_answer());
    return only<LeaveClaim>(machine.decide(event)).how;
  };
  const auto done = end_of(Answered{201});
  EXPECT_EQ(done.status, Status::done);
  EXPECT_TRUE(done.response.tombstone) << "its answer went on as it came";
  EXPECT_EQ(end_of(Answered{503}).status, Status::unknown);
  EXPECT_EQ(end_of(CutOff{200}).status, Status::unknown);
  EXPECT_EQ(end_of(Abandoned{.sent = true}).status, Status::unknown);
  EXPECT_EQ(end_of(Failed{.kind = Failed::Kind::timeout, .outcome = Outcome::unknown}).status,
            Status::unknown);
  EXPECT_EQ(
      end_of(Failed{.kind = Failed::Kind::unreachable, .outcome = Outcome::not_applied}).status,
      Status::failed);
}

TEST(Write, AClaimThatWasAnsweredIsNotLeft) {
  for (const bool ours : {true, false}) {
    Machine machine = claiming();
    const auto verdict = ours ? Verdict::started : Verdict::in_flight;
    Effects effects = machine.decide(Claimed{2, begun(verdict, record(Status::in_flight))});
    if (ours) {
      effects = machine.decide(Answered{201, {.body = "made", .metadata = answer_of(201)}});
      effects = machine.decide(Written{only<RecordWrite>(effects).ask, {}});
    }
    EXPECT_EQ(machine.state(), State::ended);
    EXPECT_EQ(find<LeaveClaim>(effects), nullptr);
  }
}

TEST(Write, WithoutTheStoreItIsExecutedOrRefusedAsTheRulesSay) {
  Machine machine = looking();
  Effects effects = machine.decide(LookedUp{1, std::unexpected(away)});
  EXPECT_EQ(only<NoteWrite>(effects).what, WriteEvent::store_failure);
  EXPECT_NE(find<ChargeLimit>(effects), nullptr);
  machine.decide(Charged{.answer = allowed()});
  const auto claim = only<Claim>(machine.decide(Recorded{}));
  EXPECT_TRUE(claim.here_alone) << "the store is not asked again";
  EXPECT_NE(find<SendUpstream>(machine.decide(
                Claimed{claim.ask, idempotency::Begun{Verdict::started, {}, Record()}})),
            nullptr);
  EXPECT_FALSE(machine.holds_answer());
  effects = machine.decide(Answered{201});
  EXPECT_NE(find<RecordEnd>(effects), nullptr);
  EXPECT_EQ(find<LeaveClaim>(effects), nullptr);

  const WriteRules strict = with([](auto& r) { r.on_store_failure = OnRecordFailure::reject; });
  machine = looking(strict);
  EXPECT_EQ(refusal(machine.decide(LookedUp{1, std::unexpected(away)})),
            http::ProblemCode::store_unavailable);
  machine = claiming(strict);
  effects = machine.decide(Claimed{2, std::unexpected(away)});
  EXPECT_EQ(refusal(effects), http::ProblemCode::store_unavailable);
  EXPECT_NE(find<RefundLimit>(effects), nullptr);
}

TEST(Write, WithoutTheStoreNobodyWaitsForAnAnswerThatIsNotKept) {
  const WriteRules patient = with([](auto& r) { r.on_in_flight = OnInFlight::wait; });
  Machine machine = looking(patient);
  machine.decide(LookedUp{1, std::unexpected(away)});
  machine.decide(Charged{.answer = allowed()});
  const auto claim = only<Claim>(machine.decide(Recorded{}));
  EXPECT_EQ(refusal(machine.decide(
                Claimed{claim.ask, begun(Verdict::in_flight, record(Status::in_flight))})),
            http::ProblemCode::idempotency_in_flight)
      << "it would run once more when the first has ended";
}

TEST(Write, AnUnknownEndIsNotedAlsoWhenTheStoreDoesNotTakeIt) {
  Machine machine = sending();
  const auto write = only<RecordWrite>(
      machine.decide(Failed{.kind = Failed::Kind::timeout, .outcome = Outcome::unknown}));
  const Effects told = machine.decide(Written{write.ask, std::unexpected(away)});
  std::vector<WriteEvent> noted;
  for (const Effect& effect : told) {
    if (const auto* note = std::get_if<NoteWrite>(&effect)) noted.push_back(note->what);
  }
  EXPECT_EQ(noted, (std::vector{WriteEvent::store_failure, WriteEvent::unknown}));
}

TEST(Write, AStoreThatDoesNotAnswerInTimeCountsAsAway) {
  Machine machine = looking();
  EXPECT_NE(find<ChargeLimit>(machine.decide(Overdue{1})), nullptr);
  Effects late = machine.decide(LookedUp{1, record(Status::done)});
  EXPECT_EQ(late.begin(), late.end()) << "too late";

  const WriteRules strict = with([](auto& r) { r.on_store_failure = OnRecordFailure::reject; });
  machine = claiming(strict);
  const Effects given_up = machine.decide(Overdue{2});
  EXPECT_EQ(refusal(given_up), http::ProblemCode::store_unavailable);
  EXPECT_EQ(only<LeaveClaim>(given_up).how.status, Status::failed)
      << "nothing was sent: the key comes back";

  machine = sending();
  const auto write = only<RecordWrite>(machine.decide(Answered{201, {}}));
  const Effects told = machine.decide(Overdue{write.ask});
  EXPECT_EQ(only<NoteWrite>(told).what, WriteEvent::store_failure);
  EXPECT_NE(find<Deliver>(told), nullptr) << "what was done is told";
}

TEST(Write, AnAlarmOfAnEarlierAskIsNobodys) {
  Machine machine = claiming();
  for (const std::uint64_t ask : {0u, 1u, 3u}) {
    const Effects effects = machine.decide(Overdue{ask});
    EXPECT_EQ(effects.begin(), effects.end());
  }
  EXPECT_EQ(machine.state(), State::claiming);
}

TEST(Write, ItsClaimIsRenewedAtAThirdOfTheLease) {
  Machine machine = sending();
  const SteadyInstant start = SteadyInstant() + Duration::seconds(100);
  EXPECT_EQ(find<RenewClaim>(machine.decide(TimePassed{start})), nullptr);
  EXPECT_EQ(find<RenewClaim>(machine.decide(TimePassed{start + Duration::seconds(19)})), nullptr);
  const auto renew = only<RenewClaim>(machine.decide(TimePassed{start + Duration::seconds(20)}));
  EXPECT_EQ(renew.fence, 7u);
  EXPECT_EQ(renew.lease, Duration::seconds(60));
}

TEST(Write, OneThatIsTooLargeOrHasNoGoodKeyIsRefused) {
  Machine machine;
  machine.decide(Arrived{counts, false, &standard});
  EXPECT_EQ(refusal(machine.decide(TooLarge{100})), http::ProblemCode::too_large);
  machine = {};
  EXPECT_EQ(refusal(machine.decide(BadKey{KeyFound::Kind::missing, "Idempotency-Key"})),
            http::ProblemCode::idempotency_key_missing);
  machine = {};
  EXPECT_EQ(refusal(machine.decide(BadKey{KeyFound::Kind::invalid, "Idempotency-Key"})),
            http::ProblemCode::idempotency_key_invalid);
}

// One client with the key after the other, over one record. Each call is made to completion; the
// store may fail before or after it acted; the upstream may lose its answer.
struct World {
  std::optional<Record> kept = {};
  std::uint64_t fence = 0;
  std::uint64_t late_fence = 0;  // of a claim that was taken after its deadline
  Instant now = Instant() + Duration::hours(1);
  int applied = 0;

  bool flip() { return *rc::gen::arbitrary<bool>(); }
  bool rarely() { return *rc::gen::inRange(0, 5) == 0; }

  template <class T>
  Result<T> maybe_lost(Result<T> result) {
    return rarely() ? Result<T>(std::unexpected(away)) : result;
  }

  // What the client was told: a status, or 0.
  int call(const WriteRules& how) {
    Machine machine;
    machine.decide(Arrived{counts, false, &how});
    std::vector<Event> next = {Gathered{"f"}};
    int told = 0;
    while (!next.empty()) {
      const Event event = next.back();
      next.pop_back();
      for (const Effect& effect : machine.decide(event)) run(effect, next, told);
    }
    EXPECT_EQ(machine.state(), State::ended);
    return told;
  }

  void run(const Effect& effect, std::vector<Event>& next, int& told) {
    if (const auto* look = std::get_if<LookUp>(&effect)) {
      next.push_back(LookedUp{
          look->ask, maybe_lost(Result<std::optional<Record>>(idempotency::seen(kept, now)))});
    } else if (std::holds_alternative<ChargeLimit>(effect)) {
      next.push_back(Charged{.answer = allowed()});
    } else if (std::holds_alternative<RecordLimit>(effect)) {
      next.push_back(Recorded{});
    } else if (const auto* claim = std::get_if<Claim>(&effect)) {
      if (rarely()) {
        next.push_back(Claimed{claim->ask, std::unexpected(away)});  // nothing was done
        return;
      }
      if (rarely()) {
        const auto late = idempotency::begin(kept, claim->begin, ++fence, now);
        late_fence = late.verdict == Verdict::started ? late.record.fence : 0;
        next.push_back(Overdue{claim->ask});
        return;
      }
      next.push_back(Claimed{claim->ask, maybe_lost(Result<idempotency::Begun>(idempotency::begin(
                                             kept, claim->begin, ++fence, now)))});
    } else if (std::holds_alternative<SendUpstream>(effect)) {
      send(next);
    } else if (const auto* write = std::get_if<RecordWrite>(&effect)) {
      const Result<void> done = rarely()
                                    ? Result<void>(std::unexpected(away))
                                    : idempotency::complete(kept, write->fence, write->how, now);
      next.push_back(Written{write->ask, maybe_lost(done)});
    } else if (const auto* leave = std::get_if<LeaveClaim>(&effect)) {
      if (late_fence != 0) {
        EXPECT_TRUE(idempotency::complete(kept, late_fence, leave->how, now).has_value());
      }
    } else if (const auto* refuse = std::get_if<Refuse>(&effect)) {
      told = http::status_of(refuse->code);
    } else if (const auto* replay = std::get_if<Replay>(&effect)) {
      told = replay->head.status;
    } else if (std::holds_alternative<Deliver>(effect)) {
      told = 201;
    }
  }

  void send(std::vector<Event>& next) {
    if (rarely()) {
      next.push_back(Failed{.kind = Failed::Kind::unreachable, .outcome = Outcome::not_applied});
      return;
    }
    ++applied;
    if (rarely()) {
      next.push_back(Failed{.kind = Failed::Kind::timeout, .outcome = Outcome::unknown});
    } else {
      next.push_back(Answered{201, {.body = "made", .metadata = answer_of(201)}});
    }
  }
};

RC_GTEST_PROP(Write, IsAppliedAtMostOnceHoweverStoreAndUpstreamFail, ()) {
  const WriteRules strict = with([](auto& r) { r.on_store_failure = OnRecordFailure::reject; });
  World world;
  bool heard = false;
  for (int i = 0; i < 12; ++i) {
    const int told = world.call(strict);
    if (told == 201) heard = true;
    // Leases run out between calls, now and then.
    world.now = world.now + (world.flip() ? Duration::seconds(1) : Duration::minutes(2));
    RC_ASSERT(world.applied <= 1);
    RC_ASSERT(!heard || world.applied == 1);
  }
}

}  // namespace
}  // namespace pawl::request
