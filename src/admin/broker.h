// The calls of a broker: commands, claims and looks of those who have no way to the queue's store,
// or leave it to this pawl to batch for many (runtime/remote_queue.h asks them).
//
// Contract: bodies are those of runtime/broker_bytes.h. What the queue says, errors too, is the
//           body of a 200; other statuses are the admin listener's. A claim waits here until
//           something is due, the time it named is over, or its client has left; what was claimed
//           for a client that has left by then is given back, not counted.
// Bounds:   bounds::broker_*; a body has bounds::admin_body_bytes_max.
// Threads:  those of the admin listener's loop.
#pragma once

#include "admin/context.h"
#include "admin/route.h"

namespace pawl::admin {

Routes broker_routes(Context& context);

}  // namespace pawl::admin
