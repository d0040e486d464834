// The calls about tasks: submit, look, list, cancel, replay.
//
// Contract: a submission is durable before it is answered. With an id of the caller's making it may
//           be sent again; with a unique name too, and is refused (409) when the task of that name
//           has another input. Who cancels and replays is in the audit log; submissions are in the
//           queue's own.
#pragma once

#include "admin/context.h"
#include "admin/route.h"

namespace pawl::admin {

Routes task_routes(Context& context);

}  // namespace pawl::admin
