// Goal: a cancel or change is repeated until it is answered, and what may have been done is never
//       called refused.
// Method: the machine driven by hand; random answers against what was sent.
#include "core/order/change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/order/order_fixture.h"

namespace pawl::order {
namespace {

using ::testing::HasSubstr;

std::string text(const ChangeDone& effect) {
  if (effect.result) return "done";
  return "done " + std::string(to_string(effect.result.error().code));
}

class DrivenChange {
 public:
  explicit DrivenChange(ChangeKind kind = ChangeKind::cancel, Intent intent = fresh_intent())
      : machine_(std::move(intent), kind, {}, {7}) {}

  std::string decide(const ChangeEvent& event) {
    std::string out;
    for (const ChangeEffect& effect : machine_.decide(event, now_)) {
      if (const auto* wake = std::get_if<WakeAt>(&effect)) wake_at_ = wake->at;
      if (const auto* done = std::get_if<ChangeDone>(&effect)) done_ = *done;
      if (const auto* sent = std::get_if<Send>(&effect)) ids_.push_back(sent->request_id);
      if (const auto* keep = std::get_if<Keep>(&effect)) {
        EXPECT_EQ(keep->event.correlation.external_reference, "ref-1");
        EXPECT_NE(keep->event.correlation.request_id, "");
        EXPECT_THAT(keep->event.operation, HasSubstr("_order"));
      }
      if (std::holds_alternative<Note>(effect) || std::holds_alternative<Keep>(effect)) continue;
      out += (out.empty() ? "" : ", ") + std::visit([](const auto& e) { return text(e); }, effect);
    }
    return out;
  }
  std::string wake() {
    now_.steady = wake_at_;
    return decide(Woken{});
  }
  std::string answer(Sent sent) { return decide(Answered{answered_with(sent)}); }
  const std::optional<ChangeDone>& done() const { return done_; }
  const std::vector<std::string>& ids() const { return ids_; }
  void move(Duration time) { now_.steady = now_.steady + time; }

