#include "core/queue/collect.h"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace pawl::queue {

Collection collectable(std::span<const SnapshotSeen> seen, Instant now, Duration grace) {
  if (seen.size() < 2) return {};
  const std::size_t second = seen.size() - 2;
  std::optional<std::size_t> covers;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (now - seen[i].modified > grace) covers = i;
  }
  // The oldest of those that are still too young covers next.
  const std::size_t next = covers ? *covers + 1 : 0;
  Collection collection;
  if (covers) collection.segments_to = seen[std::min(*covers, second)].sequence;
  for (std::size_t i = 0; i < second; ++i) {
    if (i != covers && i != next) collection.snapshots.push_back(seen[i].sequence);
  }
  return collection;
}

}  // namespace pawl::queue
