// WriteStats: what became of writes with a key since the start, and the latest of those that were
// answered without being executed. For people who look for the reason of an answer.
//
// Bounds:  bounds::write_hits_max hits are remembered, the oldest go.
// Threads: any.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "core/request/write.h"
#include "pawl/time.h"

namespace pawl {

class WriteStats {
 public:
  using What = request::WriteEvent;

  struct Hit {
    Instant at;
    What what{};
    std::string tenant;
    std::string operation;  // "POST /orders"
    std::string key;        // as the client gave it
  };

  // Executed ones are counted; the others are remembered as well.
  void note(Hit hit);
  std::uint64_t count(What what) const;
  // The newest first.
  std::vector<Hit> recent(std::size_t limit) const;

 private:
  mutable std::mutex mutex_;
  std::array<std::uint64_t, request::write_events> counts_ = {};
  std::deque<Hit> hits_;
};

}  // namespace pawl
