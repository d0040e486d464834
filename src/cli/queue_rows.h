// The rows of the queue's verbs in the table of verbs.
#pragma once

#include <span>

#include "cli/verb.h"

namespace pawl::cli {

// Tasks.
std::span<const Verb> task_rows();
// Scopes, limits, schedules, and the whole.
std::span<const Verb> queue_rows();

}  // namespace pawl::cli
