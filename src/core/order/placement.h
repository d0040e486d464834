// Placement: one intent from its first byte to a verdict that stands.
//
//   fresh: Begun      ─▶ pacing ─▶ sending ─┬─▶ confirmed | rejected
//                          ▲                ├─ certainly not applied ─▶ waiting ─┐
//                          └── saved ◀──────┼────────────────────────────────────┤
//   found open: TakenOver ─▶ reading ◀──────┴─ unknown                           │
//                              ├─▶ confirmed | rejected | unresolved             │
//                              └─ absence earned ────────────────────────────────┘
//
// Why:      whether an order may leave again is decided in one place, from what is certain.
// Contract: pure. decide(event, now) gives the effects to run, in order. What follows a Save waits
//           for Saved. The first attempt's row is durable before Begun (the store opened it); each
//           later one is saved, with its own request id, before it asks for its pace. A verdict is
//           saved before Finish. After Finish nothing changes any more; events that come late do
//           nothing.
// Unsent:   what ends as rejected is called so when no byte of any attempt left, which only the one
//           who opened it can know: what was taken over, or settled by a person, never is.
// Resend:   only by decision.h: after an attempt that was certainly not applied, or when absence
//           was earned. Withdrawn: not at all.
// Time:     the settle time runs on the steady clock, from the end of the attempt, or from
//           TakenOver: no copy can leave any more then, since who takes over holds the lock that
//           the sender let go of by ending. An attempt of which nobody knows until when it may be
//           taken is given the time that one lasts.
// Saves:    one that fails is repeated after 1 s, 2 s and 4 s. Then the caller hears unresolved,
//           with whatever is known, and the row stays open as it was.
// Withdrawn: whoever asked wants it no longer (a deadline, a drain). Before a byte left it ends as
//           rejected. An attempt under way, or of unknown outcome, is seen through; it is just not
//           followed by another, unless somebody wants it again before the verdict.
// Bounds:   bounds::order_evidence_max lines of evidence.
// Threads:  none. One owner.
// See:      docs/state-machines.md; runtime/order_desk.h drives it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/id.h"
#include "core/audit/event.h"
#include "core/order/decision.h"
#include "core/order/intent.h"
#include "core/order/judge.h"
#include "core/order/note.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::order {

// One reading of both clocks: waits are steady, evidence and ids are the world's.
struct Time {
  SteadyInstant steady;
  Instant wall;
};

// A person's word on an order that nobody else can settle.
struct Resolution {
  enum class As : std::uint8_t { placed, absent };
  As as = As::absent;
  std::string order_id = {};  // of placed
  std::string reason = {};
  std::string who = {};
};
std::string_view to_string(Resolution::As as);
std::optional<Resolution::As> resolution_of(std::string_view name);
// A reason must be given, and for a placed one its id; whom it is about must be open.
Result<void> check(const Resolution& resolution, const Intent& intent);

// Events. The first is Begun, TakenOver or Settled.
struct Begun {};       // the store has just opened it, in this process
struct TakenOver {     // it was found open, and is ours to work on now
  bool resend = true;  // false: somebody only asks what became of it; absent then ends as rejected
};
struct PaceGranted {};
struct PaceRefused {  // nothing was sent
  Error error;
};
struct Saved {};
struct SaveFailed {
  Error error;
};
struct Answered {
  Answer answer;
};
struct ReadDone {
  Reading reading;
};
struct Woken {};      // at, or after, the last WakeAt; too early does nothing
struct Withdrawn {};  // may come at any time
// Somebody asks for it who will wait, after it was withdrawn or taken over for nobody. At any time.
struct WantedAgain {};
struct Settled {  // one that check() accepts
  Resolution resolution;
};
using Event = std::variant<Begun, TakenOver, PaceGranted, PaceRefused, Saved, SaveFailed, Answered,
                           ReadDone, Woken, Withdrawn, WantedAgain, Settled>;

// Effects.
struct AskPace {
  bool urgent = false;  // reduce-only ones pass the others
};
struct LeavePace {};  // it was withdrawn: the ticket is, too
struct Save {
  Progress progress;
};
struct Send {  // one wire attempt; the intent holds the rest
  int attempt = 1;
  std::string request_id;
};
struct ReadVenue {       // all sources, for this intent
  std::string order_id;  // where one is known
};
struct WakeAt {  // stands until there is another; a Woken that nobody waits for does nothing
  SteadyInstant at;
};
struct Finish {       // the last effect of all
  Progress progress;  // what the caller hears
  bool kept = true;   // false: the store did not take it, and has an older one
};
struct Keep {  // for the audit log, before what follows it
  audit::Event event;
};
using Effect = std::variant<AskPace, LeavePace, Save, Send, ReadVenue, WakeAt, Finish, Keep, Note>;
using Effects = std::vector<Effect>;

class Placement {
 public:
  enum class State : std::uint8_t {
    idle,
    pacing,
    sending,       // an attempt is under way
    waiting,       // for the next one
    saving,        //
    save_waiting,  // a save failed, and is repeated
    reading,       //
    resting,       // until the next reading
    ended
  };

  // `entropy` is what the ids of later attempts are made of; new for every machine.
  Placement(Intent intent, Settings settings, const Entropy16& entropy);

  Effects decide(const Event& event, Time now);

  State state() const { return state_; }
  bool is_over() const { return state_ == State::ended; }
  // As it is now, saved or not.
  const Intent& intent() const { return intent_; }
  const Settings& settings() const { return settings_; }

 private:
  // What a save allows, once it is durable.
  enum class Then : std::uint8_t { pace, read, finish };

  void on(const Begun&, Effects& out);
  void on(const TakenOver& event, Effects& out);
  void on(const PaceGranted&, Effects& out);
  void on(const PaceRefused& event, Effects& out);
  void on(const Saved&, Effects& out);
  void on(const SaveFailed& event, Effects& out);
  void on(const Answered& event, Effects& out);
  void on(const ReadDone& event, Effects& out);
  void on(const Woken&, Effects& out);
  void on(const Withdrawn&, Effects& out);
  void on(const WantedAgain&, Effects&) { withdrawn_ = false; }
  void on(const Settled& event, Effects& out);

  void heard(const Answer& answer);
  Read facts_of(const Reading& reading, const Sighting& seen) const;
  void go_on(const Decision& decision, std::string why, Effects& out);
  void ask_pace(std::string_view why, Effects& out);
  void next_attempt(Effects& out);
  void read(Effects& out);
  void wait(Duration delay, State state, Effects& out);
  void end(Status status, std::string reason, Effects& out);
  void save(Then then, Effects& out);
  void finish(Effects& out);
  void tell_read(const Decision& decision, Effects& out) const;
  Note note(Told what, std::string message = {}) const;
  void add(std::string source, std::string says);

  Intent intent_;
  Settings settings_;
  Entropy16 entropy_;
  Time now_;  // of the event that is decided on
  State state_ = State::idle;
  Then then_ = Then::finish;
  int save_failures_ = 0;
  bool withdrawn_ = false;  // or nobody wanted it sent again in the first place
  bool left_ = false;       // a byte of an attempt may have
  SteadyInstant wake_at_;
  SteadyInstant quiet_since_;  // no copy can leave after that
  SteadyInstant read_begun_;
  int readings_ = 0;
  std::optional<SteadyInstant> absent_since_;  // when the first reading that counts began
};

}  // namespace pawl::order
