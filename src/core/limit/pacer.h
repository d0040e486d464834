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
//           queue.
//           Deadlines: nothing is released after its deadline. A ticket whose deadline lies before
//           the earliest instant at which anything may leave is refused at once.
//           Closing: nothing is released before the last instant the server named, also when the
//           store could not be told. Only answers to calls that were paced here may be Heard: the
//           limits of other calls are none of ours.
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
};
struct ChargeFailed {
  Error error;
};
// The store did not take a Close or a Refund.
struct TellingFailed {
  Error error;
};
// The other side answered a call that was released here.
struct Heard {
  std::string operation;
  int status = 0;
  Pushback pushback;
};
struct Ticked {};
using Event = std::variant<Asked, Withdrawn, Charged, ChargeFailed, TellingFailed, Heard, Ticked>;

// What a log is told; the names are those of the log's events (log/pacer_log.h).
struct RateLimitWaiting {  // for the instant the server named
  std::string operation;
  Duration wait;
};
struct RateLimitTokenWait {  // for the pace
  std::string operation;
  Duration wait;
  double tokens_available = 0;
};
struct RateLimitTokenAcquired {
  std::string operation;
  std::int64_t tokens_remaining = 0;
};
struct RateLimitResetScheduled {
  Instant reset_at;
  Duration wait;
};
struct ApproachingRateLimit {  // once, until enough is left again
  std::int64_t remaining = 0;
  std::string operation;
};
struct RateLimitStoreFailed {  // the session's other processes may not know what this one does
  Error error;
};
using Note = std::variant<RateLimitWaiting, RateLimitTokenWait, RateLimitTokenAcquired,
                          RateLimitResetScheduled, ApproachingRateLimit, RateLimitStoreFailed>;

// Effects.
struct Charge {};  // ask the store for one unit
struct Refund {};  // give one unit back to the store
struct Close {     // tell the store, for the other processes
  Instant until;
};
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
using Effect = std::variant<Charge, Refund, Close, Release, Refuse, WakeAt, Note>;
using Effects = std::vector<Effect>;

class Machine {
 public:
  explicit Machine(Settings settings) : settings_(settings) {}

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
  void on(const Ticked& event, Time now, Effects& out);

  void go_on(Time now, Effects& out);
  void refuse_late(Lane& lane, Time now, Effects& out);
  Error late(const Waiting& waiting, Time now) const;
  bool may_give_back(const Verdict& verdict, Duration age) const;
  void tell_wait(Time now, Effects& out);
  void close(Instant until, bool refused, Time now, Effects& out);
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
  std::vector<std::string> warned_;  // dimensions that are near their limit, and told
};

}  // namespace pawl::limit::pacer
