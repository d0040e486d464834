// The pacer of one session: who of those that want to call out may go, and when.
//
//   Asked ─▶ waiting ─▶ at the head: charged in the store ─▶ Release
//               │              └─ not yet ─▶ waits for the instant the store named
//               └─ too late, lane full, store lost ─▶ Refuse
//
// Why:      a venue allows so many orders a second for a session, whatever the number of processes
//           that use it, and answers the rest with 429. The pace is therefore kept in the counter
//           store, one unit a call, and what the server's headers say closes it for everybody.
// Contract: pure. decide(event, now) gives the effects to run, in order. Every ticket ends once: by
//           Release, by Refuse, or by its own Withdrawn.
//           Order: first come, first served within a lane; urgent ones (cancels, reduce-only) pass
//           all others. Nothing keeps a steady stream of urgent ones from holding the others up;
//           those end at their deadlines. Between processes the store decides, and it keeps no
//           queue; but while an urgent one waits anywhere, the others are held back everywhere
//           (HoldOthers), for a moment beyond the instant at which it may leave.
//           Deadlines: nothing is released after its deadline. A ticket whose deadline lies before
//           the earliest instant at which anything may leave is refused at once.
//           Closing: nothing is released before the last instant the server named, also when the
//           store could not be told; a word of more than `closing_max` is believed for so long.
//           Only answers to calls that were paced here may be Heard: the limits of other calls are
//           none of ours.
//           Reopening: Reopened lifts every closing, here and in the store, and leaves the bucket
//           empty: the store's reset forgets what was used too, and nobody is to pass too soon.
//           Others learn of it from the store, which is asked every bounds::pacer_look_wait while
//           somebody wants to call out. The last bounds::clock_step_max of a closing are waited out
//           unasked: by so much may the store's clock differ from ours. So a store that forgets a
//           closing of more than that reopens it.
//           Charges: one is under way at a time, and belongs to whoever is first when it arrives.
//           One that nobody can use, or that is older than bounds::pacer_charge_age_max, is given
//           back where that lets nobody pass too soon, else it is lost. A store that always takes
//           longer than that lets nobody pass.
//           Time: waits are steady time, so setting the wall clock moves none. They never end
//           early.
// Bounds:   bounds::pacer_waiting_max tickets a lane; limit_readings_max dimensions warned about.
// Threads:  none. One owner.
// See:      docs/state-machines.md; runtime/session_pacer.h drives it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/bounds.h"
#include "core/limit/pushback.h"
#include "core/limit/token_bucket.h"
#include "core/limit/verdict.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::limit::pacer {

using Ticket = std::uint64_t;

// One reading of both clocks: waits and deadlines are steady, what servers name is the world's.
struct Time {
  SteadyInstant steady;
  Instant wall;
};

struct Settings {
  TokenBucket bucket = TokenBucket(Rate{}, 0);  // as the store keeps it
  bool adaptive = true;  // a 429 that names no instant closes for one interval
  Duration closing_max = bounds::pacer_closing_max;
};

// Events.
struct Asked {
  Ticket ticket = 0;  // of no other that waits
  std::string operation;
  bool urgent = false;
  SteadyInstant deadline = SteadyInstant::max();
};
// Whoever asked wants it no longer. May come too late, and then does nothing.
struct Withdrawn {
  Ticket ticket = 0;
};
// What the store said to Charge.
struct Charged {
  Answer answer;
  bool held = false;  // refused because an urgent call of another process goes first
};
struct ChargeFailed {
  Error error;
};
// The store did not take a Close, an Open or a Refund.
struct TellingFailed {
  Error error;
};
// The other side answered a call that was released here.
struct Heard {
  std::string operation;
  int status = 0;
  Pushback pushback;
};
// Somebody who knows better than the server's last word says: go on.
struct Reopened {};
struct Ticked {};
using Event =
    std::variant<Asked, Withdrawn, Charged, ChargeFailed, TellingFailed, Heard, Reopened, Ticked>;

