// Handles a task by a command: the way of `pawl work --exec`.
//
// Contract: the task's input is the command's standard input; PAWL_TASK_ID, PAWL_TASK_TYPE,
//           PAWL_TASK_KEY, PAWL_ATTEMPT and PAWL_FENCE stand in its environment.
//             exit 0    completed; standard output is the output (handler_text.h)
//             exit 75   reschedule, by {"delay_seconds":60,"scope":"key"} on standard output (the
//                       whole of it, or its last line); without one by
//                       bounds::handler_reschedule. One that makes no sense is an error; what
//                       else it has is passed over, and told. An "input" in it takes the place of
//                       the task's, so that the next run can go on where this one was. Where
//                       more was printed than is kept, all this is lost, and the task fails
//             exit 65   failed for good
//             any other, and death by a signal: retry. By INT, TERM, HUP or QUIT (or 128 and its
//                       number) while the worker ends: given back, as it was told to the whole
//                       group; a child that has not left ours yet hears of it too
//           The end of standard error becomes the task's last error. A task that is to stop has its
//           command stopped with all its children: SIGTERM, and SIGKILL when the grace is over,
//           5 s or as long as nobody else may begin; children are also those that have left it,
//           as long as they keep its environment. What could not be started is given back.
//           Exit 0 still means that it is done; a command that breaks its work off must not say so.
// Threads:  those of TaskWorker and ChildProcesses.
#pragma once

#include <string>

#include "port/child_processes.h"
#include "runtime/task_worker.h"

namespace pawl {

inline constexpr int exit_reschedule = 75;  // EX_TEMPFAIL of sysexits.h
inline constexpr int exit_failed = 65;      // EX_DATAERR

// The processes outlive the handler.
TaskHandler exec_handler(ChildProcesses& processes, std::string command);

TaskEnding ending_of(const ChildEnd& end);

}  // namespace pawl
