// The verbs of the queue. Each gives an exit code: 3 for what was refused, 5 for a task that is not
// there, 6 when the store is away.
#pragma once

#include "cli/verb.h"

namespace pawl::cli {

// Tasks (queue_verbs.cc, queue_submit.cc).
int task_submit(const Arguments& arguments);
int task_get(const Arguments& arguments);
int task_history(const Arguments& arguments);
int task_why(const Arguments& arguments);
int task_list(const Arguments& arguments);
int task_tail(const Arguments& arguments);
int task_cancel(const Arguments& arguments);
// `pawl replay` calls it when it is given a task in place of a file.
int task_replay(const Arguments& arguments);

// Scopes, limits and schedules (queue_control.cc).
int scope_close(const Arguments& arguments);
int scope_open(const Arguments& arguments);
int limit_set(const Arguments& arguments);
int limit_list(const Arguments& arguments);
int limit_remove(const Arguments& arguments);
int schedule_create(const Arguments& arguments);
int schedule_list(const Arguments& arguments);
int schedule_show(const Arguments& arguments);
int schedule_enable(const Arguments& arguments);
int schedule_disable(const Arguments& arguments);
int schedule_delete(const Arguments& arguments);
int schedule_trigger(const Arguments& arguments);

// The whole (queue_stats.cc, queue_move.cc).
int queue_stats(const Arguments& arguments);
int queue_cost(const Arguments& arguments);
int queue_export(const Arguments& arguments);
int queue_import(const Arguments& arguments);

}  // namespace pawl::cli
