// Change: one modification or cancel of an order that stands, from the call to its answer.
//
//   Begun ─▶ pacing ─▶ sending ─┬─▶ done: changed | refused | unresolved
//              ▲                └─ anything but a clear answer ─▶ waiting ─┐
//              └───────────────────────────────────────────────────────────┘
//
// Why:      unlike a placement, a cancel and a change to absolute values may be repeated whatever
//           became of the last copy, so nothing has to be durable and nothing is reconciled.
// Contract: pure. decide(event, now) gives the effects to run, in order; ChangeDone is the last.
//           Each attempt has a request id of its own. What may have been applied ends as changed or
//           as unresolved, never as refused. Events that come late do nothing.
// Pace:     cancels, and changes of reduce-only orders, pass the others.
// Threads:  none. One owner.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/order/placement.h"

namespace pawl::order {

enum class ChangeKind : std::uint8_t { modify, cancel };

using ChangeEvent = std::variant<Begun, PaceGranted, PaceRefused, Answered, Woken, Withdrawn>;

struct ChangeDone {
  // refused: the venue's word; unresolved: nobody knows; unavailable: no copy was taken, and none
  // is sent any more. The pacer's refusal as it was, where nothing had been sent.
  Result<void> result;
  int attempts = 0;
  std::string request_id = {};  // of the last one
};
using ChangeEffect = std::variant<AskPace, LeavePace, Send, WakeAt, Keep, Note, ChangeDone>;
using ChangeEffects = std::vector<ChangeEffect>;

class Change {
 public:
  enum class State : std::uint8_t { idle, pacing, sending, waiting, ended };

  // `intent` is the order's. `entropy` is what request ids are made of; new for every machine.
  Change(Intent intent, ChangeKind kind, Settings settings, const Entropy16& entropy);

  ChangeEffects decide(const ChangeEvent& event, Time now);
  State state() const { return state_; }
  bool is_over() const { return state_ == State::ended; }
  // With the number and the request id of the change's last attempt.
  const Intent& intent() const { return intent_; }
  std::string_view operation() const;

 private:
  void on(const Begun&, ChangeEffects& out);
  void on(const PaceGranted&, ChangeEffects& out);
  void on(const PaceRefused& event, ChangeEffects& out);
  void on(const Answered& event, ChangeEffects& out);
  void on(const Woken&, ChangeEffects& out);
  void on(const Withdrawn&, ChangeEffects& out);

  void next_attempt(ChangeEffects& out);
  void stop(Code code, const std::string& why, ChangeEffects& out);
  void end(Result<void> result, ChangeEffects& out);
  void tell(const Answer& answer, const Decision& decision, ChangeEffects& out) const;
  Note note(Told what) const;

  Intent intent_;
  ChangeKind kind_;
  Settings settings_;
  Entropy16 entropy_;
  Time now_;
  State state_ = State::idle;
  bool withdrawn_ = false;
  bool unknown_ = false;  // an attempt may have been applied
  SteadyInstant wake_at_;
};

}  // namespace pawl::order
