// Gate: what may be claimed of one scope: the queue, a type or a key.
//
// Why:      a closing, a rate and a number at once are the same question to whoever claims: may I
//           now, and if not, when is it worth another look?
// Contract: time comes in and never goes back between two changes.
//           Closed:  nothing before `until`; then what waits is let go evenly over the spread, so
//                    that they do not meet again at the door that was shut. What comes meanwhile
//                    shares what is left of the spread, and once nothing waits it is over.
//           Rate:    in no window of the period more claims than the rate. A tenth of them may come
//                    at once, since claims come by the segment; the pace is slower by so much.
//           Running: as many at once.
//           A gate that has rested is as one that was never used.
// Threads:  one at a time.
#pragma once

#include <cstdint>
#include <optional>

#include "base/wire.h"
#include "core/limit/token_bucket.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::queue {

struct GateLimit {
  std::uint32_t rate = 0;  // 0: any
  Duration period = {};
  std::uint32_t running = 0;  // 0: any
};
Result<void> check(const GateLimit& limit);

// How long it takes to let go what waited.
struct Spread {
  Duration length = {};
  Duration step_max = {};  // for each that waits no longer than this; zero: as long as it takes
};

class Gate {
 public:
  enum class Barrier : std::uint8_t { none, closed, rate, running };
  struct Look {
    Barrier barrier = Barrier::none;
    Instant until = Instant::max();  // no sooner; of `running`: until one ends
    bool open() const { return barrier == Barrier::none; }
  };

  void set_limit(const GateLimit& limit);  // one that check() accepts
  void close(Instant until, const Spread& spread);
  void open();
  // The time of closing has passed with so many waiting.
  void let_go(std::uint64_t waiting);

  // `running`: how many do; `due`: how many wait.
  Look look(Instant now, std::uint64_t running) const;
  std::uint64_t room(Instant now, std::uint64_t running, std::uint64_t due) const;
  // `left`: how many still wait. True when it opened altogether by this, before its time.
  bool take(Instant now, std::uint64_t left);

  Instant closed_until() const { return closed_until_; }
  bool counts_running() const { return running_max_ > 0; }
  // From then on it is as if never used, but for its limit.
  Instant rests_at() const;

  // Without the limit, and without what has come to rest: so a gate that was made anew since has
  // the same bytes.
  void save(ByteWriter& out, Instant now) const;
  void load(ByteReader& in, Instant now);

 private:
  struct Ramp {         // after a closing, until its end
    Instant next = {};  // when another one may go; it lies back when nobody came for some
    Instant end = {};
  };
  std::uint64_t let_through(Instant now, std::uint64_t due) const;

  std::optional<limit::TokenBucket> bucket_;
  limit::Cell cell_;
  std::uint32_t running_max_ = 0;
  Instant closed_until_;
  Spread spread_;
  Ramp ramp_;
};

}  // namespace pawl::queue
