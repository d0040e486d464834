// Windows: how many calls a venue takes in a time, of every key apart.
//
// Why:      written anew instead of using core/limit: what tests pawl's limits must not be them.
// Contract: pure, exact: it keeps the moment of every call it took. Calls that are refused do not
//           count. When the clock goes back, what lies in the future is forgotten.
// Bounds:   as many moments a key as its limit; keys are forgotten when their moments are past.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>

#include "pawl/time.h"

namespace pawl::emulator {

class Windows {
 public:
  struct State {
    std::size_t limit = 0;
    std::size_t remaining = 0;
    Duration reset = {};  // until one more is taken, or zero when nothing was
  };

  Windows(std::size_t limit, Duration span) : limit_(limit), span_(span) {}

  // Takes `cost` or nothing.
  bool take(std::string_view key, Instant now, std::size_t cost = 1);
  State look(std::string_view key, Instant now);
  std::size_t limit() const { return limit_; }
  void forget() { taken_.clear(); }

 private:
  std::deque<Instant>& current(std::string_view key, Instant now);

  std::size_t limit_;
  Duration span_;
  std::map<std::string, std::deque<Instant>, std::less<>> taken_;
};

}  // namespace pawl::emulator
