// What of a log may be deleted.
//
// Contract: pure. A segment goes only when a snapshot that has stood for longer than the grace time
//           covers it, and the second newest one does: who lists the snapshots and then reads the
//           tail, or has seen the end of the log, finds every segment behind that for so long
//           (append.h believes for half of it). So a number that was collected is not taken for a
//           free one, and should the newest snapshot be damaged, the one before it still leads on.
//           Of the snapshots stay the newest two, the one that covers, and the next that will; so
//           there are four, however fast the log grows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pawl/time.h"

namespace pawl::queue {

struct SnapshotSeen {
  std::uint64_t sequence = 0;
  std::uint64_t bytes = 0;
  Instant modified = {};  // at the latest, by the store's clock
};

struct Collection {
  std::uint64_t segments_to = 0;              // and including; zero: none
  std::vector<std::uint64_t> snapshots = {};  // these
};

// `seen`: by sequence. `now`: by the store's clock, and not later than it is.
Collection collectable(std::span<const SnapshotSeen> seen, Instant now, Duration grace);

// Whether it is time for a snapshot.
struct SnapshotRule {
  std::uint64_t segments_min = 1'000;   // and an eighth of the last one's bytes …
  std::uint64_t segments_max = 16'000;  // … or this …
  std::uint64_t bytes_max = std::uint64_t{256} * 1024 * 1024;  // … or so many, and that eighth
  // Whoever had to read so many to open the log spares the next one that, if it costs little.
  std::uint64_t opened_min = 64;
  std::uint64_t cheap_bytes_max = std::uint64_t{1024} * 1024;
};
struct SinceSnapshot {
  std::uint64_t segments = 0;
  std::uint64_t opened = 0;  // of them, those that were read to open it
  std::uint64_t bytes = 0;
  std::uint64_t snapshot_bytes = 0;
};
constexpr bool is_due(const SnapshotRule& rule, const SinceSnapshot& since) {
  if (since.segments >= rule.segments_max) return true;
  const bool is_much = since.segments >= rule.segments_min || since.bytes >= rule.bytes_max;
  if (is_much && since.bytes >= since.snapshot_bytes / 8) return true;
  const bool is_cheap = since.snapshot_bytes + since.bytes <= rule.cheap_bytes_max;
  return since.opened >= rule.opened_min && is_cheap;
}

}  // namespace pawl::queue