// What a log is told; the names are those of the log's events (log/pacer_log.h). Those that are
// decisions go to the audit log as well (pacer_record.h). They come before what they are about.
struct RateLimitWaiting {  // for the instant the server named
  std::string operation = {};
  Duration wait = {};
  Ticket ticket = 0;
};
struct RateLimitTokenWait {  // for the pace
  std::string operation = {};
  Duration wait = {};
  double tokens_available = 0;
  Ticket ticket = 0;
};
struct RateLimitTokenAcquired {
  std::string operation = {};
  std::int64_t tokens_remaining = 0;
  Ticket ticket = 0;
};
struct RateLimitNotSent {
  std::string operation = {};
  Error error;
  Ticket ticket = 0;
};
struct RateLimitRefused {  // by the server: a 429; or a 503 that says something of limits
  std::string operation = {};
  int status = 0;
  Pushback pushback = {};
};
struct RateLimitResetScheduled {
  enum class Word : std::uint8_t { none, retry_after, reset };
  Instant reset_at = {};
  Duration wait = {};
  std::string operation = {};         // whose answer closed it
  int status = 0;                     // of that answer
  Word word = Word::none;             // none: a refusal that named no instant
  Reading reading = {};               // whose reset it is
  std::optional<Instant> named = {};  // what the server said, where it is believed for less
};
struct RateLimitReopened {
  bool elsewhere = false;  // the store is open, so another process has done it
  Duration wait = {};      // until the first may leave
};
struct ApproachingRateLimit {  // once, until enough is left again
  Reading reading = {};
  std::string operation = {};
};
struct RateLimitHeadersIgnored {  // once an answer: what of its headers made no sense
  std::string operation = {};
  int ignored = 0;
  std::uint64_t total = 0;  // of all answers so far
};
struct RateLimitStoreFailed {  // the session's other processes may not know what this one does
  Error error;
};
struct RateLimitUnrecorded {  // the audit log did not take a decision
  Error error;
};
using Note =
    std::variant<RateLimitWaiting, RateLimitTokenWait, RateLimitTokenAcquired, RateLimitNotSent,
                 RateLimitRefused, RateLimitResetScheduled, RateLimitReopened, ApproachingRateLimit,
                 RateLimitHeadersIgnored, RateLimitStoreFailed, RateLimitUnrecorded>;

// Effects.
struct Charge {         // ask the store for one unit
  bool urgent = false;  // passes those who are held back
};
struct Refund {};  // give one unit back to the store
struct Close {     // tell the store, for the other processes
  Instant until;
};
struct HoldOthers {  // tell the store: until then only urgent calls may leave
  Instant until;
};
struct Open {};  // lift every closing in the store, and leave its bucket empty
struct Release {
  Ticket ticket = 0;
};
struct Refuse {
  Ticket ticket = 0;
  Error error;
};
// Ticked must come then, not before. That of the last decide() holds; none: nothing waits for time.
struct WakeAt {
  SteadyInstant at;
};
using Effect = std::variant<Charge, Refund, Close, HoldOthers, Open, Release, Refuse, WakeAt, Note>;
using Effects = std::vector<Effect>;

class Machine {
 public:
  // No closing is believed for longer than stores keep one.
  explicit Machine(Settings settings) : settings_(settings) {
    settings_.closing_max = std::min(settings.closing_max, bounds::limit_period_max);
  }

  Effects decide(const Event& event, Time now);
  std::size_t waiting() const { return urgent_.size() + normal_.size(); }

 private:
  struct Waiting {
    Ticket ticket;
    std::string operation;
    SteadyInstant deadline;
    bool told_closed = false;
    bool told_pace = false;
  };
  using Lane = std::deque<Waiting>;

  void on(const Asked& event, Time now, Effects& out);
  void on(const Withdrawn& event, Time now, Effects& out);
  void on(const Charged& event, Time now, Effects& out);
  void on(const ChargeFailed& event, Time now, Effects& out);
  void on(const TellingFailed& event, Time now, Effects& out);
  void on(const Heard& event, Time now, Effects& out);
  void on(const Reopened& event, Time now, Effects& out);
  void on(const Ticked& event, Time now, Effects& out);

  void go_on(Time now, Effects& out);
  void refuse_late(Lane& lane, Time now, Effects& out);
  Error late(const Waiting& waiting, Time now) const;
  bool may_give_back(const Verdict& verdict, Duration age) const;
  void tell_wait(Time now, Effects& out);
  void hold_others(Time now, Effects& out);
  void close(Instant named, const Heard& heard, Time now, Effects& out);
  void found_open(Time now, Effects& out);
  std::optional<SteadyInstant> look_at(Time now) const;
  bool is_look_due(Time now) const { return look_at(now) == now.steady; }
  void warn_when_near(const Heard& event, Effects& out);

  Lane& first_lane() { return urgent_.empty() ? normal_ : urgent_; }
  bool holds(Ticket ticket) const;
  SteadyInstant earliest() const { return std::max(closed_until_, paced_until_); }
  // It is a server's word that is waited for, heard here or in another process, and not the pace.
  bool is_closed() const { return closed_until_ >= paced_until_ || closed_elsewhere_; }

  Settings settings_;
  Lane urgent_;
  Lane normal_;
  std::optional<SteadyInstant> charging_since_;
  SteadyInstant closed_until_;       // as a server said to us
  SteadyInstant paced_until_;        // as the store said last
  bool closed_elsewhere_ = false;    // and not because of the pace
  bool store_knows_ = true;          // of closed_until_
  SteadyInstant look_after_;         // before that nobody looks whether it was reopened
  bool looking_ = false;             // the charge under way does
  bool charge_is_stale_ = false;     // it was asked for before a Reopened
  SteadyInstant held_for_;           // the instant that others were held back for last
  std::uint64_t ignored_ = 0;        // lines of headers
  std::vector<std::string> warned_;  // dimensions that are near their limit, and told
};

}  // namespace pawl::limit::pacer
