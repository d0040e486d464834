// RetryHints: the turns that were given to refused callers (core/limit/hints.h), for all keys.
//
// Contract: wait() is never shorter than what the answer says. Keys share a fixed number of places;
//           one that finds another's mark there begins its turns anew, so a caller that is refused
//           all the time does not put off the callers of other keys.
// Bounds:   bounds::limit_hints_max places, 32 KiB.
// Threads:  any; no locks.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/bounds.h"
#include "core/limit/decide.h"

namespace pawl {

class RetryHints {
 public:
  // The wait to tell the caller whose ask against `counts` was refused with `answer`.
  Duration wait(limit::Counts counts, const limit::Answer& answer);

 private:
  // A moment in units of 1024 ns, rounded up, with the key's mark in the bits that frees.
  std::array<std::atomic<std::int64_t>, bounds::limit_hints_max> places_ = {};
};

}  // namespace pawl
