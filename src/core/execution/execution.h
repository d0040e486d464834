// Execution: one operation from the call to its answer: claimed under its key, attempted, recorded.
//
//   idle ─▶ claiming ─▶ attempting ─▶ recording ─▶ ended
//     │       │  ▲ │        ▲  │          │  ▲ ▲     ▲
//     │       ▼  │ └────────┼──┼──────────┼──┼─┼─────┤ replay, mismatch, somebody else has it
//     │      waiting        │  │          ▼  │ │     │
//     └─ no key ────────────┘  │       settling┼─────┘ the store does not take the result
//                              └─▶ lying down ─┘ a long wait: written, then the key let go
//
//   After a sleep: idle ─▶ letting go ─▶ claiming, where the key may still be held by who slept.
//
// Why:      retries and keys decide together: only who has the claim may act, an attempt of unknown
//           outcome leaves a record that says so, and a result is on record before anybody hears of
//           it. Without a key there is nothing to claim and nothing to record.
// Contract: pure. decide(event) gives the effects to run, in order. Events that do not belong to
//           the state are a bug of the caller (PAWL_ASSERT), but for those that may come late:
//           Cancelled and Woken at any time, and everything once it has ended.
// Taken over: from somebody who may have acted. Then the outcome is found out first, unless a
//           second copy does no harm; where neither can be, the key is told `unresolved` and
//           nothing sent.
// Cancelled: while attempts are made. A claim is not given back half-way: what becomes of it is
//           recorded, so a claim under way is waited for, and then given back: as failed, or as
//           unknown when it was taken over. A result is put on record all the same, unless nobody
//           can wait any more (`closing`).
// Sleep:    a wait of sleep_from or more is written down first (SleepFor, answered by Slept), then
//           the key is let go: as failed, since nothing was applied, or as unknown. So whoever dies
//           in between leaves something that goes on. Whoever goes on names the fence of the claim
//           under which it lay down, and lets go of that first: who slept may have died before.
//           Then it claims the key like anybody else, and finds what others did meanwhile.
// Unknown:  is kept for a year, whatever the ttl: to be used again by mistake is what it is to
//           prevent.
// See:      core/retry/attempts.h, core/idempotency/record.h; docs/state-machines.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "core/audit/retry_event.h"
#include "core/idempotency/record.h"
#include "core/retry/attempts.h"

namespace pawl::execution {

enum class OnInFlight : std::uint8_t { conflict, wait };
enum class OnStoreFailure : std::uint8_t { reject, execute };

struct Setup {
  retry::Setup attempts = {};
  bool has_key = false;
  std::string fingerprint = {};
  Duration lease = Duration::seconds(60);
  Duration ttl = Duration::hours(24);
  OnInFlight on_in_flight = OnInFlight::conflict;
  Duration wait_max = Duration::seconds(60);  // for somebody else who has the key
  OnStoreFailure on_store_failure = OnStoreFailure::reject;
  std::optional<retry::Resumed> resumed = {};  // it goes on after a durable sleep
  std::uint64_t slept_fence = 0;               // of the claim it slept under; 0: none
};

// Events, besides those of the attempts.
struct Start {
  SteadyInstant now;
  bool breaker_open = false;
  Duration probe_in = {};  // of an open breaker, as in retry::Begin
};
struct Claimed {
  SteadyInstant now;
  Result<idempotency::Begun> begun;
  bool breaker_open = false;
  Duration probe_in = {};
};
// An attempt, or a reconciliation, ended. When the effect was applied, with this result.
struct Attempted {
  retry::Ended ended;
  idempotency::Response response = {};
};
struct Found {
  retry::Reconciled reconciled;
  idempotency::Response response = {};
};
struct Recorded {
  SteadyInstant now;
  Result<void> recorded;
};
// What SleepFor asked for is durable; or it is not, or nobody knows.
struct Slept {
  SteadyInstant now;
  Result<void> written;
};
struct Cancelled {
  SteadyInstant now;
  bool closing = false;  // there will be no time any more: what it waits for does not come
};
using Event = std::variant<Start, Claimed, Attempted, retry::BudgetAnswered, retry::Woken, Found,
                           Recorded, Slept, Cancelled>;

// Effects.
struct Claim {
  idempotency::Begin ask;
};
struct Record {
  std::uint64_t fence = 0;
  idempotency::Completion how;
};
struct NoteKey {
  audit::IdempotencyAction action;
};
// Attempts::facts() and decision() are to be recorded, before what follows is run.
struct NoteDecision {};
struct Answer {
  enum class How : std::uint8_t {
    done,          // by an attempt, or found by reconciliation: `response`
    replayed,      // before: `response`
    gave_up,       // `reason`
    unresolved,    // nobody knows; `reason`, or the key's record says so
    cancelled,     //
    in_flight,     // somebody else has the key; ask again after `retry_after`
    mismatch,      // the key was used for something else
    no_store,      // the key could not be claimed
    not_recorded,  // the store did not take how it ended
    stale,         // somebody else took the key over meanwhile
    asleep,        // nothing has ended: it goes on after `sleep`
    not_slept,     // what was to go on later could not be written
  };
  How how;
  Outcome outcome;
  retry::Reason reason = retry::Reason::succeeded;
  Duration retry_after = {};
  idempotency::Response response = {};
  std::optional<Error> store_said = {};  // of no_store, not_recorded and not_slept
  Duration sleep = {};                   // of asleep and not_slept
};
using Effect =
    std::variant<Claim, retry::Send, retry::SpendBudget, retry::WaitUntil, retry::SleepFor,
                 retry::Reconcile, Record, NoteKey, NoteDecision, Answer>;

class Effects {
 public:
  void add(Effect effect) { items_[count_++] = std::move(effect); }
  const Effect* begin() const { return items_.data(); }
  const Effect* end() const { return items_.data() + count_; }

