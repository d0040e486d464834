// Puts operations to sleep as tasks of a queue, at most one at a time for an intent.
//
// Why:      a second caller with the same idempotency key may act while the first sleeps, and may
//           have to sleep itself: then it is the same task that goes on, or tasks would pile up
//           behind a limit.
// Names:    all tasks of an intent have its name as their key (core/execution/asleep.h). The unique
//           name of the first is `1`; that of one that follows others, which are over and still
//           kept, or run and may end any moment, is the id of the last of them. So two who lie down
//           at once meet in one task.
// Contract: `done` is called once, on any thread. An error with the outcome `unknown` may have been
//           written. One that joins another's task sleeps for as long as that does.
// Bounds:   bounds::sleep_names_max names are tried.
// Threads:  any.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/queue/command.h"
#include "pawl/result.h"
#include "pawl/time.h"
#include "port/task_queue.h"

namespace pawl {

struct LaidDown {
  queue::TaskId id = {};
  bool joined = false;                       // somebody else's task
  std::optional<Instant> available_at = {};  // of a task that was joined
};

// `submit` has the intent's name as its key.
void lay_down(TaskQueue& queue, queue::Submit submit,
              std::move_only_function<void(Result<LaidDown>)> done);

// One that runs as this task goes on later, with another input.
void lay_down_again(TaskQueue& queue, queue::Reschedule reschedule,
                    std::move_only_function<void(Result<LaidDown>)> done);

}  // namespace pawl
