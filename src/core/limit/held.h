// Held: uses that are remembered one by one and come back one by one. The arithmetic that the
// sliding log and the concurrency limit share.
#pragma once

#include "core/limit/state.h"
#include "core/limit/verdict.h"

namespace pawl::limit {

struct Held {
  const Marks* marks = nullptr;
  Moment now;
  Duration shift;    // from a mark's `at` to when it comes back
  Duration at_most;  // a use made now comes back after this; for a clock that went back, so do all

  // What a limit of `limit` says to an ask of `cost`.
  Verdict look(std::int64_t limit, std::int64_t cost) const;
  std::int64_t used() const;

 private:
  Moment back_at(const Mark& mark) const;
  Duration until_room(std::int64_t limit, std::int64_t n, std::int64_t taken_now) const;
  Duration until_unused(std::int64_t taken_now) const;
};

}  // namespace pawl::limit
