// Limiter: a limit for every key, in this process's memory. No server, and no event loop.
//
//   auto limiter = pawl::Limiter::make({.count = 5, .period = pawl::Duration::seconds(1)});
//   if (!limiter) return tell(limiter.error().message);
//   if (pawl::Decision decision = limiter->check("acme"); !decision.allowed) {
//     // not before decision.retry_after has passed
//   }
//   limiter->acquire("acme", {.within = pawl::Duration::seconds(2)});  // waits for its turn
//
// Contract: a refused ask costs nothing. The pace is never passed: see Algorithm for what each
//           promises. Steady time counts, so setting the machine's clock changes nothing. Nothing
//           outlives the process: after a restart every key is as good as new.
// Bounds:   a million keys at 64 bytes each, taken as they are used. A key with nothing in use is
//           forgotten when its room is needed; while none is, further keys share a few, which
//           refuses too much and never too little. Keys are kept as 128 bits of hash, seeded anew
//           in each process.
// Threads:  any may call all of it. Moving and destroying are for one thread alone.
// Failure:  options out of range are an error of make(). Nothing here throws; a process that is out
//           of memory ends.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "pawl/clock.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl {

enum class Algorithm : std::uint8_t {
  token_bucket,    // one by one, evenly; over any time d at most burst + 1 + what d earns
  sliding_window,  // two counters: at most `count` in a window of the grid, below twice in any
  sliding_log,     // exact: at most `count` in any stretch of `period`; up to 10'000
};

struct LimiterOptions {
  std::int64_t count = 1;                  // 1 to 10^9, and no more than one a nanosecond
  Duration period = Duration::seconds(1);  // up to 366 days
  std::int64_t burst = 0;                  // token_bucket: 0 to 10^9, earned within ten years; it
                                           // may come at once beyond the even pace
  Algorithm algorithm = Algorithm::token_bucket;
};

// A key as 128 bits that its owner made of it, spread as a hash is: quicker than a name, and a kind
// of its own.
struct KeyId {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
};

struct [[nodiscard]] Decision {
  bool allowed = false;
  std::int64_t limit = 0;      // as in the options
  std::int64_t remaining = 0;  // asks of cost 1 that would be allowed right now
  Duration retry_after = {};   // until this ask would be allowed; Duration::max(): it never will
};

// How acquire() asks.
struct Acquire {
  std::int64_t cost = 1;
  Duration within =
      Duration::seconds(60);  // an ask that cannot be served in time is refused at once
};

class Limiter {
 public:
  // Without a clock it is the machine's own. A clock given must outlive the limiter.
  static Result<Limiter> make(const LimiterOptions& options, Clock* clock = nullptr) noexcept;

  Limiter(Limiter&& other) noexcept;
  Limiter& operator=(Limiter&& other) noexcept;
  // What still waits in acquire() is refused.
  ~Limiter();

  // Takes `cost`, or nothing. A cost of 0 looks without taking. One below 0, above 10^9 or above
  // what a rested key has is never allowed.
  Decision check(std::string_view key, std::int64_t cost = 1) noexcept;
  Decision check(KeyId key, std::int64_t cost = 1) noexcept;

  // Waits on this thread until it is allowed; or calls `done` once it is, here when it is at once,
  // else on a thread of the limiter's, which must not be kept. Who waits sleeps by the machine's
  // clock until it may be allowed, and asks again. Refused (Code::refused) when `within` cannot be
  // kept.
  Result<Decision> acquire(std::string_view key, const Acquire& how = {}) noexcept;
  Result<Decision> acquire(KeyId key, const Acquire& how = {}) noexcept;
  using Done = std::move_only_function<void(Result<Decision>)>;
  void acquire(std::string_view key, const Acquire& how, Done done) noexcept;
  void acquire(KeyId key, const Acquire& how, Done done) noexcept;

  // Why it was decided so, in words.
  std::string why(const Decision& decision) const;

 private:
  struct State;
  explicit Limiter(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace pawl
