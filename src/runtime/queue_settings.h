// queue.json: what holds for a queue for good, shared by all who open it.
//
// Contract: created if there is none, with `wanted` or the defaults. Tasks that are over are kept
//           for bounds::task_kept_min at the least, else `wanted` is refused. Whoever wants
//           other settings than there are gets an error that says which; whoever wants none takes
//           those there are. Of several that create it at once, one does.
// Threads:  those of the store.
#pragma once

#include <optional>

#include "core/queue/machine.h"
#include "port/object_store.h"

namespace pawl {

// The object that has them; what has none is no queue yet.
inline constexpr const char* queue_settings_name = "queue.json";

// The store outlives `done`.
void open_queue_settings(ObjectStore& store, std::optional<queue::Settings> wanted,
                         ObjectStore::Done<queue::Settings> done);

}  // namespace pawl
