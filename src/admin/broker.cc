#include "admin/broker.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "admin/queue.h"
#include "base/bounds_queue.h"
#include "runtime/broker_bytes.h"
#include "runtime/remote_queue.h"

namespace pawl::admin {
namespace {

using Tasks = std::vector<queue::Task>;

template <class T>
void tell(Call call, const Result<T>& result) {
  std::move(call).answer(server::Response{.status = 200,
                                          .content_type = std::string(broker::content_type),
                                          .body = broker::write_result(result),
                                          .extra_fields = {}});
}

// Null: there is none just now, and whoever asked was told so in the words of a queue.
template <class T>
TaskQueue* queue_for(Context& context, Call& call) {
  if (context.tasks == nullptr) {
    std::move(call).refuse(http::ProblemCode::not_found, "This pawl has no queue of its own.");
    return nullptr;
  }
  const Result<TaskQueue*> queue = context.tasks->queue();
  if (queue) return *queue;
  tell<T>(std::move(call), std::unexpected(queue.error()));
  return nullptr;
}

template <class T>
TaskQueue::Done<T> back_to_tell(Context& context, Call call) {
  return back_with<T>(context, std::move(call),
                      [](Call asked, const Result<T>& result) { tell(std::move(asked), result); });
}

void commands(Context& context, Call call) {
  using Replies = std::vector<queue::Reply>;
  Result<std::vector<queue::Command>> asked = broker::read_commands(call.request().body);
  if (!asked) return std::move(call).fail(asked.error());
  TaskQueue* queue = queue_for<Replies>(context, call);
  if (queue == nullptr) return;
  for (const queue::Command& each : *asked) {
    if (const auto recorded = record_deed(context, call, each); !recorded) {
      return tell<Replies>(std::move(call), std::unexpected(recorded.error()));
    }
  }
  queue->give(*std::move(asked), back_to_tell<Replies>(context, std::move(call)));
}

// A claim, from when it came until when it may wait.
struct Wanted {
  queue::Claim claim = {};
  SteadyInstant came = {};
  SteadyInstant until = {};
};

// In short waits, so that it is seen in time that the client has left, or that the end has begun.
void claim(Context& context, Call call, const Wanted& wanted) {
  TaskQueue* queue = queue_for<ClaimedTasks>(context, call);
  if (queue == nullptr) return;
  const SteadyInstant now = context.clock.steady_now();
  ClaimAsk ask{.claim = wanted.claim,
               .wait = std::clamp(wanted.until - now, Duration(), bounds::broker_look_again)};
  const auto answered = [&context, queue, wanted, now](Call asked, Result<ClaimedTasks> claimed) {
    if (!asked.is_open()) {
      if (claimed) give_back(*queue, claimed->tasks);
      return;
    }
    const SteadyInstant then = context.clock.steady_now();
    if (claimed && claimed->tasks.empty() && then < wanted.until) {
      return claim(context, std::move(asked), wanted);
    }
    if (claimed) claimed->waited = (now - wanted.came) + claimed->waited;
    tell(std::move(asked), claimed);
  };
  queue->claim(std::move(ask), back_with<ClaimedTasks>(context, std::move(call), answered));
}

void claim(Context& context, Call call) {
  Result<ClaimAsk> ask = broker::read_claim(call.request().body);
  if (!ask) return std::move(call).fail(ask.error());
  ask->claim.count =
      std::min(ask->claim.count, static_cast<std::uint32_t>(bounds::broker_tasks_max));
  const Duration wait = std::clamp(ask->wait, Duration(), bounds::broker_wait_max);
  const SteadyInstant now = context.clock.steady_now();
  claim(context, std::move(call), {.claim = ask->claim, .came = now, .until = now + wait});
}

void hello(Context& context, Call call) {
  TaskQueue* queue = queue_for<broker::Hello>(context, call);
  if (queue == nullptr) return;
  tell<broker::Hello>(std::move(call),
                      broker::Hello{.view = queue->view(), .mark = context.tasks->mark()});
}

template <class T>
void look_at(Context& context, Call call, const queue::TaskId& id,
             void (TaskQueue::*ask)(queue::TaskId, TaskQueue::Done<T>)) {
  TaskQueue* queue = queue_for<T>(context, call);
  if (queue != nullptr) (queue->*ask)(id, back_to_tell<T>(context, std::move(call)));
}

template <class T>
void look_at(Context& context, Call call, void (TaskQueue::*ask)(TaskQueue::Done<T>)) {
  TaskQueue* queue = queue_for<T>(context, call);
  if (queue != nullptr) (queue->*ask)(back_to_tell<T>(context, std::move(call)));
}

void list(Context& context, Call call, queue::TaskFilter filter) {
  TaskQueue* queue = queue_for<Tasks>(context, call);
  if (queue == nullptr) return;
  filter.limit = std::min(filter.limit, bounds::broker_tasks_max);
  queue->list(std::move(filter), back_to_tell<Tasks>(context, std::move(call)));
}

void look(Context& context, Call call) {
  const Result<broker::Look> look = broker::read_look(call.request().body);
  if (!look) return std::move(call).fail(look.error());
  using Kind = broker::Look::Kind;
  switch (look->kind) {
    case Kind::hello:
      return hello(context, std::move(call));
    case Kind::task:
      return look_at(context, std::move(call), look->id, &TaskQueue::find);
    case Kind::history:
      return look_at(context, std::move(call), look->id, &TaskQueue::history);
    case Kind::why:
      return look_at(context, std::move(call), look->id, &TaskQueue::why);
    case Kind::list:
      return list(context, std::move(call), look->filter);
    case Kind::stats:
      return look_at(context, std::move(call), &TaskQueue::stats);
    case Kind::schedules:
      return look_at(context, std::move(call), &TaskQueue::schedules);
    case Kind::closings:
      return look_at(context, std::move(call), &TaskQueue::closings);
    case Kind::limits:
      return look_at(context, std::move(call), &TaskQueue::limits);
  }
  __builtin_unreachable();
}

// Ids and fences of one queue must not be taken for those of another.
bool is_for_another(const Context& context, const Call& call) {
  const std::string_view meant = call.request().header(broker::mark_field);
  const std::string own = context.tasks == nullptr ? std::string() : context.tasks->mark();
  return !meant.empty() && !own.empty() && meant != own;
}

Route route(Context& context, std::string_view path, std::string_view id, std::string_view summary,
            void (*handle)(Context&, Call)) {
  return {.method = "POST",
          .path = path,
          .id = id,
          .summary = summary,
          .takes = broker::content_type,
          .answers = {{200, "What the queue says.", {}, broker::content_type}},
          .problems = {404, 409},
          .handle = [&context, handle](Call call) {
            if (!is_for_another(context, call)) return handle(context, std::move(call));
            std::move(call).refuse(http::ProblemCode::conflict,
                                   "This broker has another queue than the one that is meant.");
          }};
}

}  // namespace

Routes broker_routes(Context& context) {
  return {
      route(context, broker::commands_path, "broker_commands",
            "Commands of a worker or a submitter.", commands),
      route(context, broker::claim_path, "broker_claim", "Claims tasks, and waits for them.",
            claim),
      route(context, broker::look_path, "broker_look", "Looks at the queue.", look),
  };
}

}  // namespace pawl::admin
