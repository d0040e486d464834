// Goal: whatever the venue, the disk, the pacer, the caller and the wall clock do, an order is sent
//       again only when the last copy was certainly not applied or absence was earned, only what is
//       durable is sent, verdicts stand, and every run ends.
// Method: rapidcheck plays the world against the machine. A referee of its own, which knows nothing
//         of the machine's reckoning, keeps what is durable and what the venue has said.
#include <algorithm>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <set>

#include "base/bounds.h"
#include "core/order/intent_text.h"
#include "core/order/order_fixture.h"

namespace pawl::order {
namespace {

bool chance(int percent) {
  return *rc::gen::inRange(0, 100) < percent;
}

template <class T>
T one_of(std::vector<T> choices) {
  return *rc::gen::elementOf(std::move(choices));
}

Answer any_answer(Instant wall) {
  Answer answer = answered_with(
      one_of<Sent>({Sent::accepted, Sent::refused, Sent::rate_limited, Sent::duplicate,
                    Sent::not_sent, Sent::unknown, Sent::unknown, Sent::unknown}));
  if (answer.sent == Sent::not_sent && chance(40)) answer.turned_away = true;
  if (answer.sent == Sent::accepted ? chance(80) : chance(10)) answer.order_id = "77";
  if (chance(5)) answer.code = not_completed_code;
  if (chance(30)) answer.retry_after = Duration::milliseconds(*rc::gen::inRange(0, 900'000));
  if (chance(30)) answer.expires = wall + Duration::milliseconds(*rc::gen::inRange(-9'000, 30'000));
  return answer;
}

Reading any_reading(Instant wall) {
  Reading reading = chance(60) ? empty_reading() : unreadable();
  if (chance(5)) reading.whole = false;
  if (chance(80)) reading.venue_time = wall;
  if (chance(6))
    reading.orders.push_back(
        shown("77", one_of<Life>({Life::working, Life::filled, Life::rejected})));
  if (chance(3)) reading.orders.push_back(shown("78"));
  if (chance(3)) {
    reading.orders.push_back(shown("79"));
    reading.orders.back().side = Side::sell;
  }
  if (chance(4)) reading.probable.push_back(shown("80"));
  return reading;
}

// Says what the machine may do, from what has happened.
class Referee {
 public:
  Referee(const Intent& intent, Settings settings)
      : durable_(intent.progress), settings_(std::move(settings)) {}

  void answered(const Answer& answer, SteadyInstant now) {
    quiet_since_ = now;
    absent_at_.clear();
    const bool sealed = !answer.order_id.empty() || answer.code == not_completed_code ||
                        answer.sent == Sent::duplicate;
    sealed_ = sealed_ || sealed;
    certain_ = !sealed && (answer.sent == Sent::not_sent || answer.sent == Sent::rate_limited);
    refused_ = !sealed && answer.sent == Sent::refused;
    const bool reached_it = answer.turned_away || answer.sent != Sent::not_sent;
    left_ = left_ || sealed || reached_it;
    if (answer.expires) expires_ = std::max(expires_.value_or(*answer.expires), *answer.expires);
  }
  void withdrawn() { wanted_ = false; }
  void wanted_again() { wanted_ = true; }
  void taken_over(SteadyInstant now) {
    quiet_since_ = now;
    certain_ = false;
    sealed_ = durable_.sealed;
    expires_ = durable_.expires;
  }
  void read(const Reading& reading, SteadyInstant begun) {
    refused_there_ = !reading.orders.empty() && reading.orders.front().life == Life::rejected;
    const bool late = !expires_ || (reading.venue_time && *reading.venue_time > *expires_);
    if (reading.whole && reading.orders.empty() && reading.probable.empty() && late &&
        begun - quiet_since_ >= settings_.settle) {
      absent_at_.push_back(begun);
    }
  }
  bool is_absent() const {
    return absent_at_.size() >= 2 && absent_at_.back() - absent_at_.front() >= Duration::seconds(1);
  }

  void saved(const Progress& progress) {
    RC_ASSERT(is_open(durable_.status));
    durable_ = progress;
    RC_ASSERT(progress.unsent == (progress.status == Status::rejected && !left_));
    if (progress.status != Status::rejected) return;
    RC_ASSERT(certain_ || refused_ || is_absent() || refused_there_);
  }
  void send(const Send& sent) {
    RC_ASSERT(durable_.status == Status::sending);
    RC_ASSERT(durable_.attempts == sent.attempt);
    RC_ASSERT(durable_.request_id == sent.request_id);
    RC_ASSERT(ids_.insert(sent.request_id).second);
    RC_ASSERT(wanted_);
    if (sends_++ > 0 || taken_) {
      RC_ASSERT(!sealed_);
      RC_ASSERT(certain_ || is_absent());
    }
    certain_ = false;
    absent_at_.clear();
  }
  void set_taken() {
    taken_ = true;
    left_ = true;
  }
  const Progress& durable() const { return durable_; }

 private:
  Progress durable_;
  Settings settings_;
  bool taken_ = false;
  bool wanted_ = true;  // somebody waits for it
  int sends_ = 0;
  bool certain_ = true;  // the last copy was not applied, and may be followed by another
  bool refused_ = false;
  bool left_ = false;  // the venue may know of an attempt
  bool sealed_ = false;
  bool refused_there_ = false;
  SteadyInstant quiet_since_;
  std::vector<SteadyInstant> absent_at_;
  std::optional<Instant> expires_;
  std::set<std::string> ids_;
};

class World {
 public:
  World(Intent intent, Settings settings)
      : machine_(intent, settings, {3}), referee_(intent, settings) {}

  void run(const Event& first) {
    if (const auto* taken = std::get_if<TakenOver>(&first)) {
      referee_.set_taken();
      referee_.taken_over(now_.steady);
      if (!taken->resend) referee_.withdrawn();
    }
    decide(first);
    for (int step = 0; !machine_.is_over(); ++step) {
      RC_ASSERT(step < 5'000);
      disturb();
      answer();
    }
    RC_ASSERT(finishes_ == 1);
  }
  const Referee& referee() const { return referee_; }
  const Finish& finish() const { return finish_; }

 private:
  void decide(const Event& event) {
    for (const Effect& effect : machine_.decide(event, now_)) {
      RC_ASSERT(finishes_ == 0);
      std::visit([&](const auto& each) { take(each); }, effect);
    }
  }
  void take(const AskPace&) { pacing_ = true; }
  void take(const LeavePace&) { pacing_ = false; }
  void take(const Save& effect) {
    RC_ASSERT(!saving_);
    RC_ASSERT(progress_of(to_json(effect.progress)).value() == effect.progress);
    saving_ = effect.progress;
  }
  void take(const Send& effect) {
    RC_ASSERT(!saving_ && !sending_);
    referee_.send(effect);
    sending_ = true;
  }
  void take(const ReadVenue&) {
    RC_ASSERT(!sending_ && !reading_);
    reading_ = now_.steady;
  }
  void take(const WakeAt& effect) { wake_at_ = effect.at; }
  void take(const Finish& effect) {
    ++finishes_;
    finish_ = effect;
  }
  void take(const Keep&) {}
  void take(const Note& note) {
    RC_ASSERT(note.external_reference == "ref-1");
    RC_ASSERT(!note.request_id.empty());
  }

  void disturb() {
    if (chance(3)) {
      referee_.withdrawn();
      decide(Withdrawn{});
    }
    if (chance(3)) {
      referee_.wanted_again();
      decide(WantedAgain{});
    }
    if (chance(5)) decide(Woken{});
    if (chance(10)) now_.wall = now_.wall + Duration::seconds(*rc::gen::inRange(-90'000, 90'000));
    if (chance(50)) pass(Duration::milliseconds(*rc::gen::inRange(0, 3'000)));
  }
  void pass(Duration time) {
    now_.steady = now_.steady + time;
    now_.wall = now_.wall + time;
  }
  void answer() {
    const Error error(Code::unavailable, Outcome::unknown, "lost");
    if (pacing_) {
      pacing_ = false;
      return chance(95) ? decide(PaceGranted{}) : decide(PaceRefused{error});
    }
    if (sending_) {
      sending_ = false;
      const Answer answer = any_answer(now_.wall);
      referee_.answered(answer, now_.steady);
      return decide(Answered{answer});
    }
    if (saving_) {
      const Progress progress = *std::exchange(saving_, std::nullopt);
      if (chance(15)) return decide(SaveFailed{error});
      referee_.saved(progress);
      return decide(Saved{});
    }
    if (reading_) {
      const SteadyInstant begun = *std::exchange(reading_, std::nullopt);
      const Reading reading = any_reading(now_.wall);
      referee_.read(reading, begun);
      return decide(ReadDone{reading});
    }
    if (wake_at_ > now_.steady) pass(wake_at_ - now_.steady);
    decide(Woken{});
  }

  Placement machine_;
  Referee referee_;
  Time now_{SteadyInstant::from_ns(5'000'000'000), noon};
  bool pacing_ = false;
  bool sending_ = false;
  std::optional<Progress> saving_;
  std::optional<SteadyInstant> reading_;
  SteadyInstant wake_at_;
  int finishes_ = 0;
  Finish finish_;
};

Settings any_settings() {
  Settings settings;
  settings.retry.max_attempts = *rc::gen::inRange(1, 6);
  settings.settle = Duration::milliseconds(*rc::gen::inRange(1, 40'000));
  settings.patience = Duration::seconds(*rc::gen::inRange(0, 200));
  return settings;
}

void check_end(const World& world) {
  const Finish& finish = world.finish();
  if (finish.kept) {
    RC_ASSERT(finish.progress == world.referee().durable());
    RC_ASSERT(finish.progress.status != Status::sending);
    RC_ASSERT(finish.progress.status != Status::reconciling);
  } else {
    RC_ASSERT(finish.progress.status == Status::unresolved);
    RC_ASSERT(is_open(world.referee().durable().status));
  }
}

RC_GTEST_PROP(PlacementProperty, AFreshOrderIsSentAgainOnlyWithProofAndAlwaysEnds, ()) {
  World world(fresh_intent(), any_settings());
  world.run(Begun{});
  check_end(world);
}

// Another opening of the same reference owes nothing to the one before it.
RC_GTEST_PROP(PlacementProperty, AnOrderOfWhichNothingLeftIsPlacedAgainLikeAFreshOne, ()) {
  Intent intent = fresh_intent();
  intent.progress.status = Status::rejected;
  intent.progress.unsent = true;
  intent.progress.attempts = *rc::gen::inRange(1, 100);
  RC_ASSERT(may_open_again(intent, swap_order()));
  intent.progress = opened_again(intent.progress, "ref-1_place_2_bbbbbbbb", noon);
  World world(intent, any_settings());
  world.run(Begun{});
  check_end(world);
}

RC_GTEST_PROP(PlacementProperty, AnOrderTakenOverIsSentOnlyWithProofAndAlwaysEnds, ()) {
  Intent intent = fresh_intent();
  intent.progress.status =
      one_of<Status>({Status::sending, Status::reconciling, Status::unresolved});
  intent.progress.sealed = chance(10);
  if (chance(30)) intent.progress.expires = noon + Duration::seconds(*rc::gen::inRange(-60, 60));
  World world(intent, any_settings());
  world.run(TakenOver{.resend = chance(80)});
  check_end(world);
}

}  // namespace
}  // namespace pawl::order
