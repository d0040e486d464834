// What stands behind pawl::Queue, for the Worker too; and the public forms of what the queue knows.
#pragma once

#include <memory>

#include "adapter/system/system_clock.h"
#include "adapter/system/system_entropy.h"
#include "assembly/queue_office.h"
#include "core/queue/task.h"
#include "pawl/queue.h"

namespace pawl {

struct Queue::State {
  explicit State(Clock* given) : clock(given != nullptr ? *given : own_clock) {}

  SystemClock own_clock;
  Clock& clock;
  SystemEntropy entropy;
  std::unique_ptr<QueueOffice> office;
};

namespace library {

TaskInfo info_of(const queue::Task& task);
queue::Scope scope_of(TaskScope scope);

}  // namespace library

}  // namespace pawl
