// The calls about the queue as a whole: how full it is, what is closed, limited and scheduled; and
// what the calls about its tasks share with them.
#pragma once

#include <functional>

#include "admin/context.h"
#include "admin/route.h"
#include "core/queue/command.h"

namespace pawl::admin {

Routes queue_routes(Context& context);

// Puts on record who cancels, replays, closes, limits or schedules, before it is done. What workers
// and submitters say stands in the queue's own log alone.
Result<void> record_deed(Context& context, const Call& call, const queue::Command& command);

// Null: there is none just now, and whoever asked was told so.
TaskQueue* queue_of(Context& context, Call& call);

// Comes back from a queue as back() does (context.h). What a caller did wrong is a refusal there;
// an error that says "not valid" is about the log, which is damaged: no fault of the caller's.
template <class T, class Then>
auto back_from_queue(Context& context, Call call, Then then) {
  return [done = back<T>(context, std::move(call), std::move(then))](Result<T> result) mutable {
    if (!result && result.error().code == Code::invalid) result.error().code = Code::unavailable;
    done(std::move(result));
  };
}

// Comes back with what became of a command. A refusal is told to the caller; `then`
// gets what is none.
std::move_only_function<void(Result<std::vector<queue::Reply>>)> back_with_reply(
    Context& context, Call call, std::move_only_function<void(Call, const queue::Reply&)> then);

}  // namespace pawl::admin
