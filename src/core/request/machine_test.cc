// Goal: every edge of the request machine, and the rule that matters most: what may have been
// applied is never sent again on its own. Method: one test an edge; a property over every way a
// send can fail.
#include "core/request/machine.h"

#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <initializer_list>
#include <rapidcheck/gtest.h>

#include "core/limit/explain.h"

namespace pawl::request {
namespace {

using ::testing::ElementsAre;

const limit::Policy pace("global", limit::TokenBucket({5, Duration::seconds(1)}, 0));
const limit::Policy watched("watched", limit::SlidingLog({{1, Duration::seconds(9)}}),
                            {.shadow = true});
const limit::Policy few("few", limit::Concurrency{.slots = 2, .lease = Duration::seconds(9)});
const limit::Policy fewer("fewer", limit::Concurrency{.slots = 1, .lease = Duration::seconds(60)});

const std::array<limit::Count, 2> plain = {{{&pace, "tenant:acme"}, {&watched, "tenant:acme"}}};
const std::array<limit::Count, 3> lending = {{{&pace, "a"}, {&few, "a"}, {&fewer, "a"}}};

limit::Answer answer_of(std::initializer_list<bool> allowed) {
  limit::Answer answer;
  answer.allowed = *allowed.begin();
  for (const bool each : allowed) {
    answer.verdicts.add({.allowed = each,
                         .limit = 5,
                         .retry_after = each ? Duration() : Duration::milliseconds(1200)});
  }
  if (!answer.allowed) answer.retry_after = Duration::milliseconds(1200);
  return answer;
}

const limit::Answer allowed = answer_of({true, false});
const limit::Answer refused = answer_of({false, false});

const Error disk_full(Code::unavailable, Outcome::not_applied, "no space left on device");

template <class T>
const T* find(const Effects& effects) {
  for (const Effect& effect : effects) {
    if (const T* found = std::get_if<T>(&effect)) return found;
  }
  return nullptr;
}

Machine arrived(bool harmless = false) {
  Machine machine;
  const Effects effects = machine.decide(Arrived{plain, harmless});
  EXPECT_NE(find<ChargeLimit>(effects), nullptr);
  EXPECT_EQ(find<ChargeLimit>(effects)->counts.data(), plain.data());
  EXPECT_EQ(find<ChargeLimit>(effects)->hold, Duration()) << "nothing is lent, nothing is held";
  EXPECT_EQ(machine.state(), Machine::State::charging);
  return machine;
}

Machine recording(const limit::Answer& answer, bool harmless = false) {
  Machine machine = arrived(harmless);
  const Effects effects =
      machine.decide(Charged{.answer = answer, .retry_after = Duration::milliseconds(3100)});
  EXPECT_NE(find<RecordLimit>(effects), nullptr);
  EXPECT_EQ(find<SendUpstream>(effects), nullptr) << "sent before it was recorded";
  EXPECT_EQ(machine.state(), Machine::State::recording);
  return machine;
}

// With slots of two policies in hand.
constexpr std::uint64_t loan = 77;
Machine holding() {
  Machine machine;
  const Effects effects = machine.decide(Arrived{lending, true});
  EXPECT_EQ(find<ChargeLimit>(effects)->hold, Duration::seconds(60)) << "the longest lease";
  machine.decide(Charged{.answer = answer_of({true, true, true}), .reservation = loan});
  EXPECT_NE(find<SendUpstream>(machine.decide(Recorded{})), nullptr);
  return machine;
}

Machine sending(bool harmless = false) {
  Machine machine = recording(allowed, harmless);
  const Effects effects = machine.decide(Recorded{});
  EXPECT_NE(find<SendUpstream>(effects), nullptr);
  EXPECT_EQ(machine.state(), Machine::State::sending);
  return machine;
}

TEST(RequestMachine, RefusesWithTheHintRoundedUpAndNamesWhoRefused) {
  Machine machine = recording(refused);
  const Effects effects = machine.decide(Recorded{});
  EXPECT_EQ(find<SendUpstream>(effects), nullptr);
  const auto* refusal = find<Refuse>(effects);
  ASSERT_NE(refusal, nullptr);
  EXPECT_EQ(refusal->code, http::ProblemCode::rate_limit);
  EXPECT_EQ(refusal->retry_after_seconds, 4);
  std::string words;
  machine.append_words(words, *refusal);
  EXPECT_EQ(words, limit::explain(plain, refused, 1, limit::Audience::clients));
  EXPECT_THAT(machine.refusers().all(), ElementsAre("global")) << "one in shadow refuses nobody";
  EXPECT_EQ(find<RecordEnd>(effects)->outcome, Outcome::not_applied);
  EXPECT_EQ(find<RecordEnd>(effects)->status, 429);
  EXPECT_EQ(machine.state(), Machine::State::ended);
  EXPECT_TRUE(machine.has_answer());
}

TEST(RequestMachine, NamesEveryPolicyThatRefused) {
  Machine machine;
  machine.decide(Arrived{lending, true});
  machine.decide(Charged{.answer = answer_of({false, true, false})});
  const Effects effects = machine.decide(Recorded{});
  EXPECT_THAT(machine.refusers().all(), ElementsAre("global", "fewer"));
  EXPECT_EQ(find<SettleLimit>(effects), nullptr) << "nothing was lent";
}

// Whoever hears the refusal may come with the next request at once.
TEST(RequestMachine, RefusesLast) {
  Machine machine = recording(refused);
  const Effects effects = machine.decide(Recorded{});
  ASSERT_NE(effects.begin(), effects.end());
  EXPECT_TRUE(std::holds_alternative<Refuse>(*(effects.end() - 1)));
}

TEST(RequestMachine, GivesSlotsBackAtEveryEnd) {
  const Event ends[] = {Answered{200}, CutOff{200}, Abandoned{},
                        Failed{.kind = Failed::Kind::timeout, .outcome = Outcome::unknown}};
  for (const Event& event : ends) {
    Machine machine = holding();
    const Effects effects = machine.decide(event);
    ASSERT_NE(find<SettleLimit>(effects), nullptr) << event.index();
    EXPECT_EQ(find<SettleLimit>(effects)->reservation, loan);
    EXPECT_TRUE(find<SettleLimit>(effects)->used);
    EXPECT_EQ(find<SettleLimit>(effects)->counts.data(), lending.data());
    EXPECT_EQ(find<SettleLimit>(machine.decide(Abandoned{})), nullptr) << "once is enough";
  }
}

TEST(RequestMachine, CancelsALoanThatCannotBeRecorded) {
  Machine machine;
  machine.decide(Arrived{lending, true});
  machine.decide(Charged{.answer = answer_of({true, true, true}), .reservation = loan});
  const Effects effects = machine.decide(RecordFailed{disk_full});
  ASSERT_NE(find<SettleLimit>(effects), nullptr);
  EXPECT_FALSE(find<SettleLimit>(effects)->used);
  EXPECT_EQ(find<RefundLimit>(effects), nullptr) << "once is enough";
  EXPECT_TRUE(std::holds_alternative<Refuse>(*(effects.end() - 1))) << "who hears it may be back";
}

TEST(RequestMachine, GivesBackWhatItChargedForARequestThatCannotBeRecorded) {
  Machine machine = recording(allowed);
  const Effects effects = machine.decide(RecordFailed{disk_full});
  ASSERT_NE(find<RefundLimit>(effects), nullptr);
  EXPECT_EQ(find<RefundLimit>(effects)->counts.data(), plain.data());
  EXPECT_EQ(find<RefundLimit>(effects)->charged, 0b01) << "the shadow had no room";
  EXPECT_TRUE(std::holds_alternative<Refuse>(*(effects.end() - 1))) << "who hears it may be back";
}

TEST(RequestMachine, GivesNothingBackWhereNothingWasCharged) {
  Machine machine = recording(refused);
  EXPECT_EQ(find<RefundLimit>(machine.decide(RecordFailed{disk_full})), nullptr);
}

TEST(RequestMachine, GivesNothingBackThatWasSentOrLeft) {
  const Failed unreachable{.kind = Failed::Kind::unreachable, .outcome = Outcome::not_applied};
  for (const Event& event : {Event(Answered{200}), Event(unreachable), Event(Abandoned{})}) {
    Machine machine = sending();
    EXPECT_EQ(find<RefundLimit>(machine.decide(event)), nullptr) << event.index();
  }
}

TEST(RequestMachine, GivesSlotsBackThatCameAfterTheClientLeft) {
  Machine machine;
  machine.decide(Arrived{lending, true});
  machine.decide(Abandoned{});
  const Effects effects =
      machine.decide(Charged{.answer = answer_of({true, true, true}), .reservation = loan});
  ASSERT_NE(find<SettleLimit>(effects), nullptr);
  EXPECT_EQ(find<RecordLimit>(effects), nullptr);
  EXPECT_EQ(machine.state(), Machine::State::ended);
}

TEST(RequestMachine, SaysNothingToAStoreThatFailsAfterTheClientLeft) {
  Machine machine = arrived();
  machine.decide(Abandoned{});
  const Effects effects =
      machine.decide(ChargeFailed{Error(Code::unavailable, Outcome::unknown, "gone")});
  EXPECT_EQ(effects.begin(), effects.end());
}

TEST(RequestMachine, RenewsALoanThreeTimesWithinItsShortestLease) {
  Machine machine = holding();
  const auto at = [](int seconds) {
    return TimePassed{SteadyInstant() + Duration::seconds(seconds)};
  };
  std::vector<int> renewed;
  for (int second = 100; second < 110; ++second) {
    const Effects effects = machine.decide(at(second));
    const auto* renewal = find<RenewLimit>(effects);
    if (renewal == nullptr) continue;
    renewed.push_back(second);
    EXPECT_EQ(renewal->reservation, loan);
    EXPECT_EQ(renewal->hold, Duration::seconds(60));
  }
  EXPECT_EQ(renewed, (std::vector<int>{103, 106, 109}));
  machine.decide(Answered{200});
  EXPECT_EQ(find<RenewLimit>(machine.decide(at(200))), nullptr) << "after the end nothing is held";
}

TEST(RequestMachine, RenewsNothingWhereNothingWasLent) {
  Machine machine = sending();
  for (int i = 0; i < 100; ++i) {
    const Effects effects = machine.decide(TimePassed{SteadyInstant() + Duration::seconds(1 + i)});
    EXPECT_EQ(effects.begin(), effects.end());
  }
}

TEST(RequestMachine, RefusesWhenTheStoreDoesNotAnswer) {
  Machine machine = arrived();
  const Effects effects = machine.decide(
      ChargeFailed{Error(Code::unavailable, Outcome::unknown, "connection refused")});
  EXPECT_EQ(find<Refuse>(effects)->code, http::ProblemCode::store_unavailable);
  EXPECT_EQ(find<SendUpstream>(effects), nullptr);
  EXPECT_FALSE(machine.has_answer());
}

TEST(RequestMachine, DoesNotDoWhatCannotBeRecorded) {
  Machine machine = recording(allowed);
  const Effects effects = machine.decide(RecordFailed{disk_full});
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
  EXPECT_NE(find<Refuse>(effects)->detail.find("It changes nothing"), std::string::npos)
      << "since it is harmless";
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

TEST(RequestMachine, RefusesAnUpgradeAndSaysHowToGoOn) {
  Machine machine;
  const Effects effects = machine.decide(UpgradeRefused{});
  EXPECT_EQ(find<Refuse>(effects)->code, http::ProblemCode::upgrade_refused);
  EXPECT_NE(find<Refuse>(effects)->detail.find("without Upgrade"), std::string::npos);
  EXPECT_EQ(find<RecordEnd>(effects)->outcome, Outcome::not_applied);
  EXPECT_EQ(find<RecordEnd>(effects)->status, 501);
  EXPECT_EQ(machine.state(), Machine::State::ended);
}

TEST(RequestMachine, TurnsAwayWhatIsTooMuch) {
  Machine machine;
  const Effects effects = machine.decide(Overloaded{});
  EXPECT_EQ(find<Refuse>(effects)->code, http::ProblemCode::overloaded);
  EXPECT_GT(find<Refuse>(effects)->retry_after_seconds, 0);
  EXPECT_EQ(find<RecordEnd>(effects)->outcome, Outcome::not_applied);
  EXPECT_EQ(find<RecordEnd>(effects)->status, 503);
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
