// The request machine: one guarded request from its arrival to its end.
//
//   idle ─▶ charging ─▶ recording ─▶ sending ─▶ ended
//              │            │           │  └─ failed, and a second copy does no harm ─▶ sending
//              └────────────┴───────────┴─ refused, failed or abandoned ─▶ ended
//
// Why:      whether to pass on, refuse, send again or give up is decided here, without a socket in
//           sight, so every case is a test with a hand-moved clock.
// Contract: pure. decide(event) gives the effects to run, in order. An event that does not belong
//           to the state is a bug of the caller (PAWL_ASSERT), except Abandoned, which may come at
//           any time.
// See:      docs/state-machines.md.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "core/http/problem.h"
#include "core/limit/gcra.h"
#include "core/limit/policy.h"
#include "pawl/result.h"

namespace pawl::request {

// Events.
struct Arrived {
  const limit::Policy* policy = nullptr;
  std::string_view tenant;
  bool harmless =
      false;  // sending it twice changes nothing (GET, HEAD, OPTIONS) and it has no body
};
struct Charged {
  limit::Verdict verdict;
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
// It names no tenant that can be believed, and one is asked for.
struct Unnamed {
  std::string_view header;
};
using Event = std::variant<Arrived, Charged, ChargeFailed, Recorded, RecordFailed, Answered, CutOff,
                           Failed, Abandoned, Unnamed>;

// Effects.
struct ChargeLimit {
  const limit::Policy* policy;
  std::string_view tenant;
};
struct RecordLimit {
  limit::Verdict verdict;
};
struct SendUpstream {};
struct Refuse {
  http::ProblemCode code;
  std::string detail;
  std::int64_t retry_after_seconds = 0;  // 0: no Retry-After
};
// The request is over; `outcome` is what became of it at the upstream.
struct RecordEnd {
  Outcome outcome;
  int status = 0;  // as the client saw it; 0 when there was nobody to see it
};
using Effect = std::variant<ChargeLimit, RecordLimit, SendUpstream, Refuse, RecordEnd>;

class Effects {
 public:
  void add(Effect effect);
  const Effect* begin() const { return items_.data(); }
  const Effect* end() const { return items_.data() + count_; }

 private:
  std::array<Effect, 2> items_;
  std::size_t count_ = 0;
};

class Machine {
 public:
  enum class State : std::uint8_t { idle, charging, recording, sending, ended };

  Effects decide(const Event& event);
  State state() const { return state_; }
  // The verdict the answer's rate-limit headers tell; set once the limit allowed or refused.
  const limit::Verdict& verdict() const { return verdict_; }
  bool has_verdict() const { return has_verdict_; }
  std::string_view policy_name() const { return policy_name_; }

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
  Effects on(const Unnamed& event);
  Effects end_with(Refuse refusal, Outcome outcome);

  State state_ = State::idle;
  bool harmless_ = false;
  int sends_ = 0;
  bool may_be_applied_ = false;  // by an earlier send
  std::string_view policy_name_;
  bool has_verdict_ = false;
  limit::Verdict verdict_;
};

}  // namespace pawl::request