 private:
  std::array<Effect, 3> items_;
  std::size_t count_ = 0;
};

class Execution {
 public:
  enum class State : std::uint8_t {
    idle,
    claiming,
    waiting,
    attempting,
    recording,
    settling,
    lying_down,
    letting_go,
    ended
  };

  explicit Execution(Setup setup)
      : setup_(std::move(setup)),
        attempts_(setup_.resumed ? retry::Attempts(setup_.attempts, *setup_.resumed)
                                 : retry::Attempts(setup_.attempts)) {}

  Effects decide(const Event& event);

  State state() const { return state_; }
  const retry::Attempts& attempts() const { return attempts_; }
  // Of the claim; 0: there is none. While attempting, the shell renews it in time.
  std::uint64_t fence() const { return fence_; }

 private:
  Effects on(const Start& event);
  Effects on(const Claimed& event);
  Effects on(const Attempted& event);
  Effects on(const retry::BudgetAnswered& event);
  Effects on(const retry::Woken& event);
  Effects on(const Found& event);
  Effects on(const Recorded& event);
  Effects on(const Slept& event);
  Effects on(const Cancelled& event);

  Effects claimed(const idempotency::Begun& begun, const Claimed& event);
  Effects claim();
  Effects wait_for_other(SteadyInstant now, Duration retry_after);
  SteadyInstant wait_until() const;
  Effects begin(const Start& event, bool taken_over);
  Effects let_go();
  Effects lie_down(Duration delay);
  Effects attempt(const retry::Event& event);
  Effects finish(const retry::Decision& decision);
  Effects record(idempotency::Status status);
  void complete(idempotency::Status status, retry::Reason why);
  bool lies_down() const;
  Effects have_let_go(const Recorded& event);
  Effects not_taken(const Recorded& event);
  Effects not_recorded(std::optional<Error> why);
  Effects answer(Answer answer);

  Setup setup_;
  State state_ = State::idle;
  retry::Attempts attempts_;
  std::uint64_t fence_ = 0;
  bool cancelled_ = false;
  bool closing_ = false;
  idempotency::Response response_;
  idempotency::Completion completion_;
  Answer answer_{.how = Answer::How::gave_up, .outcome = Outcome::not_applied};
  SteadyInstant started_;
  SteadyInstant wait_over_;
  Duration wait_ = {};  // the last one: for somebody else, or for the store
  std::optional<SteadyInstant> store_away_since_ = {};  // while it is to take the result
};

}  // namespace pawl::execution
