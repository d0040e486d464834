#include "admin/tasks.h"

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "admin/parameters.h"
#include "admin/queue.h"
#include "base/bounds_queue.h"
#include "core/queue/task_json.h"
#include "core/queue/view_json.h"

namespace pawl::admin {
namespace {

using json::Array;
using json::Object;
using json::Value;

constexpr std::int64_t seconds_max = 9'000'000'000;  // some 285 years: as far as instants go
constexpr std::size_t id_digits = 24;

Schema status_word() {
  return schema::word({"pending", "running", "completed", "failed", "cancelled", "expired"});
}

// Lengths and factors are decimal numbers.
Schema retry_policy_schema(bool whole) {
  return schema::object({{"initial_interval_ms", schema::anything(), whole},
                         {"max_interval_ms", schema::anything(), whole},
                         {"multiplier", schema::anything(), whole},
                         {"jitter_percent", schema::anything(), whole},
                         {"delays_ms", schema::list_of(schema::anything()), whole}});
}

Schema task_schema() {
  const Schema text = schema::or_null(schema::text());
  const Schema instant = schema::or_null(schema::instant());
  return schema::object({{"id", schema::text()},
                         {"task_type", schema::text()},
                         {"status", status_word()},
                         {"input", schema::anything()},
                         {"output", schema::anything()},
                         {"key", text},
                         {"unique", text},
                         {"priority", schema::anything()},
                         {"attempt", schema::count()},
                         {"retry_count", schema::count()},
                         {"max_retries", schema::count()},
                         {"retry_policy", retry_policy_schema(true)},
                         {"reschedule_count", schema::count()},
                         {"max_reschedules", schema::or_null(schema::count())},
                         {"timeout_seconds", schema::anything()},
                         {"available_at", schema::instant()},
                         {"created_at", schema::instant()},
                         {"updated_at", schema::instant()},
                         {"completed_at", instant},
                         {"expires_at", instant},
                         {"lease_expires_at", instant},
                         {"fence", schema::count()},
                         {"worker_id", text},
                         {"last_error", text},
                         {"cancel_requested", schema::truth()},
                         {"cancelled_by", text}});
}

Schema version_schema() {
  return schema::object({{"version", schema::count()},
                         {"at", schema::instant()},
                         {"status", status_word()},
                         {"reason", schema::text()},
                         {"worker_id", schema::or_null(schema::text())},
                         {"delay_seconds", schema::anything()},
                         {"count", schema::count()},
                         {"detail", schema::or_null(schema::text())}});
}

Schema history_schema() {
  return schema::object(
      {{"left_out", schema::count()}, {"versions", schema::list_of(version_schema())}});
}

Schema why_schema() {
  return schema::object({{"hold", schema::word({"is_over", "running", "not_due", "closed", "rate",
                                                "concurrency", "waits"})},
                         {"scope", schema::or_null(schema::text())},
                         {"name", schema::or_null(schema::text())},
                         {"until", schema::or_null(schema::instant())},
                         {"ahead", schema::count()},
                         {"worker", schema::or_null(schema::text())}});
}

Schema changed_schema() {
  return schema::object(
      {{"id", schema::text()}, {"status", status_word()}, {"cancel_requested", schema::truth()}});
}

Schema submit_schema() {
  const Schema name = schema::text(1, bounds::task_name_bytes_max);
  const Schema seconds = schema::whole(0, seconds_max);
  constexpr std::int64_t any_count = std::numeric_limits<std::uint32_t>::max();
  return schema::object(
      {{"task_type", name},
       {"input", schema::anything(), false},
       {"id", schema::text(id_digits, id_digits), false},
       {"key", name, false},
       {"unique", name, false},
       {"priority", schema::whole(-bounds::task_priority_max, bounds::task_priority_max), false},
       {"max_retries", schema::whole(0, bounds::task_retries_max), false},
       {"retry_policy", retry_policy_schema(false), false},
       {"max_reschedules", schema::whole(0, any_count), false},
       {"timeout_seconds", schema::whole(1, bounds::task_timeout_max.seconds_up()), false},
       {"delay_seconds", seconds, false},
       {"at", schema::instant(), false},
       {"ttl_seconds", schema::whole(1, seconds_max), false},
       {"expires_at", schema::instant(), false}});
}

Parameter id_in_path() {
  return {"id", "The task's id: 24 hexadecimal digits.",
          schema::text(1, bounds::task_name_bytes_max), Parameter::In::path};
}

// The members of a task whose schema has been checked.
std::string text_in(const Value& task, std::string_view name) {
  const Value* found = task.find(name);
  return found == nullptr ? "" : *found->if_string();
}

std::optional<std::int64_t> number_in(const Value& task, std::string_view name) {
  const Value* found = task.find(name);
  if (found == nullptr) return std::nullopt;
  return std::stoll(found->if_number()->text);
}

Duration seconds_in(const Value& task, std::string_view name) {
  return Duration::seconds(number_in(task, name).value_or(0));
}

Result<std::optional<Instant>> instant_in(const Value& task, std::string_view name) {
  const std::string text = text_in(task, name);
  if (text.empty()) return std::optional<Instant>();
  const Result<Instant> found = parse_instant(text);
  if (!found) return failure(Code::invalid, std::string(name) + ": " + found.error().message);
  return std::optional(*found);
}

Result<queue::TaskTerms> terms_of(const Value& task) {
  const Value* input = task.find("input");
  queue::TaskTerms terms{.type = text_in(task, "task_type"),
                         .input = json::print(input == nullptr ? Value(Object()) : *input),
                         .key = text_in(task, "key"),
                         .unique = text_in(task, "unique")};
  terms.priority = static_cast<std::int32_t>(number_in(task, "priority").value_or(0));
  if (const auto retries = number_in(task, "max_retries")) {
    terms.max_retries = static_cast<std::uint32_t>(*retries);
  }
  if (const Value* policy = task.find("retry_policy")) {
    terms.retry = PAWL_TRY(queue::parse_retry_policy(*policy));
  }
  if (const auto reschedules = number_in(task, "max_reschedules")) {
    terms.max_reschedules = static_cast<std::uint32_t>(*reschedules);
  }
  if (const auto timeout = number_in(task, "timeout_seconds")) {
    terms.timeout = Duration::seconds(*timeout);
  }
  return terms;
}

Result<queue::Submit> submit_of(const Context& context, const Value& task) {
  const std::string id = text_in(task, "id");
  return queue::Submit{
      .id = id.empty() ? context.tasks->new_id() : PAWL_TRY(queue::parse_task_id(id)),
      .terms = PAWL_TRY(terms_of(task)),
      .delay = seconds_in(task, "delay_seconds"),
      .at = PAWL_TRY(instant_in(task, "at")),
      .time_to_live = seconds_in(task, "ttl_seconds"),
      .expires = PAWL_TRY(instant_in(task, "expires_at"))};
}

// What is on record of a task, when it is a part of its caller's operation.
struct Part {
  queue::TaskId id;
  std::string type;
};

Part part_of(const queue::Submit& submit) {
  return {.id = submit.id, .type = submit.terms.type};
}

// A task goes by its id: this record says whose operation it is a part of.
Result<void> join(Context& context, const Call& call, const Part& part) {
  const std::string operation = correlation_of(call);
  if (operation.empty()) return {};
  return record_change(context, call,
                       {.type = audit::EventType::task,
                        .timestamp = context.clock.wall_now(),
                        .operation = "task submit",
                        .correlation = {.correlation_id = operation},
                        .details = {{"task_id", to_string(part.id)}, {"task_type", part.type}}});
}

// The answer. One that was there already has another id than the one on record: then both are.
Result<Object> told(Context& context, const Call& call, Part part,
                    const queue::Submitted& submitted) {
  if (submitted.id != part.id) {
    part.id = submitted.id;
    PAWL_TRY(join(context, call, part));
  }
  return Object{{"id", to_string(submitted.id)}, {"fresh", submitted.fresh}};
}

void submit(Context& context, Call call) {
  TaskQueue* queue = queue_of(context, call);
  if (queue == nullptr) return;
  Result<queue::Submit> submit = submit_of(context, call.body());
  if (!submit) return std::move(call).fail(submit.error());
  Part part = part_of(*submit);
  if (const auto joined = join(context, call, part); !joined) {
    return std::move(call).fail(joined.error());
  }
  const auto tell = [&context, part = std::move(part)](Call asked, const queue::Reply& reply) {
    const auto answer = told(context, asked, part, std::get<queue::Submitted>(reply));
    if (!answer) return std::move(asked).fail(answer.error());
    std::move(asked).answer(*answer);
  };
  queue->give({*std::move(submit)}, back_with_reply(context, std::move(call), tell));
}

Result<std::vector<queue::Command>> batch_of(const Context& context, const Value& body) {
  const Array& tasks = *body.find("tasks")->if_array();
  if (tasks.empty() || tasks.size() > bounds::tasks_submitted_max) {
    return failure(Code::invalid, "tasks: found " + std::to_string(tasks.size()) +
                                      "; a batch has 1 to " +
                                      std::to_string(bounds::tasks_submitted_max));
  }
  std::vector<queue::Command> commands;
  for (const Value& task : tasks) {
    Result<queue::Submit> submit = submit_of(context, task);
    if (!submit) {
      return failure(Code::invalid, "tasks[" + std::to_string(commands.size()) +
                                        "]: " + submit.error().message + "; nothing was submitted");
    }
    commands.emplace_back(*std::move(submit));
  }
  return commands;
}

// One that is refused does not keep the others from being submitted.
void submit_batch(Context& context, Call call) {
  TaskQueue* queue = queue_of(context, call);
  if (queue == nullptr) return;
  auto commands = batch_of(context, call.body());
  if (!commands) return std::move(call).fail(commands.error());
  std::vector<Part> parts;
  for (const queue::Command& each : *commands) {
    parts.push_back(part_of(std::get<queue::Submit>(each)));
    if (const auto joined = join(context, call, parts.back()); !joined) {
      return std::move(call).fail(joined.error());
    }
  }
  using Replies = std::vector<queue::Reply>;
  const auto tell = [&context, parts = std::move(parts)](Call asked, const Replies& replies) {
    Array all;
    for (std::size_t i = 0; i < replies.size(); ++i) {
      const auto* refusal = std::get_if<queue::Refusal>(&replies[i]);
      const Result<Object> each = refusal != nullptr ? failure(refusal->code, refusal->message)
                                                     : told(context, asked, parts.at(i),
                                                            std::get<queue::Submitted>(replies[i]));
      all.push_back(each ? *each : Object{{"error", each.error().message}});
    }
    std::move(asked).answer(Object{{"tasks", std::move(all)}});
  };
  queue->give(*std::move(commands), back_from_queue<Replies>(context, std::move(call), tell));
}

std::uint64_t count_of(const queue::Depth& depth, std::optional<queue::Status> status) {
  if (!status) return total(depth);
  switch (*status) {
    case queue::Status::pending:
      return depth.pending;
    case queue::Status::running:
      return depth.running;
    case queue::Status::completed:
      return depth.completed;
    case queue::Status::failed:
      return depth.failed;
    case queue::Status::cancelled:
      return depth.cancelled;
    case queue::Status::expired:
      return depth.expired;
  }
  __builtin_unreachable();
}

// Of those of a key nobody keeps count.
void tell_with_total(Context& context, Call call, Array tasks) {
  TaskQueue* queue = queue_of(context, call);
  if (queue == nullptr) return;
  const auto tell = [tasks = std::move(tasks)](Call asked, const queue::Stats& stats) mutable {
    const std::optional<queue::Status> status = queue::status_of(asked.text("status"));
    const std::string type = asked.text("type");
    std::uint64_t total = 0;
    for (const queue::Depth& each : stats.types) {
      if (type.empty() || each.type == type) total += count_of(each, status);
    }
    const bool is_known = asked.text("key").empty();
    std::move(asked).answer(
        Object{{"tasks", std::move(tasks)}, {"total", is_known ? Value(total) : Value()}});
  };
  queue->stats(back<queue::Stats>(context, std::move(call), std::move(tell)));
}

void list(Context& context, Call call) {
  TaskQueue* queue = queue_of(context, call);
  if (queue == nullptr) return;
  queue::TaskFilter filter{.status = queue::status_of(call.text("status")),
                           .type = call.text("type"),
                           .key = call.text("key"),
                           .limit = limit_of(call)};
  if (const std::string after = call.text("after"); !after.empty()) {
    const Result<queue::TaskId> id = queue::parse_task_id(after);
    if (!id) return std::move(call).fail(id.error());
    filter.after = *id;
  }
  const std::string order = call.text("order");
  if (order == "changed") filter.order = queue::TaskOrder::changed;
  if (order == "due") filter.order = queue::TaskOrder::due;
  if (filter.order != queue::TaskOrder::id && filter.after) {
    return std::move(call).refuse(http::ProblemCode::bad_request,
                                  "after: it goes by ids, and order=" + order + " does not");
  }
  using Tasks = std::vector<queue::Task>;
  queue->list(
      std::move(filter),
      back_from_queue<Tasks>(context, std::move(call), [&context](Call asked, const Tasks& tasks) {
        Array all;
        for (const queue::Task& each : tasks) all.push_back(to_json(each));
        tell_with_total(context, std::move(asked), std::move(all));
      }));
}

// A look at one task, whatever it is that is looked at.
template <class T>
void look(Context& context, Call call, void (TaskQueue::*ask)(queue::TaskId, TaskQueue::Done<T>)) {
  TaskQueue* queue = queue_of(context, call);
  if (queue == nullptr) return;
  const Result<queue::TaskId> id = queue::parse_task_id(call.text("id"));
  if (!id) return std::move(call).refuse(http::ProblemCode::not_found, id.error().message);
  (queue->*ask)(*id, back_from_queue<T>(context, std::move(call), [](Call asked, const T& found) {
    std::move(asked).answer(to_json(found));
  }));
}

// Puts it on record, does it, and says what the task is then.
void change(Context& context, Call call,
            queue::Command (*command_of)(const Call&, const queue::TaskId&)) {
  TaskQueue* queue = queue_of(context, call);
  if (queue == nullptr) return;
  const Result<queue::TaskId> id = queue::parse_task_id(call.text("id"));
  if (!id) return std::move(call).refuse(http::ProblemCode::not_found, id.error().message);
  queue::Command command = command_of(call, *id);
  const auto recorded = record_deed(context, call, command);
  if (!recorded) return std::move(call).fail(recorded.error());
  queue->give(
      {std::move(command)},
      back_with_reply(context, std::move(call), [id = *id](Call asked, const queue::Reply& reply) {
        const auto& changed = std::get<queue::Changed>(reply);
        std::move(asked).answer(Object{{"id", to_string(id)},
                                       {"status", to_string(changed.status)},
                                       {"cancel_requested", changed.cancel_requested}});
      }));
}

void cancel(Context& context, Call call) {
  change(context, std::move(call), [](const Call& asked, const queue::TaskId& id) {
    return queue::Command(
        queue::Cancel{.id = id, .by = who_asks(asked), .why = asked.member("why")});
  });
}

void replay(Context& context, Call call) {
  change(context, std::move(call), [](const Call&, const queue::TaskId& id) {
    return queue::Command(queue::Replay{.id = id});
  });
}

Routes look_routes(Context& context) {
  return {
      {.path = "/v1/tasks/{id}",
       .id = "get_task",
       .summary = "A task, as it is.",
       .parameters = {id_in_path()},
       .answers = {{200, "The task.", task_schema()}},
       .problems = {404, 503},
       .handle = [&context](Call call) { look(context, std::move(call), &TaskQueue::find); }},
      {.path = "/v1/tasks/{id}/history",
       .id = "task_history",
       .summary = "How a task became what it is, the oldest first.",
       .parameters = {id_in_path()},
       .answers = {{200, "Its versions.", history_schema()}},
       .problems = {404, 503},
       .handle = [&context](Call call) { look(context, std::move(call), &TaskQueue::history); }},
      {.path = "/v1/tasks/{id}/why",
       .id = "why_task",
       .summary = "Why a task does not run.",
       .parameters = {id_in_path()},
       .answers = {{200, "What holds it.", why_schema()}},
       .problems = {404, 503},
       .handle = [&context](Call call) { look(context, std::move(call), &TaskQueue::why); }},
  };
}

Routes change_routes(Context& context) {
  return {
      {.method = "POST",
       .path = "/v1/tasks/{id}/cancel",
       .id = "cancel_task",
       .summary = "Cancels a task; one that runs is asked to stop.",
       .parameters = {id_in_path()},
       .body = schema::object({{"why", schema::text(0, bounds::task_error_bytes_max), false}}),
       .answers = {{200, "What it is now.", changed_schema()}},
       .problems = {404, 409, 503},
       .handle = [&context](Call call) { cancel(context, std::move(call)); }},
      {.method = "POST",
       .path = "/v1/tasks/{id}/replay",
       .id = "replay_task",
       .summary =
           "Makes a task that failed, was cancelled or expired pending again, from the start.",
       .parameters = {id_in_path()},
       .answers = {{200, "What it is now.", changed_schema()}},
       .problems = {404, 409, 503},
       .handle = [&context](Call call) { replay(context, std::move(call)); }},
  };
}

Routes submit_routes(Context& context) {
  const Schema submitted = schema::object({{"id", schema::text()}, {"fresh", schema::truth()}});
  const Schema or_error = schema::object({{"id", schema::text(), false},
                                          {"fresh", schema::truth(), false},
                                          {"error", schema::text(), false}});
  return {
      {.method = "POST",
       .path = "/v1/tasks",
       .id = "submit_task",
       .summary = "Submits a task.",
       .body = submit_schema(),
       .answers = {{200, "It is durable; fresh is false where it was there already.", submitted}},
       .problems = {404, 409, 503},
       .handle = [&context](Call call) { submit(context, std::move(call)); }},
      {.method = "POST",
       .path = "/v1/task-batches",
       .id = "submit_tasks",
       .summary = "Submits several tasks.",
       .body = schema::object({{"tasks", schema::list_of(submit_schema())}}),
       .answers = {{200, "Each as the answer of a submit, or with an error.",
                    schema::object({{"tasks", schema::list_of(or_error)}})}},
       .problems = {404, 503},
       .handle = [&context](Call call) { submit_batch(context, std::move(call)); }},
  };
}

}  // namespace

Routes task_routes(Context& context) {
  const Schema name = schema::text(1, bounds::task_name_bytes_max);
  Routes routes = {
      {.path = "/v1/tasks",
       .id = "list_tasks",
       .summary = "Tasks, by their ids, their last change or when they are due.",
       .parameters = {limit_in_query(),
                      {"order",
                       "id when absent; changed: those that changed last come first; due: those "
                       "that were due first.",
                       schema::word({"id", "changed", "due"})},
                      {"status", "Of this status alone.", status_word()},
                      {"type", "Of this type alone.", name},
                      {"key", "Of this key alone.", name},
                      {"after", "The last id of the page before.",
                       schema::text(id_digits, id_digits)}},
       .answers = {{200, "The tasks, and how many there are like that; null: not counted.",
                    schema::object({{"tasks", schema::list_of(task_schema())},
                                    {"total", schema::or_null(schema::count())}})}},
       .problems = {404, 503},
       .handle = [&context](Call call) { list(context, std::move(call)); }},
  };
  for (Routes more : {submit_routes(context), look_routes(context), change_routes(context)}) {
    for (Route& route : more) routes.push_back(std::move(route));
  }
  return routes;
}

}  // namespace pawl::admin
