// DurableSleep: lets operations sleep as tasks of a queue, and go on when those are due.
//
//   sleep.may_sleep(operation, asleep, bed);               // then Operations::run()
//   if (auto ending = sleep.goes_on(operation, {id, fence}, asleep)) return *ending;
//   // else Operations::run(), and ending_of() its end
//
// Contract: an operation that lies down is durable as a task before its key is let go
//           (core/execution). One that goes on lies down again as the same task, by rescheduling it
//           with its new facts. Without a key it gets one with its task, so that whoever takes the
//           task up after a crash knows that somebody had it.
// Time:     how long it slept is told by the world's clock. One that is due too early by that, by
//           `sleep_from` or more, is put off.
// Threads:  any. Queue, clock and entropy outlive it and what sleeps by it.
#pragma once

#include <memory>
#include <optional>

#include "core/execution/asleep.h"
#include "core/queue/task.h"
#include "pawl/clock.h"
#include "port/entropy.h"
#include "port/task_queue.h"
#include "runtime/operations.h"
#include "runtime/task_worker.h"

namespace pawl {

// Until when it sleeps; told before the operation ends.
struct Bed {
  Instant until = {};
};

class DurableSleep {
 public:
  struct Held {  // a task, by whoever runs it
    queue::TaskId id = {};
    std::uint64_t fence = 0;
  };

  DurableSleep(TaskQueue& queue, Clock& clock, Entropy& entropy)
      : queue_(queue), clock_(clock), entropy_(entropy) {}

  // `asleep` says what was asked; how far it came is filled in when it lies down. The operation has
  // its name and sleep_from.
  void may_sleep(Operation& operation, execution::Asleep asleep, std::shared_ptr<Bed> bed) const;
  // None: it is to be run, as `operation` then is.
  std::optional<TaskEnding> goes_on(Operation& operation, const Held& task,
                                    const execution::Asleep& asleep) const;

 private:
  TaskQueue& queue_;
  Clock& clock_;
  Entropy& entropy_;
};

// What becomes of the task whose operation ended so. `error` of one that failed is for whoever has
// the words.
TaskEnding ending_of(const OperationEnd& end);

}  // namespace pawl
