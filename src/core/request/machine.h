// The request machine: one guarded request from its arrival to its end.
//
//   idle ─▶ charging ─▶ recording ─▶ sending ─▶ ended
//              │            │           │  └─ failed, and a second copy does no harm ─▶ sending
//              └────────────┴───────────┴─ refused, failed or abandoned ─▶ ended
//
// Why:      whether to pass on, refuse, send again or give up is decided here, without a socket in
//           sight, so every case is a test with a hand-moved clock.
// Contract: pure. decide(event) gives the effects to run, in order; a refusal comes last, since who
//           was told it may come back with the next request. An event that does not belong to the
//           state is a bug of the caller (PAWL_ASSERT), except Abandoned and TimePassed, which may
//           come at any time, and what the store says to somebody who has left.
// Slots:    where one of the policies lends slots, the limits are reserved and not just charged.
//           The loan is renewed while the request is on its way, and settled at its end, whatever
//           that is.
// Costs:    what was charged stays charged, but for a request that pawl itself turns away after it
//           was: one that the audit log would not take.
// Borrows:  what the counts of Arrived point at, until the end and the store's answer.
// See:      docs/state-machines.md.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/http/problem.h"
#include "core/limit/decide.h"
#include "pawl/result.h"

namespace pawl::request {

// Events.
struct Arrived {
  limit::Counts counts;  // what it is counted against
  // Sending it twice changes nothing (GET, HEAD, OPTIONS) and it has no body.
  bool harmless = false;
};
struct Charged {
  limit::Answer answer;
  std::uint64_t reservation = 0;  // when it was to be reserved and was allowed
  Duration retry_after = {};      // what a refused client is told: no less than the answer says
};
struct ChargeFailed {
  Error error;
};
// The audit log has the limit's decision, or would not take it.
struct Recorded {};
struct RecordFailed {
  Error error;
};
struct Answered {
  int status = 0;
};
// The upstream's answer broke off after its head had been passed on.
struct CutOff {
  int status = 0;
};
struct Failed {
  enum class Kind : std::uint8_t { unreachable, timeout, bad_answer };
  Kind kind;
  Outcome outcome;
  bool reused_connection = false;  // and not a byte of an answer came
};
// The client went away, or was told `status` because the rest of its request made no sense.
struct Abandoned {
  bool sent = false;  // something of it had left
  int status = 0;
};
// For the lease of slots, which a long request must renew.
struct TimePassed {
  SteadyInstant now;
};
// It names no tenant that can be believed, and one is asked for.
struct Unnamed {
  std::string_view header;
};
using Event = std::variant<Arrived, Charged, ChargeFailed, Recorded, RecordFailed, Answered, CutOff,
                           Failed, Abandoned, TimePassed, Unnamed>;

// Effects.
struct ChargeLimit {
  limit::Counts counts;
  Duration hold = {};  // to be reserved for that long; zero: charged, and that is all
};
// Machine::answer() is what is to be recorded.
struct RecordLimit {};
struct SendUpstream {};
// The slots are needed for longer.
struct RenewLimit {
  limit::Counts counts;
  std::uint64_t reservation;
  Duration hold;
};
// The slots come back, and what else was charged where it was not used.
struct SettleLimit {
  limit::Counts counts;
  std::uint64_t reservation;
  bool used = true;
};
// What was charged comes back, of those counts that were.
struct RefundLimit {
  limit::Counts counts;
  std::uint8_t charged;  // limit::charged_mask
};
struct Refuse {
  http::ProblemCode code;
  std::string detail;
  std::int64_t retry_after_seconds = 0;                  // 0: no Retry-After
  std::vector<std::string_view> violated_policies = {};  // those that refused
};
// The request is over; `outcome` is what became of it at the upstream.
struct RecordEnd {
  Outcome outcome;
  int status = 0;  // as the client saw it; 0 when there was nobody to see it
};
using Effect = std::variant<ChargeLimit, RecordLimit, SendUpstream, RenewLimit, SettleLimit,
                            RefundLimit, Refuse, RecordEnd>;

class Effects {
 public:
  void add(Effect effect);
  const Effect* begin() const { return items_.data(); }
  const Effect* end() const { return items_.data() + count_; }

 private:
  std::array<Effect, 3> items_;
  std::size_t count_ = 0;
};

class Machine {
 public:
  enum class State : std::uint8_t { idle, charging, recording, sending, ended };

  Effects decide(const Event& event);
  State state() const { return state_; }
  limit::Counts counts() const { return counts_; }
  // What the limits said, for the answer's headers; once they have.
  const limit::Answer& answer() const { return answer_; }
  bool has_answer() const { return has_answer_; }

 private:
  Effects on(const Arrived& event);
  Effects on(const Charged& event);
  Effects on(const ChargeFailed& event);
  Effects on(const Recorded& event);
  Effects on(const RecordFailed& event);
  Effects on(const Answered& event);
  Effects on(const CutOff& event);
  Effects on(const Failed& event);
  Effects on(const Abandoned& event);
  Effects on(const TimePassed& event);
  Effects on(const Unnamed& event);
  Effects end(RecordEnd how);
  Effects end_with(Refuse refusal, Outcome outcome);
  void settle(Effects& effects);

  State state_ = State::idle;
  bool harmless_ = false;
  int sends_ = 0;
  bool may_be_applied_ = false;  // by an earlier send
  limit::Counts counts_;
  bool has_answer_ = false;
  limit::Answer answer_;
  Duration retry_after_;
  // Of slots that were lent: for how long, how often that is renewed, and when next.
  std::uint64_t reservation_ = 0;
  bool used_ = true;  // what was charged
  Duration hold_;
  Duration renew_every_;
  SteadyInstant renew_at_;
};

}  // namespace pawl::request