 private:
  Change machine_;
  Time now_{SteadyInstant::from_ns(1), noon};
  SteadyInstant wake_at_;
  std::optional<ChangeDone> done_;
  std::vector<std::string> ids_;
};

TEST(Change, IsSentAtItsPaceAndDone) {
  DrivenChange it;
  EXPECT_EQ(it.decide(Begun{}), "pace urgent");
  EXPECT_EQ(it.decide(PaceGranted{}), "send 1");
  EXPECT_THAT(it.ids()[0], HasSubstr("ref-1_cancel_"));
  EXPECT_EQ(it.answer(Sent::accepted), "done");
  EXPECT_EQ(it.done()->attempts, 1);
  EXPECT_EQ(it.decide(Withdrawn{}), "") << "over";
}

TEST(Change, PassesOthersOnlyWhereItLessensRisk) {
  EXPECT_EQ(DrivenChange(ChangeKind::modify).decide(Begun{}), "pace");
  Intent closing = fresh_intent();
  closing.order.reduce_only = true;
  EXPECT_EQ(DrivenChange(ChangeKind::modify, closing).decide(Begun{}), "pace urgent");
}

TEST(Change, IsRefusedByTheVenuesWord) {
  DrivenChange it(ChangeKind::modify);
  it.decide(Begun{});
  it.decide(PaceGranted{});
  EXPECT_THAT(it.ids()[0], HasSubstr("ref-1_modify_"));
  EXPECT_EQ(it.answer(Sent::refused), "done refused");
  EXPECT_EQ(it.done()->result.error().outcome, Outcome::not_applied);
}

TEST(Change, IsRepeatedUnderAnotherIdWhateverBecameOfTheLastCopy) {
  for (const Sent sent : {Sent::unknown, Sent::duplicate, Sent::rate_limited, Sent::not_sent}) {
    DrivenChange it;
    it.decide(Begun{});
    it.decide(PaceGranted{});
    EXPECT_EQ(it.answer(sent), "wake");
    EXPECT_EQ(it.decide(Woken{}), "wake") << "too early";
    EXPECT_EQ(it.wake(), "pace urgent");
    EXPECT_EQ(it.decide(PaceGranted{}), "send 2");
    EXPECT_NE(it.ids()[0], it.ids()[1]);
    EXPECT_EQ(it.answer(Sent::accepted), "done");
  }
}

TEST(Change, IsUnresolvedWhenNobodyKnowsInTheEnd) {
  DrivenChange it;
  it.decide(Begun{});
  for (int attempt = 1; attempt < 3; ++attempt) {
    it.decide(PaceGranted{});
    EXPECT_EQ(it.answer(Sent::unknown), "wake");
    it.wake();
  }
  it.decide(PaceGranted{});
  EXPECT_EQ(it.answer(Sent::rate_limited), "done unresolved");
  EXPECT_EQ(it.done()->result.error().outcome, Outcome::unknown);
  EXPECT_THAT(it.done()->result.error().message, HasSubstr("may have been done"));
}

TEST(Change, IsUnavailableWhenEveryCopyWasTurnedAway) {
  for (const Sent sent : {Sent::rate_limited, Sent::not_sent}) {
    DrivenChange it;
    it.decide(Begun{});
    for (int attempt = 1; attempt < 3; ++attempt) {
      it.decide(PaceGranted{});
      EXPECT_EQ(it.answer(sent), "wake");
      it.wake();
    }
    it.decide(PaceGranted{});
    EXPECT_EQ(it.answer(sent), "done unavailable");
    EXPECT_EQ(it.done()->result.error().outcome, Outcome::not_applied);
  }
}

TEST(Change, IsNotRefusedByAnAnswerToTheSecondCopy) {
  DrivenChange it(ChangeKind::modify);
  it.decide(Begun{});
  it.decide(PaceGranted{});
  it.answer(Sent::unknown);
  it.wake();
  it.decide(PaceGranted{});
  EXPECT_EQ(it.answer(Sent::refused), "done unresolved");
}

TEST(Change, TellsThePacersRefusal) {
  const Error late(Code::refused, Outcome::unknown, "too late");
  DrivenChange it;
  it.decide(Begun{});
  EXPECT_EQ(it.decide(PaceRefused{late}), "done refused");
  EXPECT_EQ(it.done()->result.error().message, "too late");
  EXPECT_EQ(it.done()->result.error().outcome, Outcome::not_applied) << "nothing was sent";

  DrivenChange second_try;
  second_try.decide(Begun{});
  second_try.decide(PaceGranted{});
  second_try.answer(Sent::unknown);
  second_try.wake();
  EXPECT_EQ(second_try.decide(PaceRefused{late}), "done unresolved");
}

TEST(Change, StopsWhenWithdrawn) {
  DrivenChange early;
  early.decide(Withdrawn{});
  EXPECT_EQ(early.decide(Begun{}), "done unavailable");

  DrivenChange pacing;
  pacing.decide(Begun{});
  EXPECT_EQ(pacing.decide(Withdrawn{}), "leave pace, done unavailable");

  DrivenChange sending;
  sending.decide(Begun{});
  sending.decide(PaceGranted{});
  EXPECT_EQ(sending.decide(Withdrawn{}), "") << "it is under way";
  EXPECT_EQ(sending.answer(Sent::unknown), "done unresolved");

  DrivenChange waiting;
  waiting.decide(Begun{});
  waiting.decide(PaceGranted{});
  waiting.answer(Sent::unknown);
  EXPECT_EQ(waiting.decide(Withdrawn{}), "done unresolved");
}

RC_GTEST_PROP(Change, NeverCallsRefusedWhatMayHaveBeenDone, ()) {
  DrivenChange it(*rc::gen::element(ChangeKind::modify, ChangeKind::cancel));
  it.decide(Begun{});
  bool unknown = false;
  while (!it.done()) {
    it.decide(PaceGranted{});
    const Sent sent = static_cast<Sent>(*rc::gen::inRange(0, 6));
    const bool accepted = sent == Sent::accepted;
    it.answer(sent);
    unknown = unknown || outcome_of(sent) == Outcome::unknown;
    if (it.done()) {
      RC_ASSERT(accepted == it.done()->result.has_value());
      if (!accepted) RC_ASSERT(unknown == (it.done()->result.error().code == Code::unresolved));
      break;
    }
    it.wake();
  }
  RC_ASSERT(it.ids().size() <= 3u);
}

}  // namespace
}  // namespace pawl::order
