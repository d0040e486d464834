// Which shard a task belongs to.
//
// Why:      the tasks of a key stand in one shard, so that a limit or a closing of the key, and a
//           name that is unique among its tasks, are one machine's to decide.
// Contract: pure, and the same for good: whoever opened a queue last year must find today's tasks.
//           With a key: by the key. Else with a unique name: by that. Else by the randomness of the
//           id. The first byte of an id is its shard; placed() puts it there, so that the same
//           submit, given again, is the same task.
// Threads:  any.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/id.h"
#include "core/queue/command.h"

namespace pawl::queue {

std::uint8_t shard_of(std::string_view name, std::uint32_t shards);
// Of a task that has this id and these terms.
std::uint8_t shard_of(const TaskId& id, const TaskTerms& terms, std::uint32_t shards);
// Of a schedule: that of its tasks.
std::uint8_t shard_of(const SetSchedule& schedule, std::uint32_t shards);

// The id with its shard in it.
TaskId placed(TaskId id, std::uint8_t shard);

// For a new task. Its shard is put in by whoever knows how many there are.
TaskId make_task_id(const Entropy16& entropy);

}  // namespace pawl::queue
