#include "pawl/durable_operation.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/bounds_queue.h"
#include "base/id.h"
#include "base/json.h"
#include "base/sha256.h"
#include "core/execution/asleep.h"
#include "library/executor_state.h"
#include "library/queue_state.h"
#include "library/retry_policy.h"
#include "runtime/durable_sleep.h"

namespace pawl {
namespace {

using execution::Asleep;

// What an operation says of itself beside the caller's input.
constexpr std::size_t own_bytes_max = 32 * 1024;

TaskEnd task_end_of(const TaskEnding& ending, const OperationEnd& end) {
  switch (ending.kind) {
    case TaskEnding::Kind::completed:
      return TaskEnd::completed(ending.output);
    case TaskEnding::Kind::reschedule:
      return TaskEnd::reschedule(ending.delay);
    case TaskEnding::Kind::retry:
    case TaskEnding::Kind::failed:
      break;
  }
  const Error error = library::told(end).error();
  return TaskEnd::fail((error.code == Code::unresolved ? "unresolved: " : "") + error.message);
}

}  // namespace

struct DurableOperation::State {
  Result<Operation> operation(const Asleep& asleep) const;
  OperationEnd make(Operation made, const std::string& input);
  TaskEnd resume(const TaskRun& run);
  DurableSleep sleep() const { return {queue->office->queue(), executor->clock(), queue->entropy}; }

  DurableOptions options;
  std::optional<retry::Policy> policy;
  Callable callable;
  Executor::State* executor = nullptr;
  std::shared_ptr<Queue::State> queue;
};

Result<Operation> DurableOperation::State::operation(const Asleep& asleep) const {
  Operation made;
  made.category = options.category;
  made.name = options.name;
  made.correlation = asleep.correlation;
  made.context = asleep.context;
  made.policy = policy;
  made.key = asleep.key;
  made.fingerprint = asleep.fingerprint;
  made.harmless = options.harmless;
  made.guard = options.guard;
  made.sleep_from = options.sleep_from;
  PAWL_TRY(check(made));
  return made;
}

OperationEnd DurableOperation::State::make(Operation made, const std::string& input) {
  Executor::State::Work reconcile;
  if (options.reconcile) {
    reconcile = [this, &input](const Attempt& attempt) {
      return library::end_of(options.reconcile(input, attempt));
    };
  }
  OperationEnd end = executor->run_here(
      std::move(made),
      [this, &input](const Attempt& attempt) { return library::end_of(callable(input, attempt)); },
      std::move(reconcile));
  if (end.unaudited && *executor->unaudited) (*executor->unaudited)(*end.unaudited);
  return end;
}

TaskEnd DurableOperation::State::resume(const TaskRun& run) {
  const auto asleep = execution::read_asleep(run.input());
  const auto id = queue::parse_task_id(run.id());
  if (!asleep || !id) return TaskEnd::fail(asleep ? id.error().message : asleep.error().message);
  auto made = operation(*asleep);
  if (!made) return TaskEnd::fail(made.error().message);
  if (const auto put_off = sleep().goes_on(*made, {*id, run.fence()}, *asleep)) {
    return task_end_of(*put_off, {});
  }
  const OperationEnd end = make(*std::move(made), asleep->input);
  return task_end_of(ending_of(end), end);
}

DurableOperation::DurableOperation(std::shared_ptr<State> state) : state_(std::move(state)) {}
DurableOperation::DurableOperation(DurableOperation&& other) noexcept = default;
DurableOperation& DurableOperation::operator=(DurableOperation&& other) noexcept = default;
DurableOperation::~DurableOperation() = default;

Result<DurableOperation> DurableOperation::make(Executor& executor, Queue& queue,
                                                DurableOptions options,
                                                Callable callable) noexcept {
  PAWL_ASSERT(executor.state_ != nullptr && queue.state_ != nullptr);  // moved from
  auto state = std::make_shared<State>();
  state->executor = executor.state_.get();
  state->queue = queue.state_;
  if (options.name.empty() || options.name.size() > bounds::task_name_bytes_max) {
    return failure(Code::invalid, "a durable operation needs a name, of up to " +
                                      std::to_string(bounds::task_name_bytes_max) +
                                      " bytes: its tasks are known by it");
  }
  if (options.sleep_from <= Duration()) {
    return failure(Code::invalid, "sleep_from is the shortest wait that is slept: it must last");
  }
  const bool ends_with_us = state->queue->office->queue().view().store.starts_with("memory");
  if (state->executor->durability() == Durability::none && !ends_with_us) {
    return failure(
        Code::invalid,
        "the executor's keys end with this process and the queue's tasks do not: whoever "
        "goes on could not know what was sent; give the executor a store that lasts, "
        "as in sqlite:data/intents.db");
  }
  if (options.policy) state->policy = PAWL_TRY(policy_of(*options.policy));
  state->options = std::move(options);
  state->callable = std::move(callable);
  PAWL_TRY(state->operation({}));
  return DurableOperation(std::move(state));
}

Result<DurableAnswer> DurableOperation::run(std::string_view input,
                                            const DurableAsk& ask) noexcept {
  PAWL_ASSERT(state_ != nullptr);  // it was moved from
  const std::shared_ptr<State> state = state_;
  const Result<json::Value> parsed = json::parse(input);
  if (!parsed) return failure(Code::invalid, "the input is no JSON: " + parsed.error().message);
  Asleep asleep{.input = json::print(*parsed),
                .key = ask.idempotency_key,
                .fingerprint = ask.fingerprint,
                .context = ask.context};
  if (asleep.input.size() > bounds::task_input_bytes_max - own_bytes_max) {
    return failure(Code::invalid, "the input has " + std::to_string(asleep.input.size()) +
                                      " bytes: at most " +
                                      std::to_string(bounds::task_input_bytes_max - own_bytes_max) +
                                      " can sleep; store it elsewhere and say where");
  }
  if (asleep.fingerprint.empty()) asleep.fingerprint = to_hex(sha256(asleep.input));
  Clock& clock = state->executor->clock();
  asleep.correlation.tenant_id = ask.tenant_id;
  asleep.correlation.trace_id = ask.trace_id;
  asleep.correlation.correlation_id = ask.correlation_id.empty()
                                          ? uuid_v7(clock.wall_now(), state->queue->entropy.next())
                                          : ask.correlation_id;
  Operation made = PAWL_TRY(state->operation(asleep));
  const auto bed = std::make_shared<Bed>();
  state->sleep().may_sleep(made, asleep, bed);
  OperationEnd end = state->make(std::move(made), asleep.input);
  if (end.answer.how == execution::Answer::How::asleep) {
    return DurableAnswer{.sleeps = SleepingTask{.id = end.task, .until = bed->until}};
  }
  return DurableAnswer{.result = PAWL_TRY(library::told(std::move(end)))};
}

void DurableOperation::resume_on(Worker& worker) {
  PAWL_ASSERT(state_ != nullptr);  // it was moved from
  worker.on(state_->options.name,
            [state = state_](const TaskRun& run) { return state->resume(run); });
}

}  // namespace pawl
