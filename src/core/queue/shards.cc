#include "core/queue/shards.h"

#include <algorithm>
#include <span>

#include "base/crc32c.h"

namespace pawl::queue {

std::uint8_t shard_of(std::string_view name, std::uint32_t shards) {
  return static_cast<std::uint8_t>(crc32c(name) % shards);
}

std::uint8_t shard_of(const TaskId& id, const TaskTerms& terms, std::uint32_t shards) {
  if (!terms.key.empty()) return shard_of(terms.key, shards);
  if (!terms.unique.empty()) return shard_of(terms.unique, shards);
  // Without the first byte: it is what is to be found.
  std::uint32_t random = 0;
  for (const std::uint8_t byte : std::span(id.bytes).last(4)) random = random << 8 | byte;
  return static_cast<std::uint8_t>(random % shards);
}

std::uint8_t shard_of(const SetSchedule& schedule, std::uint32_t shards) {
  const TaskTerms& terms = schedule.terms;
  const bool named = !terms.key.empty() || !terms.unique.empty();
  return named ? shard_of(TaskId(), terms, shards) : shard_of(schedule.name, shards);
}

TaskId placed(TaskId id, std::uint8_t shard) {
  id.bytes[0] = shard;
  return id;
}

TaskId make_task_id(const Entropy16& entropy) {
  TaskId id;
  std::ranges::copy(std::span(entropy).first(id.bytes.size()), id.bytes.begin());
  id.bytes[0] = 0;
  return id;
}

}  // namespace pawl::queue
