// The calls about the queue as a whole: how full it is, what is closed, limited and scheduled; and
// what the calls about its tasks share with them.
#pragma once

#include <functional>

#include "admin/context.h"
#include "admin/route.h"
#include "core/queue/command.h"

namespace pawl::admin {

Routes queue_routes(Context& context);

// Null: there is none just now, and whoever asked was told so.
TaskQueue* queue_of(Context& context, Call& call);

// For a queue: comes back with what became of a command. A refusal is told to the caller; `then`
// gets what is none.
std::move_only_function<void(Result<std::vector<queue::Reply>>)> back_with_reply(
    Context& context, Call call, std::move_only_function<void(Call, const queue::Reply&)> then);

// Who changes something, in the words of the queue.
std::string who_asks(const Call& call);

}  // namespace pawl::admin
