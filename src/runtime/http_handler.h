// Handles a task by a service: the way of `pawl work --http`.
//
// Contract: the task's input is posted as JSON, once an attempt, with Pawl-Task-Id, Pawl-Task-Type
//           and Pawl-Task-Key (percent-encoded, but for what a URL's path may hold), Pawl-Attempt,
//           Pawl-Fence, and the task's id as Idempotency-Key: ID-1 after a replay, ID-2 after the
//           next, since a service would give a key of before the answer of before.
//             2xx        completed; the body is the output (handler_text.h)
//             429, 503   reschedule by Retry-After or its kin (core/limit/pushback.h); without one
//                        by bounds::handler_reschedule
//             409        the same where it has a Retry-After: a copy of the call is still under
//                        way, and its answer will be this one's. Else failed for good
//             408, 425, other 5xx, no answer: retry, not before an instant that was named
//             all else   failed for good; no redirect is followed
//           An answer may take until the task's timeout. A task that is to stop ends at once here;
//           what the service does with it, only the service knows.
// Threads:  those of TaskWorker and HttpClient.
#pragma once

#include <string>

#include "pawl/clock.h"
#include "port/http_client.h"
#include "runtime/task_worker.h"

namespace pawl {

// The client and the clock outlive the handler.
TaskHandler http_handler(HttpClient& client, Clock& clock, std::string url);

TaskEnding ending_of(const HttpAnswer& answer, Instant now);

}  // namespace pawl
