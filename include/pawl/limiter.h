// Limiter: a token bucket for every key, in this process's memory. No server, no thread, no event
// loop.
//
//   auto limiter = pawl::Limiter::make({.count = 5, .period = pawl::Duration::seconds(1)});
//   if (!limiter) return tell(limiter.error().message);
//   if (pawl::Decision decision = limiter->check("acme"); !decision.allowed) {
//     // not before decision.retry_after has passed
//   }
//
// Contract: a refused ask costs nothing. The pace is never passed: over any stretch of time a key
//           is allowed at most burst + 1 tokens and what the pace earns in it. Steady time counts,
//           so setting the machine's clock changes nothing. Nothing outlives the process: after a
//           restart every bucket is full.
// Bounds:   a million keys. A key whose bucket is full again is forgotten when its room is needed;
//           while none is, further keys share buckets, which refuses too much and never too little.
//           Keys are kept as they are: limit the length of those that strangers choose.
// Threads:  any may call check(). Moving and destroying are for one thread alone.
// Failure:  options out of range are an error of make(). Nothing here throws; a process that is out
//           of memory ends.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "pawl/clock.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl {

// `count` tokens a `period`, one by one, evenly; `burst` may come at once beyond that, so a rested
// key has burst + 1.
struct LimiterOptions {
  std::int64_t count = 1;                  // 1 to 10^9, and no more than one a nanosecond
  Duration period = Duration::seconds(1);  // up to 366 days
  std::int64_t burst = 0;                  // 0 to 10^9, earned within ten years
};

struct [[nodiscard]] Decision {
  bool allowed = false;
  std::int64_t limit = 0;      // tokens a period, as in the options
  std::int64_t remaining = 0;  // asks of cost 1 that would be allowed right now
  Duration retry_after = {};   // until this ask would be allowed; Duration::max(): it never will
};

class Limiter {
 public:
  // Without a clock it is the machine's own. A clock given must outlive the limiter.
  static Result<Limiter> make(const LimiterOptions& options, Clock* clock = nullptr) noexcept;

  Limiter(Limiter&& other) noexcept;
  Limiter& operator=(Limiter&& other) noexcept;
  ~Limiter();

  // Takes `cost` tokens of the key's bucket, or none. A cost of 0 looks without taking. One below 0
  // or above burst + 1 is never allowed.
  Decision check(std::string_view key, std::int64_t cost = 1) noexcept;

 private:
  struct State;
  explicit Limiter(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace pawl
