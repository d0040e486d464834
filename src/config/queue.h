// The settings of the section queue.
#pragma once

#include "config/config.h"
#include "config/field.h"

namespace pawl::config {

Fields<Config> queue_fields();
const Fields<QueueLimit>& queue_limit_fields();

// A limit that says what it limits, and how; none twice.
void check_queue(const Queue& queue, Reader& reader);

}  // namespace pawl::config
