// What the records of a Redis survive, as far as the server tells.
//
//   fsync    appendonly yes, appendfsync always, no-appendfsync-on-rewrite no
//   process  appendonly yes, and any other appendfsync, or one that cannot be seen
//   none     no append-only file, or a memory that is full drops keys (maxmemory-policy)
//
// Why:      whoever asks for more than a store gives must hear so before the first intent, not
//           after a power cut.
// Contract: asks CONFIG; where that is forbidden INFO, which does not tell appendfsync; where both
//           are, it says none. Of a cluster every node that holds records is asked, and the weakest
//           counts. An error only when a server does not answer.
// Unseen:   what happens to the file after the server has synced it (a disk that lies), that
//           somebody sets something else later, and replicas: a failover forgets what had not
//           reached them, whatever is said here. Under everysec a server answers before it has
//           written while a sync lasts, so that a kill of it can lose up to two seconds as well.
#pragma once

#include <map>
#include <span>
#include <string>

#include "adapter/redis/redis_client.h"
#include "pawl/result.h"
#include "port/record_store.h"

namespace pawl::redis {

struct FoundDurability {
  Durability durability = Durability::none;
  std::string seen = {};  // for people: "appendonly yes, appendfsync everysec, …"
};

using Settings = std::map<std::string, std::string>;
// By names and values as CONFIG GET tells them; one that is missing cannot be seen. Pure.
FoundDurability durability_of(const Settings& settings);

// Of the servers that have the keys; at least one. Waits, up to `deadline` a question: never on the
// client's own thread.
Result<FoundDurability> probe_durability(Client& client, std::span<const std::string> keys,
                                         Duration deadline);

}  // namespace pawl::redis
