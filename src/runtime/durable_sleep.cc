#include "runtime/durable_sleep.h"

#include <algorithm>
#include <utility>

#include "base/bounds_queue.h"
#include "base/json.h"
#include "core/queue/shards.h"
#include "runtime/sleeping_tasks.h"

namespace pawl {
namespace {

using execution::Asleep;
using How = execution::Answer::How;
using Kind = TaskEnding::Kind;

// A task that cannot go on now, because a store is away or the program ends, comes back so soon.
constexpr Duration again_later = Duration::seconds(30);
// So many workers may be lost over a task before it is given up.
constexpr std::uint32_t lives = 100;

// All attempts and looks of one stretch, and the waits between them that are not slept.
Duration stretch_of(const retry::Policy& policy, Duration sleep_from) {
  const std::int64_t tries = policy.max_attempts + bounds::retry_reconciles_max;
  const Duration longest = (policy.attempt_timeout + sleep_from) * tries + Duration::minutes(5);
  return std::min(longest, bounds::task_timeout_max);
}

Asleep as_of(Asleep asleep, const SleepAsk& ask, Instant now) {
  asleep.decided = {.policy = ask.policy, .facts = ask.facts, .decision = ask.decision};
  asleep.fence = ask.fence;
  asleep.since = now;
  return asleep;
}

std::string output_of(const execution::Answer& answer) {
  if (answer.response.tombstone) return "null";
  std::string output;
  json::append_quoted(output, answer.response.body);
  return output.size() <= bounds::task_output_bytes_max ? output : "null";
}

TaskEnding put_off(Duration delay) {
  return {.kind = Kind::reschedule, .delay = delay};
}

}  // namespace

void DurableSleep::may_sleep(Operation& operation, Asleep asleep, std::shared_ptr<Bed> bed) const {
  const Duration sleep_from = operation.sleep_from;
  operation.sleep = [*this, name = operation.name, sleep_from, asleep = std::move(asleep),
                     bed = std::move(bed)](const SleepAsk& ask, Operation::Written written) {
    const Instant now = clock_.wall_now();
    const queue::TaskId id = queue::make_task_id(entropy_.next());
    Asleep made = as_of(asleep, ask, now);
    if (made.key.empty()) made.key = "asleep-" + to_string(id);
    const std::string intent = execution::intent_name(name, made.correlation.tenant_id, made.key);
    bed->until = now + ask.delay;
    lay_down(queue_,
             {.id = id,
              .terms = {.type = name,
                        .input = to_text(made),
                        .key = intent,
                        .max_retries = lives,
                        .timeout = stretch_of(ask.policy, sleep_from)},
              .delay = ask.delay},
             [bed, written = std::move(written)](Result<LaidDown> laid) mutable {
               if (!laid) return written(std::unexpected(std::move(laid).error()));
               bed->until = laid->available_at.value_or(bed->until);
               written(to_string(laid->id));
             });
  };
}

std::optional<TaskEnding> DurableSleep::goes_on(Operation& operation, const Held& task,
                                                const Asleep& asleep) const {
  const Duration slept = std::max(clock_.wall_now() - asleep.since, Duration());
  const Duration left = asleep.decided.decision.delay - slept;
  if (left >= operation.sleep_from) return put_off(left);
  operation.resumed = retry::Resumed{.facts = asleep.decided.facts, .slept = slept};
  operation.slept_fence = asleep.fence;
  operation.task = to_string(task.id);
  operation.sleep = [*this, task, asleep](const SleepAsk& ask, Operation::Written written) {
    lay_down_again(queue_,
                   {.id = task.id,
                    .fence = task.fence,
                    .delay = ask.delay,
                    .input = to_text(as_of(asleep, ask, clock_.wall_now()))},
                   [written = std::move(written)](Result<LaidDown> laid) mutable {
                     if (!laid) return written(std::unexpected(std::move(laid).error()));
                     written(to_string(laid->id));
                   });
  };
  return std::nullopt;
}

TaskEnding ending_of(const OperationEnd& end) {
  const execution::Answer& answer = end.answer;
  const TaskEnding failed{.kind = Kind::failed};
  const TaskEnding completed{.kind = Kind::completed, .output = output_of(answer)};
  switch (answer.how) {
    case How::done:
    case How::replayed:
      return completed;
    case How::asleep:     // the queue has it already, and passes the worker's word over
    case How::not_slept:  // the worker says it once more, and without the facts of today
      return put_off(answer.sleep);
    case How::in_flight:
      return put_off(std::max(end.retry_after, Duration::seconds(1)));
    case How::no_store:
      return put_off(again_later);
    case How::cancelled:
      return answer.outcome == Outcome::not_applied ? put_off(again_later) : failed;
    case How::not_recorded:
      return answer.outcome == Outcome::applied ? completed : failed;
    case How::gave_up:
    case How::unresolved:
    case How::mismatch:
    case How::stale:
      return failed;
  }
  __builtin_unreachable();
}

}  // namespace pawl
