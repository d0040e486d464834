// probe_object_store: tries whether a store keeps its promises, before a queue is trusted to it.
//
// Why:      a log is one only as long as of two who write the same number one is refused. There are
//           servers, and settings of servers, that take the condition and ignore it; the queue then
//           runs, and forks. Nothing shows it until tasks are lost.
// Contract: puts some small objects below "probe/", with and without others at the same time,
//           replaces, lists and removes them. The result is what was found, a sentence each. A
//           store that breaks a promise is refused: invalid, what it did and what to do. One that
//           does not answer is asked again, for some seconds; then: its own error. What the probe
//           wrote is removed, if the store lets it.
// Costs:    some fifty requests.
// Threads:  blocks; not for a thread that the store answers on.
#pragma once

#include <string>
#include <vector>

#include "pawl/clock.h"
#include "port/object_store.h"

namespace pawl {

struct ProbeOptions {
  std::string id;                                // of this probe alone: [A-Za-z0-9-]
  bool with_match = true;                        // put-if-match too, where it is used
  Duration pause = Duration::milliseconds(100);  // behind a first try; longer behind each further
};

Result<std::vector<std::string>> probe_object_store(ObjectStore& store, Clock& clock,
                                                    const ProbeOptions& options);

}  // namespace pawl
