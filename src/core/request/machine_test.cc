// Goal: every edge of the request machine, and the rule that matters most: what may have been
// applied is never sent again on its own. Method: one test an edge; a property over every way a
// send can fail.
#include "core/request/machine.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace pawl::request {
namespace {

const limit::Policy policy{
    .name = "global", .bucket = {.rate = {.count = 5, .period = Duration::seconds(1)}, .burst = 0}};

constexpr limit::Verdict allowed{.allowed = true, .limit = 5, .remaining = 4};
constexpr limit::Verdict refused{
    .allowed = false, .limit = 5, .retry_after = Duration::milliseconds(1200)};

template <class T>
const T* find(const Effects& effects) {
  for (const Effect& effect : effects) {
    if (const T* found = std::get_if<T>(&effect)) return found;
  }
  return nullptr;
}

Machine arrived(bool harmless = false) {
  Machine machine;
  const Effects effects = machine.decide(Arrived{&policy, "acme", harmless});
  EXPECT_NE(find<ChargeLimit>(effects), nullptr);
  EXPECT_EQ(find<ChargeLimit>(effects)->tenant, "acme");
  EXPECT_EQ(machine.state(), Machine::State::charging);
  return machine;
}

Machine recording(const limit::Verdict& verdict, bool harmless = false) {
  Machine machine = arrived(harmless);
  const Effects effects = machine.decide(Charged{verdict});
  EXPECT_NE(find<RecordLimit>(effects), nullptr);
  EXPECT_EQ(find<SendUpstream>(effects), nullptr) << "sent before it was recorded";
  EXPECT_EQ(machine.state(), Machine::State::recording);
  return machine;
}

Machine sending(bool harmless = false) {
  Machine machine = recording(allowed, harmless);
  const Effects effects = machine.decide(Recorded{});
  EXPECT_NE(find<SendUpstream>(effects), nullptr);
  EXPECT_EQ(machine.state(), Machine::State::sending);
  return machine;
}

TEST(RequestMachine, RefusesWithTheWaitRoundedUp) {
  Machine machine = recording(refused);
  const Effects effects = machine.decide(Recorded{});
  EXPECT_EQ(find<SendUpstream>(effects), nullptr);
  const auto* refusal = find<Refuse>(effects);
  ASSERT_NE(refusal, nullptr);
  EXPECT_EQ(refusal->code, http::ProblemCode::rate_limit);
  EXPECT_EQ(refusal->retry_after_seconds, 2);
  EXPECT_EQ(refusal->detail, "Limit 'global' of 5 is used up. Try again in 2 s.");
  EXPECT_EQ(find<RecordEnd>(effects)->outcome, Outcome::not_applied);
  EXPECT_EQ(find<RecordEnd>(effects)->status, 429);
  EXPECT_EQ(machine.state(), Machine::State::ended);
  EXPECT_TRUE(machine.has_verdict());
}

TEST(RequestMachine, RefusesWhenTheStoreDoesNotAnswer) {
  Machine machine = arrived();
  const Effects effects = machine.decide(
      ChargeFailed{Error(Code::unavailable, Outcome::unknown, "connection refused")});
  EXPECT_EQ(find<Refuse>(effects)->code, http::ProblemCode::store_unavailable);
  EXPECT_EQ(find<SendUpstream>(effects), nullptr);
  EXPECT_FALSE(machine.has_verdict());
}

TEST(RequestMachine, DoesNotDoWhatCannotBeRecorded) {
  Machine machine = recording(allowed);
  const Effects effects = machine.decide(
      RecordFailed{Error(Code::unavailable, Outcome::not_applied, "no space left on device")});
  EXPECT_EQ(find<SendUpstream>(effects), nullptr);
  EXPECT_EQ(find<Refuse>(effects)->code, http::ProblemCode::store_unavailable);
  EXPECT_NE(find<Refuse>(effects)->detail.find("no space left"), std::string::npos);
  EXPECT_EQ(machine.state(), Machine::State::ended);
}

TEST(RequestMachine, RecordsTheAnswerOfTheUpstream) {
  Machine machine = sending();
  const Effects effects = machine.decide(Answered{201});
  EXPECT_EQ(find<RecordEnd>(effects)->outcome, Outcome::applied);
  EXPECT_EQ(find<RecordEnd>(effects)->status, 201);
  EXPECT_EQ(machine.state(), Machine::State::ended);
}

TEST(RequestMachine, CallsA5xxOfTheUpstreamUnknown) {
  Machine machine = sending();
  EXPECT_EQ(find<RecordEnd>(machine.decide(Answered{503}))->outcome, Outcome::unknown);
}

TEST(RequestMachine, CallsAnAnswerThatBrokeOffUnknown) {
  Machine machine = sending(true);
  const Effects effects = machine.decide(CutOff{200});
  EXPECT_EQ(find<RecordEnd>(effects)->outcome, Outcome::unknown);
  EXPECT_EQ(find<RecordEnd>(effects)->status, 200);
  EXPECT_EQ(find<SendUpstream>(effects), nullptr);
}

TEST(RequestMachine, TriesADeadKeptAliveConnectionOnceMoreWhenHarmless) {
  Machine machine = sending(true);
  const Failed dead{
      .kind = Failed::Kind::unreachable, .outcome = Outcome::unknown, .reused_connection = true};
  EXPECT_NE(find<SendUpstream>(machine.decide(dead)), nullptr);
  const Effects second = machine.decide(dead);
  EXPECT_EQ(find<SendUpstream>(second), nullptr);
  EXPECT_EQ(find<Refuse>(second)->code, http::ProblemCode::upstream_unreachable);
}

TEST(RequestMachine, SaysTimeoutAs504) {
  Machine machine = sending();
  const Effects effects =
      machine.decide(Failed{.kind = Failed::Kind::timeout, .outcome = Outcome::unknown});
  EXPECT_EQ(find<Refuse>(effects)->code, http::ProblemCode::upstream_timeout);
  EXPECT_NE(find<Refuse>(effects)->detail.find("may have been applied"), std::string::npos);
  EXPECT_EQ(find<RecordEnd>(effects)->outcome, Outcome::unknown);
}

TEST(RequestMachine, RemembersThatAnEarlierCopyMayHaveArrived) {
  Machine machine = sending(true);
  const Failed dead{
      .kind = Failed::Kind::unreachable, .outcome = Outcome::unknown, .reused_connection = true};
  EXPECT_NE(find<SendUpstream>(machine.decide(dead)), nullptr);
  const Effects effects =
      machine.decide(Failed{.kind = Failed::Kind::unreachable, .outcome = Outcome::not_applied});
  EXPECT_EQ(find<RecordEnd>(effects)->outcome, Outcome::unknown);
  EXPECT_NE(find<Refuse>(effects)->detail.find("may have been applied"), std::string::npos);
}

TEST(RequestMachine, SendsAgainOnlyWhatDiedWithItsConnection) {
  for (const auto kind : {Failed::Kind::timeout, Failed::Kind::bad_answer}) {
    Machine machine = sending(true);
    const Effects effects = machine.decide(
        Failed{.kind = kind, .outcome = Outcome::unknown, .reused_connection = true});
    EXPECT_EQ(find<SendUpstream>(effects), nullptr);
  }
  Machine fresh = sending(true);
  EXPECT_EQ(find<SendUpstream>(fresh.decide(Failed{.kind = Failed::Kind::unreachable,
                                                   .outcome = Outcome::unknown,
                                                   .reused_connection = false})),
            nullptr);
}

TEST(RequestMachine, EndsWhenTheClientGoesAway) {
  Machine while_charging = arrived();
  EXPECT_EQ(find<RecordEnd>(while_charging.decide(Abandoned{}))->outcome, Outcome::not_applied);
  Machine while_recording = recording(allowed);
  EXPECT_EQ(find<RecordEnd>(while_recording.decide(Abandoned{}))->outcome, Outcome::not_applied);
  Machine while_connecting = sending();
  EXPECT_EQ(find<RecordEnd>(while_connecting.decide(Abandoned{}))->outcome, Outcome::not_applied);
  Machine while_sending = sending();
  const Effects effects = while_sending.decide(Abandoned{.sent = true, .status = 400});
  EXPECT_EQ(find<RecordEnd>(effects)->outcome, Outcome::unknown);
  EXPECT_EQ(find<RecordEnd>(effects)->status, 400);
  EXPECT_EQ(find<RecordEnd>(while_sending.decide(Abandoned{})), nullptr);
}

TEST(RequestMachine, RefusesARequestThatNamesNobody) {
  Machine machine;
  const Effects effects = machine.decide(Unnamed{"X-Tenant-Id"});
  EXPECT_EQ(find<Refuse>(effects)->code, http::ProblemCode::tenant_unknown);
  EXPECT_NE(find<Refuse>(effects)->detail.find("X-Tenant-Id"), std::string::npos);
  EXPECT_EQ(find<RecordEnd>(effects)->status, 401);
  EXPECT_EQ(machine.state(), Machine::State::ended);
}

RC_GTEST_PROP(RequestMachine, NeverSendsAgainWhatMayHaveBeenApplied, ()) {
  Machine machine = sending(false);
  const auto outcome = *rc::gen::element(Outcome::applied, Outcome::unknown);
  const Effects effects = machine.decide(
      Failed{.kind = *rc::gen::element(Failed::Kind::unreachable, Failed::Kind::timeout,
                                       Failed::Kind::bad_answer),
             .outcome = outcome,
             .reused_connection = *rc::gen::arbitrary<bool>()});
  RC_ASSERT(find<SendUpstream>(effects) == nullptr);
  RC_ASSERT(find<RecordEnd>(effects)->outcome == Outcome::unknown);
}

}  // namespace
}  // namespace pawl::request
