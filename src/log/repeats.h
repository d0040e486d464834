// Repeats: keeps one event in a loop from drowning the log, and counts what it holds back.
//
// Contract: pure; `now` comes in. Of the same (level, event), bounds::log_repeats_a_second_max
//           lines are written within a second from the first; the rest are counted. Every count
//           comes out exactly once: with the first line after that second, from expire(), or from
//           drain().
// Bounds:   names are literals of the code, so there are as many entries as the code has events.
// Threads:  none. One owner.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "log/format.h"
#include "pawl/time.h"

namespace pawl::log {

class Repeats {
 public:
  struct Verdict {
    bool write;
    std::uint64_t repeats_suppressed;  // since the last line that was written; 0 unless write
  };
  struct Suppressed {
    Level level;
    Name event;
    std::uint64_t count;
  };

  Verdict decide(Level level, Name event, SteadyInstant now);
  // The counts whose second is over.
  std::vector<Suppressed> expire(SteadyInstant now);
  // All counts.
  std::vector<Suppressed> drain();

 private:
  struct Entry {
    Name event;
    SteadyInstant since;
    int written = 0;
    std::uint64_t suppressed = 0;
  };

  std::map<std::pair<Level, std::string_view>, Entry> entries_;
};

}  // namespace pawl::log
