// queue.json: what holds for a queue for good, shared by all who open it.
//
// Contract: created if there is none, with what is wanted and the defaults. Tasks that are over are
//           kept for bounds::task_kept_min at the least, else `wanted` is refused. Whoever wants
//           another setting than there is gets an error that says which; what nobody wants is as
//           it is. Of several that create it at once, one does.
// Threads:  those of the store.
#pragma once

#include <cstdint>
#include <optional>

#include "core/queue/machine.h"
#include "port/object_store.h"

namespace pawl {

// The object that has them; what has none is no queue yet.
inline constexpr const char* queue_settings_name = "queue.json";

struct WantedSettings {
  std::optional<std::uint32_t> shards = {};
  std::optional<Duration> kept = {};
};

// The store outlives `done`.
void open_queue_settings(ObjectStore& store, WantedSettings wanted,
                         ObjectStore::Done<queue::Settings> done);

}  // namespace pawl
