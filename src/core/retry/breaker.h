// Breaker: whether somebody who has failed is asked again.
//
//            failures in a row            wait over
//   closed ───────────────────▶ open ─────────────────▶ half-open: one probe at a time
//      ▲                          ▲                          │
//      │                          └── probe failed ──────────┤ the wait doubles
//      └───────────────────────────── probe answered ────────┘
//
// Why:      while the other side is away, asking costs every caller its deadline, for nothing.
// Contract: pure. Asks that end while it is open decide nothing, however they end. A probe of which
//           nothing is heard for the length of the wait counts as failed: the next caller probes.
//           When it is answered after all, that closes the breaker.
// Threads:  none. One owner.
#pragma once

#include <cstdint>

#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::retry {

struct BreakerRule {
  int failures = 5;  // in a row
  Duration wait_min = Duration::seconds(1);
  Duration wait_max = Duration::seconds(60);
  bool operator==(const BreakerRule&) const = default;
};

// The error says which member is out of range.
Result<void> check(const BreakerRule& rule);

class Breaker {
 public:
  enum class Turn : std::uint8_t { ask, probe, skip };

  // What the next caller is to do. Whoever is told to ask or to probe says how it ended. In the
  // header, with answered(), because every call that succeeds pays for it.
  Turn turn(const BreakerRule& rule, SteadyInstant now) {
    return open_ ? turn_when_open(rule, now) : Turn::ask;
  }
  // True: with this it opened.
  bool failed(const BreakerRule& rule, Turn turn, SteadyInstant now);
  // True: with this it closed.
  bool answered(Turn turn) {
    if (open_ && turn != Turn::probe) return false;
    const bool closes = open_;
    open_ = probing_ = false;
    failures_ = 0;
    return closes;
  }

  bool open() const { return open_; }
  // When the next probe may be made; while it is open.
  SteadyInstant next_probe() const { return next_probe_; }
  bool operator==(const Breaker&) const = default;

 private:
  Turn turn_when_open(const BreakerRule& rule, SteadyInstant now);
  void wait_longer(const BreakerRule& rule);

  int failures_ = 0;
  bool open_ = false;
  bool probing_ = false;
  Duration wait_ = {};
  SteadyInstant next_probe_;
};

}  // namespace pawl::retry
