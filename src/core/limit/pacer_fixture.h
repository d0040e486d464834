// A session for the tests of the pacer: the machine, a clock moved by hand, and a store of one
// bucket, decided by limit::decide as every store decides; its answers can be held back.
#pragma once

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/limit/decide.h"
#include "core/limit/pacer.h"

namespace pawl::limit::pacer {

inline constexpr Duration second = Duration::seconds(1);
inline constexpr Duration nanosecond = Duration::nanoseconds(1);

inline std::string text(const RateLimitWaiting& note) {
  return "waiting " + note.operation + " " + to_string(note.wait);
}
inline std::string text(const RateLimitTokenWait& note) {
  return "token_wait " + note.operation + " " + to_string(note.wait) + " " +
         std::to_string(note.tokens_available).substr(0, 5);
}
inline std::string text(const RateLimitTokenAcquired& note) {
  return "acquired " + note.operation + " " + std::to_string(note.tokens_remaining);
}
inline std::string text(const RateLimitResetScheduled& note) {
  using Word = RateLimitResetScheduled::Word;
  std::string out = "reset " + to_string(note.reset_at) + " " + to_string(note.wait);
  if (note.word == Word::retry_after) out += " by Retry-After";
  if (note.word == Word::reset) out += " by " + note.reading.dimension;
  if (note.named) out += ", not " + to_string(*note.named);
  return out;
}
inline std::string text(const ApproachingRateLimit& note) {
  return "approaching " + note.operation + " " + to_string(note.reading);
}
inline std::string text(const RateLimitNotSent& note) {
  return "not_sent " + note.operation + " " + std::to_string(note.ticket);
}
inline std::string text(const RateLimitRefused& note) {
  return "refused " + note.operation + " " + std::to_string(note.status) + " " +
         to_string(note.pushback.readings);
}
inline std::string text(const RateLimitReopened& note) {
  return (note.elsewhere ? "reopened elsewhere" : "reopened, wait ") +
         (note.elsewhere ? "" : to_string(note.wait));
}
inline std::string text(const RateLimitHeadersIgnored& note) {
  return "ignored " + note.operation + " " + std::to_string(note.ignored) + " of " +
         std::to_string(note.total);
}
inline std::string text(const RateLimitUnrecorded& note) {
  return "unrecorded " + note.error.message;
}
inline std::string text(const RateLimitStoreFailed& note) {
  return "store_failed " + note.error.message;
}

// A session: the machine, and the store it is charged in.
class Session {
 public:
  explicit Session(Settings settings = {})
      : machine(settings), policy_("orders", settings.bucket) {}
  virtual ~Session() = default;

  void give(const Event& event) {
    events_.push_back(event);
    if (events_.size() > 1) return;  // called back from below
    while (!events_.empty()) {
      for (const Effect& effect : take(machine.decide(events_.front(), now))) {
        std::visit([this](const auto& e) { run(e); }, effect);
      }
      events_.erase(events_.begin());
    }
  }
  void ask(Ticket ticket, Duration patience = Duration::max()) {
    give(Asked{ticket, "place", false, now.steady + patience});
  }
  void ask_urgent(Ticket ticket, Duration patience = Duration::max()) {
    give(Asked{ticket, "cancel", true, now.steady + patience});
  }
  void hear(int status, const std::vector<Field>& fields) {
    give(Heard{"place", status, parse_pushback(fields, now.wall)});
  }
  void advance(Duration by) {
    now.steady = now.steady + by;
    now.wall = now.wall + by;
  }
  void advance_and_tick(Duration by) {
    advance(by);
    give(Ticked{});
  }
  // The store decides now, and its answer arrives.
  void answer() {
    ASSERT_TRUE(charge_waits);
    charge_waits = false;
    give(Charged{decided()});
  }
  Answer decided() {
    const Member member{&policy_, &state_};
    return decide({&member, 1}, {.cost = 1}, store_now());
  }
  // As another process sees it, and does to it.
  void reopen_elsewhere() { run(Open{}); }
  std::vector<Ticket> take_released() { return std::exchange(released, {}); }
  std::vector<std::string> take_notes() { return std::exchange(notes, {}); }
  std::optional<Duration> wake_in() const {
    return wake ? std::optional(*wake - now.steady) : std::nullopt;
  }

  Machine machine;
  Time now{SteadyInstant() + Duration::hours(1), Instant() + Duration::days(20'000)};
  bool held = false;  // answers of the store come when the test says answer()
  bool charge_waits = false;
  std::vector<Ticket> released;
  std::map<Ticket, Error> refused;
  std::vector<std::string> notes;
  std::vector<Duration> closed_for;
  std::vector<Duration> others_held_for;
  int charges = 0;
  int urgent_charges = 0;
  int refunds = 0;
  std::optional<SteadyInstant> wake;

 protected:
  virtual void run(const Charge& effect) {
    ++charges;
    urgent_charges += effect.urgent ? 1 : 0;
    charge_waits = true;
    if (!held) answer();
  }
  virtual void run(const Release& effect) { released.push_back(effect.ticket); }
  virtual void run(const Refuse& effect) {
    EXPECT_TRUE(refused.emplace(effect.ticket, effect.error).second);
  }
  virtual void run(const Refund&) {
    ++refunds;
    give_back(policy_, state_, {.cost = 1, .charged = store_now()}, store_now());
  }
  virtual void run(const Close& effect) {
    closed_for.push_back(effect.until - now.wall);
    const Moment until = store_now().moment + (effect.until - now.wall);
    state_.closed_until = std::max(state_.closed_until, until);
  }
  void run(const HoldOthers& effect) { others_held_for.push_back(effect.until - now.wall); }
  // What session_pacer.cc does to the store.
  virtual void run(const Open&) {
    state_ = {};
    const Member member{&policy_, &state_};
    const std::int64_t all = capacity_of(policy_.rule);
    EXPECT_TRUE(decide({&member, 1}, {.cost = all}, store_now()).allowed);
  }
  void run(const WakeAt& effect) {
    EXPECT_GT(effect.at, now.steady);
    wake = effect.at;
  }
  void run(const Note& note) {
    notes.push_back(std::visit([](const auto& kind) { return text(kind); }, note));
  }

 private:
  Effects take(Effects effects) {
    wake.reset();  // the last decide() says when to wake
    return effects;
  }
  limit::Now store_now() const { return {Moment::from_ns(now.steady.ns()), now.wall}; }

  Policy policy_;
  State state_;
  std::vector<Event> events_;
};

inline Settings with_burst(std::int64_t burst) {
  return {.bucket = TokenBucket({.count = 1, .period = second}, burst)};
}

inline Answer answer_of(const Verdict& verdict) {
  Answer answer;
  answer.allowed = verdict.allowed;
  answer.retry_after = verdict.retry_after;
  answer.verdicts.add(verdict);
  return answer;
}

}  // namespace pawl::limit::pacer
