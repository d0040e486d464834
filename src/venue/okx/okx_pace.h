// ReadPace: keeps reading calls under OKX's limits, which it tells in no header.
//
// Why:      a reading that is refused for its pace proves nothing, and a backfill pages through
//           hundreds of lists. Orders are paced elsewhere (runtime/session_pacer.h).
// Contract: pure. take() gives the wait before the call may leave, and counts it for then: no
//           two seconds have more of a kind than its limit. Where a limit is by instrument, it is
//           counted for all of them together. refused(): another program shares the limit; nothing
//           of the kind leaves for two seconds.
// Bounds:   bounds::okx_reads_waiting_max calls of a kind that wait; one more gets nothing.
// Threads:  none; whoever holds it guards it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "pawl/time.h"

namespace pawl::okx {

enum class ReadKind : std::uint8_t {
  order,
  pending,
  history,
  archive,
  fills,
  fills_history,
  positions,
  config,
  time,
};
inline constexpr std::size_t read_kinds = 9;

class ReadPace {
 public:
  std::optional<Duration> take(ReadKind kind, SteadyInstant now);
  void refused(ReadKind kind, SteadyInstant now);

 private:
  struct Lane {
    std::deque<SteadyInstant> leaving;  // the last so many as its limit, and those that wait
    SteadyInstant open_from;
  };
  std::array<Lane, read_kinds> lanes_;
};

}  // namespace pawl::okx
