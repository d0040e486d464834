// The request machine: one guarded request from its arrival to its end.
//
//   idle ─▶ charging ─▶ recording ─▶ sending ─▶ ended
//              │            │           │  └─ failed, and a second copy does no harm ─▶ sending
//              └────────────┴───────────┴─ refused, failed or abandoned ─▶ ended
//
// A write with an idempotency key:
//
//   idle ─▶ gathering ─▶ looking ─▶ charging ─▶ recording ─▶ claiming ─▶ sending ─▶ completing
//                         │  ▲                                │  │         ▲        │  │
//                         │  └── waiting ◀── somebody else ───┘  │         └────────┘  ▼
//                         └─── replayed, mismatch, unknown ──────┴──▶ ended ◀──────────┘
//
// Why:      whether to pass on, refuse, replay, send again or give up is decided here, without a
//           socket in sight, so every case is a test with a hand-moved clock.
// Contract: pure. decide(event) gives the effects to run, in order; what the client is told comes
//           last, since who was told it may come back with the next request. An event that does not
//           belong to the state is a bug of the caller (PAWL_ASSERT), except Abandoned, Overdue and
//           TimePassed, which may come at any time, and what a store says to somebody who has left
//           or no longer waits.
// Writes:   the replay is looked for before the limits are charged, and the claim comes after them:
//           a replay costs nothing, and a refusal burns no key. The claim is durable before a byte
//           leaves, and how it ended is on record before the client hears of it. A client that
//           leaves does not stop a write that has begun: its answer is kept for the retry.
//           A store that does not answer is passed over, or the write refused, as the rules say.
// Slots:    where one of the policies lends slots, the limits are reserved and not just charged.
//           The loan is renewed while the request is on its way, and settled at its end, whatever
//           that is.
// Costs:    what was charged stays charged, but for a request that pawl itself turns away after it
//           was: one that the audit log would not take, or whose key somebody else got first.
// Borrows:  what counts and rules of Arrived point at, until the end and the store's answer.
// See:      docs/state-machines.md.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/bounds.h"
#include "core/http/problem.h"
#include "core/idempotency/record.h"
#include "core/limit/decide.h"
#include "core/request/write.h"
#include "pawl/result.h"

namespace pawl::request {

// Events.
struct Arrived {
  limit::Counts counts;  // what it is counted against
  // Sending it twice changes nothing (GET, HEAD, OPTIONS) and it has no body.
  bool harmless = false;
  const WriteRules* write = nullptr;  // of a write with a key; its whole body is gathered first
};
// The whole body is there.
struct Gathered {
  std::string fingerprint;
  std::string credentials = {};  // of a client that is known by its address alone
};
// More of it came than may be held.
struct TooLarge {
  std::size_t bytes_max = 0;
};
// What the record of the key says; `ask` is that of the effect.
struct LookedUp {
  std::uint64_t ask = 0;
  Result<std::optional<idempotency::Record>> found;
};
struct Claimed {
  std::uint64_t ask = 0;
  Result<idempotency::Begun> begun;
};
struct Written {
  std::uint64_t ask = 0;
  Result<void> recorded;
};
// The time of that ask is over.
struct Overdue {
  std::uint64_t ask = 0;
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
  idempotency::Response kept = {};  // of one that is held back for the record
};
// The answer to a write is larger than what is kept, or has no end: it is to be passed on as it
// comes.
struct Overflowed {
  int status = 0;
  std::string metadata;
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
// It names no tenant that can be believed, and one is asked for; or it comes with an API key that
// nobody has.
struct Unnamed {
  std::string_view header;  // empty: the key
};
// It has no key where it must, or none that can be read.
struct BadKey {
  KeyFound::Kind kind{};
  std::string_view header;
};
// There is more to do than can be done.
struct Overloaded {};
// It asks for a protocol that is not passed on.
struct UpgradeRefused {};
using Event =
    std::variant<Arrived, Gathered, TooLarge, LookedUp, Claimed, Written, Overdue, Charged,
                 ChargeFailed, Recorded, RecordFailed, Answered, Overflowed, CutOff, Failed,
                 Abandoned, TimePassed, Unnamed, BadKey, Overloaded, UpgradeRefused>;

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
  std::string detail = {};               // empty: the limits have the words
  std::int64_t retry_after_seconds = 0;  // 0: no Retry-After
  int status = 0;                        // in place of the code's own
};
// Asks of the record store. Each is given up when `deadline` has passed: Overdue.
struct LookUp {
  std::uint64_t ask;
  std::string fingerprint;
  Duration deadline;
};
struct Claim {
  std::uint64_t ask;
  idempotency::Begin begin;
  Duration deadline;
  bool here_alone;  // the store does not answer: no two of this process at once is what is left
};
struct RecordWrite {
  std::uint64_t ask;
  std::uint64_t fence;
  idempotency::Completion how;
  Duration deadline;
};
// How it ended, for a claim that the store has not answered: it may have taken it.
struct LeaveClaim {
  idempotency::Completion how;
};
struct RenewClaim {
  std::uint64_t fence;
  Duration lease;
};
// Somebody else has the key: Overdue after `wait`, or when that one is known to have ended.
struct WaitForOther {
  std::uint64_t ask;
  Duration wait;
};
struct NoteWrite {
  WriteEvent what;
  std::string detail = {};
  bool of_this_one = false;  // how this very write ended, and not one that had the key before
};
// The answer that was held back goes to the client.
struct Deliver {};
// The client gets the answer of the first time.
struct Replay {
  ReplayedHead head;
  std::string body;
};
// The request is over; `outcome` is what became of it at the upstream.
struct RecordEnd {
  Outcome outcome;
  int status = 0;  // as the client saw it; 0 when there was nobody to see it
};
using Effect = std::variant<ChargeLimit, RecordLimit, SendUpstream, RenewLimit, SettleLimit,
                            RefundLimit, Refuse, RecordEnd, LookUp, Claim, RecordWrite, LeaveClaim,
                            RenewClaim, WaitForOther, NoteWrite, Deliver, Replay>;

class Effects {
 public:
  Effects() {}  // the places stay as they are: most events have one effect
  Effects(Effects&& other) noexcept { *this = std::move(other); }
  Effects& operator=(Effects&& other) noexcept {
    clear();
    for (std::size_t i = 0; i < other.count_; ++i) add(std::move(other.items_[i]));
    return *this;
  }
  ~Effects() { clear(); }

