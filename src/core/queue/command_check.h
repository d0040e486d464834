// Whether a queue may be told a command at all: names, texts, JSON, amounts.
//
// Why:      what is in the log is there for good. A name that cannot be read back, or a lease of a
//           century, is refused before it gets there.
// Contract: pure. Knows nothing of the state: whether the task is there, and the fence right, is
//           the machine's to say. The error names the field, what was found and what is allowed.
// Bounds:   bounds::task_*, claim_*, retry_*.
// Threads:  any.
#pragma once

#include "core/queue/command.h"
#include "pawl/result.h"

namespace pawl::queue {

Result<void> check(const Command& command);
Result<void> check(const TaskTerms& terms);

}  // namespace pawl::queue
