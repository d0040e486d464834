// Rush: how many orders were placed within one stretch of time, at the most.
//
// Contract: pure. A stretch is half open: two orders exactly one second apart are in none of a
//           second's length together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pawl/time.h"

namespace pawl::emulator {

struct Rush {
  std::vector<Instant> placed = {};

  std::int64_t most_within(Duration stretch) {
    std::ranges::sort(placed);
    std::size_t most = 0;
    std::size_t first = 0;
    for (std::size_t last = 0; last < placed.size(); ++last) {
      while (placed[first] + stretch <= placed[last]) ++first;
      most = std::max(most, last - first + 1);
    }
    return static_cast<std::int64_t>(most);
  }
};

}  // namespace pawl::emulator