  void add(Effect effect);
  const Effect* begin() const { return items_.data(); }
  const Effect* end() const { return items_.data() + count_; }

 private:
  void clear() { std::destroy_n(items_.data(), std::exchange(count_, 0)); }

  union {
    std::array<Effect, 5> items_;
  };
  std::size_t count_ = 0;
};

// The names of the policies that refused.
class Refusers {
 public:
  void add(std::string_view name) { names_[count_++] = name; }
  std::span<const std::string_view> all() const { return {names_.data(), count_}; }

 private:
  std::array<std::string_view, bounds::limit_policies_max> names_;
  std::size_t count_ = 0;
};

class Machine {
 public:
  enum class State : std::uint8_t {
    idle,
    gathering,
    looking,
    waiting,
    charging,
    recording,
    claiming,
    sending,
    completing,
    ended
  };

  Effects decide(const Event& event);
  State state() const { return state_; }
  limit::Counts counts() const { return counts_; }
  // What the limits said, for the answer's headers; once they have.
  const limit::Answer& answer() const { return answer_; }
  bool has_answer() const { return has_answer_; }
  // What a client is told of a refusal, and who is behind it if the limits are. They are put into
  // words where they are needed, so that a refusal asks for no memory.
  void append_words(std::string& out, const Refuse& refusal) const;
  Refusers refusers() const;
  // Its answer is held back until it is on record.
  bool holds_answer() const { return fence_ != 0; }
  // Something of it may have left.
  bool sent() const { return sends_ > 0; }

 private:
  Effects on(const Arrived& event);
  Effects on(const Gathered& event);
  Effects on(const TooLarge& event);
  Effects on(const LookedUp& event);
  Effects on(const Claimed& event);
  Effects on(const Written& event);
  Effects on(const Overdue& event);
  Effects on(const Charged& event);
  Effects on(const ChargeFailed& event);
  Effects on(const Recorded& event);
  Effects on(const RecordFailed& event);
  Effects on(const Answered& event);
  Effects on(const Overflowed& event);
  Effects on(const CutOff& event);
  Effects on(const Failed& event);
  Effects on(const Abandoned& event);
  Effects on(const TimePassed& event);
  Effects on(const Unnamed& event);
  Effects on(const BadKey& event);
  Effects on(const Overloaded& event);
  Effects on(const UpgradeRefused& event);

  Effects look_up();
  Effects charge();
  Effects claim();
  Effects send();
  Effects found(const idempotency::Record& record);
  Effects done_before(const idempotency::Response& kept);
  Effects held_by_other();
  Effects store_failed(const std::string& why);
  Effects complete(idempotency::Completion how, std::string why);
  void leave_claim(Effects& effects, const RecordEnd& how);
  Effects completed(NoteWrite note);
  Effects end(RecordEnd how);
  Effects end_with(Refuse refusal, Outcome outcome);
  Effects end_write(WriteEvent what, Refuse refusal);
  void settle(Effects& effects);

  State state_ = State::idle;
  bool harmless_ = false;
  bool client_gone_ = false;
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
  // Of a write with a key.
  const WriteRules* rules_ = nullptr;
  bool unprotected_ = false;  // the store does not answer, and the rules say to go on
  std::string fingerprint_;
  std::string credentials_;
  std::uint64_t ask_ = 0;        // the latest
  bool claim_may_come_ = false;  // it was asked for, and not waited for
  std::uint64_t fence_ = 0;      // of the claim; 0: none, or how it ended is on record
  SteadyInstant renew_claim_at_;
  Duration waited_;
  bool streams_on_ = false;             // once it is on record
  NoteWrite ended_as_{};                // what is noted when it is
  RecordEnd end_{Outcome::unknown};     // how it ends then,
  std::optional<Refuse> refusal_ = {};  // with this in place of an answer
};

}  // namespace pawl::request
