#include "pawl/queue.h"

#include <cstdlib>
#include <utility>

#include "adapter/system/own_name.h"
#include "base/assert.h"
#include "base/bounds_queue.h"
#include "base/json.h"
#include "core/queue/shards.h"
#include "core/queue/task_json.h"
#include "core/queue/view_json.h"
#include "library/queue_state.h"
#include "library/retry_policy.h"
#include "port/answer_of.h"

namespace pawl {
namespace {

using Replies = std::vector<queue::Reply>;

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

Result<QueueOfficeSettings> settings_of(const QueueOptions& options) {
  if (options.shards > bounds::queue_shards_max) {
    return failure(Code::invalid, "shards is " + std::to_string(options.shards) + ": 1 to " +
                                      std::to_string(bounds::queue_shards_max) + " is allowed");
  }
  QueueOfficeSettings settings{.url = options.url, .makes = options.makes};
  if (options.shards != 0) settings.wanted.shards = options.shards;
  if (options.kept > Duration()) settings.wanted.kept = options.kept;
  return settings;
}

// Whoever reads of a cancel must find the program: a user's name alone says nothing of a service.
std::string who() {
  const std::string user = variable("USER").value_or("");
  return user.empty() ? own_name() : user + " at " + own_name();
}

// As it is printed, so that the same input, written in another way, is the same.
Result<std::string> json_of(std::string_view text) {
  const Result<json::Value> value = json::parse(text);
  if (!value) return failure(Code::invalid, "the input is no JSON: " + value.error().message);
  return json::print(*value);
}

Result<queue::TaskTerms> terms_of(const NewTask& task) {
  const SubmitOptions& options = task.options;
  return queue::TaskTerms{.type = task.type,
                          .input = PAWL_TRY(json_of(task.input)),
                          .key = options.key,
                          .unique = options.unique,
                          .priority = options.priority,
                          .max_retries = options.max_retries,
                          .max_reschedules = options.max_reschedules,
                          .timeout = options.timeout,
                          .retry = {.base_delay = options.retries.base_delay,
                                    .max_delay = options.retries.max_delay,
                                    .multiplier_milli = thousandths(options.retries.multiplier),
                                    .jitter_milli = thousandths(options.retries.jitter),
                                    .delays = options.retries.delays}};
}

Result<queue::Submit> submit_of(const NewTask& task, Entropy& entropy) {
  const SubmitOptions& options = task.options;
  return queue::Submit{.id = options.id.empty() ? queue::make_task_id(entropy.next())
                                                : PAWL_TRY(queue::parse_task_id(options.id)),
                       .terms = PAWL_TRY(terms_of(task)),
                       .delay = options.delay,
                       .at = options.at,
                       .time_to_live = options.time_to_live,
                       .expires = options.expires_at};
}

// A refusal is an error.
template <class Kind>
Result<Kind> reply_as(const queue::Reply& reply) {
  if (const auto* refusal = std::get_if<queue::Refusal>(&reply)) {
    return failure(refusal->code, refusal->message);
  }
  if (const Kind* kind = std::get_if<Kind>(&reply)) return *kind;
  return failure(Code::internal, "the queue answered with something else");
}

// Hands on what `turn` makes of an answer, or its error.
template <class From, class To, class Turn>
auto then(Queue::Done<To> done, Turn turn) {
  return [done = std::move(done), turn = std::move(turn)](Result<From>&& answer) mutable {
    if (!answer) return done(std::unexpected(std::move(answer).error()));
    done(turn(*std::move(answer)));
  };
}

std::vector<queue::Command> only(queue::Command command) {
  std::vector<queue::Command> commands;
  commands.push_back(std::move(command));
  return commands;
}

TaskStatus status_of(queue::Status status) {
  return static_cast<TaskStatus>(status);
}
static_assert(static_cast<int>(TaskStatus::expired) == static_cast<int>(queue::Status::expired));
static_assert(static_cast<int>(TaskScope::queue) == static_cast<int>(queue::Scope::queue));
static_assert(static_cast<int>(TaskWhy::Hold::waits) == static_cast<int>(queue::Hold::waits));

TypeStats stats_of(const queue::Depth& depth) {
  return {.type = depth.type,
          .pending = depth.pending,
          .due = depth.due,
          .running = depth.running,
          .completed = depth.completed,
          .failed = depth.failed,
          .cancelled = depth.cancelled,
          .expired = depth.expired,
          .oldest_due = depth.oldest_due};
}

QueueStats stats_of(const queue::Stats& stats, const QueueView& view) {
  QueueStats out{.submitted = stats.totals.submitted,
                 .completed = stats.totals.completed,
                 .failed = stats.totals.failed,
                 .retried = stats.totals.retried,
                 .rescheduled = stats.totals.rescheduled,
                 .commits = view.commits,
                 .puts = view.requests.puts,
                 .gets = view.requests.gets,
                 .lists = view.requests.lists,
                 .deletes = view.requests.deletes,
                 .store = view.store};
  for (const queue::Depth& depth : stats.types) out.types.push_back(stats_of(depth));
  return out;
}

TaskWhy why_of(const queue::Why& why) {
  return {.hold = static_cast<TaskWhy::Hold>(why.hold),
          .scope = is_scoped(why) ? std::string(to_string(why.scope)) : "",
          .name = why.name,
          .until = why.until,
          .ahead = why.ahead,
          .worker = why.worker};
}

std::vector<TaskVersion> versions_of(const queue::History& history) {
  std::vector<TaskVersion> out;
  for (std::size_t i = 0; i < history.versions.size(); ++i) {
    const queue::Version& version = history.versions[i];
    out.push_back({.at = version.at,
                   .status = status_of(version.status),
                   .text = to_string(version, version_number(history, i))});
  }
  return out;
}

std::vector<TaskInfo> infos_of(const std::vector<queue::Task>& tasks) {
  std::vector<TaskInfo> out;
  for (const queue::Task& task : tasks) out.push_back(library::info_of(task));
  return out;
}

Result<queue::TaskFilter> filter_of(const TaskQuery& query) {
  if (query.limit < 1 || query.limit > bounds::tasks_listed_max) {
    return failure(Code::invalid, "limit is " + std::to_string(query.limit) + "; it must be 1 to " +
                                      std::to_string(bounds::tasks_listed_max) +
                                      ": `after` asks for the next page");
  }
  queue::TaskFilter filter{.type = query.type, .key = query.key, .limit = query.limit};
  if (query.status) filter.status = static_cast<queue::Status>(*query.status);
  if (!query.after.empty()) filter.after = PAWL_TRY(queue::parse_task_id(query.after));
  return filter;
}

Result<SubmittedTask> submitted_of(const queue::Reply& reply) {
  const auto submitted = PAWL_TRY(reply_as<queue::Submitted>(reply));
  return SubmittedTask{.id = to_string(submitted.id), .fresh = submitted.fresh};
}

Result<TaskStatus> changed_to(const Replies& replies) {
  return status_of(PAWL_TRY(reply_as<queue::Changed>(replies.front())).status);
}

}  // namespace

namespace library {

TaskInfo info_of(const queue::Task& task) {
  const queue::TaskTerms& terms = task.terms;
  return {.id = to_string(task.id),
          .type = terms.type,
          .input = terms.input,
          .key = terms.key,
          .unique = terms.unique,
          .status = status_of(task.status),
          .priority = terms.priority,
          .attempt = task.attempt,
          .retry_count = task.retry_count,
          .max_retries = terms.max_retries,
          .reschedule_count = task.reschedule_count,
          .max_reschedules = terms.max_reschedules,
          .timeout = terms.timeout,
          .created_at = task.created_at,
          .available_at = task.available_at,
          .updated_at = task.updated_at,
          .expires_at = task.expires_at,
          .lease_expires_at = task.lease_expires_at,
          .completed_at = task.completed_at,
          .fence = task.fence,
          .worker = task.worker,
          .output = task.output,
          .last_error = task.last_error,
          .cancel_requested = task.cancel_requested,
          .cancelled_by = task.cancelled_by};
}

queue::Scope scope_of(TaskScope scope) {
  return static_cast<queue::Scope>(scope);
}

}  // namespace library

std::string_view to_string(TaskStatus status) {
  return queue::to_string(static_cast<queue::Status>(status));
}

Queue::Queue(std::shared_ptr<State> state) : state_(std::move(state)) {}
Queue::Queue(Queue&& other) noexcept = default;
Queue& Queue::operator=(Queue&& other) noexcept = default;
Queue::~Queue() = default;

Result<Queue> Queue::open(const QueueOptions& options, Clock* clock) noexcept {
  auto state = std::make_shared<State>(clock);
  QueueOffice::Parts parts{
      .clock = state->clock, .entropy = state->entropy, .environment = variable};
  if (options.note) {
    parts.note = [note = options.note](const std::string& text) { note(text); };
  }
  state->office = PAWL_TRY(QueueOffice::open(PAWL_TRY(settings_of(options)), parts));
  return Queue(std::move(state));
}

Result<Queue> Queue::open(std::string_view url, Clock* clock) noexcept {
  return open(QueueOptions{.url = std::string(url)}, clock);
}

void Queue::submit(const NewTask& task, Done<SubmittedTask> done) noexcept {
  PAWL_ASSERT(state_ != nullptr);  // it was moved from
  Result<queue::Submit> submit = submit_of(task, state_->entropy);
  if (!submit) return done(std::unexpected(submit.error()));
  state_->office->queue().give(only(*std::move(submit)),
                               then<Replies>(std::move(done), [](const Replies& replies) {
                                 return submitted_of(replies.front());
                               }));
}

void Queue::submit_many(const std::vector<NewTask>& tasks,
                        Done<std::vector<Result<SubmittedTask>>> done) noexcept {
  PAWL_ASSERT(state_ != nullptr);
  std::vector<Result<SubmittedTask>> out;
  std::vector<queue::Command> commands;
  for (const NewTask& task : tasks) {
    Result<queue::Submit> submit = submit_of(task, state_->entropy);
    if (submit) {
      commands.emplace_back(*std::move(submit));
      out.emplace_back();
    } else {
      out.emplace_back(std::unexpected(submit.error()));
    }
  }
  if (commands.empty()) return done(std::move(out));
  auto told = [out = std::move(out)](const Replies& replies) mutable {
    auto reply = replies.begin();
    for (Result<SubmittedTask>& each : out) {
      if (each) each = submitted_of(*reply++);
    }
    return std::move(out);
  };
  state_->office->queue().give(std::move(commands),
                               then<Replies>(std::move(done), std::move(told)));
}

void Queue::get(std::string_view id, Done<TaskInfo> done) noexcept {
  PAWL_ASSERT(state_ != nullptr);
  const Result<queue::TaskId> known = queue::parse_task_id(id);
  if (!known) return done(std::unexpected(known.error()));
  state_->office->queue().find(*known, then<queue::Task>(std::move(done), library::info_of));
}

void Queue::list(const TaskQuery& query, Done<std::vector<TaskInfo>> done) noexcept {
  PAWL_ASSERT(state_ != nullptr);
  Result<queue::TaskFilter> filter = filter_of(query);
  if (!filter) return done(std::unexpected(filter.error()));
  state_->office->queue().list(*std::move(filter),
                               then<std::vector<queue::Task>>(std::move(done), infos_of));
}

void Queue::history(std::string_view id, Done<std::vector<TaskVersion>> done) noexcept {
  PAWL_ASSERT(state_ != nullptr);
  const Result<queue::TaskId> known = queue::parse_task_id(id);
  if (!known) return done(std::unexpected(known.error()));
  state_->office->queue().history(*known, then<queue::History>(std::move(done), versions_of));
}

void Queue::why(std::string_view id, Done<TaskWhy> done) noexcept {
  PAWL_ASSERT(state_ != nullptr);
  const Result<queue::TaskId> known = queue::parse_task_id(id);
  if (!known) return done(std::unexpected(known.error()));
  state_->office->queue().why(*known, then<queue::Why>(std::move(done), why_of));
}

void Queue::cancel(std::string_view id, std::string_view why, Done<TaskStatus> done) noexcept {
  PAWL_ASSERT(state_ != nullptr);
  const Result<queue::TaskId> known = queue::parse_task_id(id);
  if (!known) return done(std::unexpected(known.error()));
  queue::Cancel cancel{.id = *known, .by = who(), .why = std::string(why)};
  state_->office->queue().give(only(std::move(cancel)), then<Replies>(std::move(done), changed_to));
}

void Queue::replay(std::string_view id, Done<TaskStatus> done) noexcept {
  PAWL_ASSERT(state_ != nullptr);
  const Result<queue::TaskId> known = queue::parse_task_id(id);
  if (!known) return done(std::unexpected(known.error()));
  state_->office->queue().give(only(queue::Replay{.id = *known}),
                               then<Replies>(std::move(done), changed_to));
}

void Queue::close(const ScopeClosing& closing, Done<void> done) noexcept {
  PAWL_ASSERT(state_ != nullptr);
  queue::Close close{.scope = library::scope_of(closing.scope),
                     .name = closing.name,
                     .until = closing.until,
                     .spread = closing.spread};
  const auto taken = [](const Replies& replies) -> Result<void> {
    const auto* refusal = std::get_if<queue::Refusal>(&replies.front());
    if (refusal != nullptr) return failure(refusal->code, refusal->message);
    return {};
  };
  state_->office->queue().give(only(std::move(close)), then<Replies>(std::move(done), taken));
}

Instant Queue::now() const noexcept {
  PAWL_ASSERT(state_ != nullptr);
  return state_->office->queue().view().now;
}

void Queue::stats(Done<QueueStats> done) noexcept {
  PAWL_ASSERT(state_ != nullptr);
  TaskQueue& queue = state_->office->queue();
  queue.stats(then<queue::Stats>(std::move(done), [&queue](const queue::Stats& stats) {
    return stats_of(stats, queue.view());
  }));
}

// ---- for whoever waits

Result<SubmittedTask> Queue::submit(std::string_view type, std::string_view input,
                                    const SubmitOptions& options) noexcept {
  const NewTask task{.type = std::string(type), .input = std::string(input), .options = options};
  return answer_of<SubmittedTask>([&](auto done) { submit(task, std::move(done)); });
}

Result<std::vector<Result<SubmittedTask>>> Queue::submit_many(
    const std::vector<NewTask>& tasks) noexcept {
  return answer_of<std::vector<Result<SubmittedTask>>>(
      [&](auto done) { submit_many(tasks, std::move(done)); });
}

Result<TaskInfo> Queue::get(std::string_view id) noexcept {
  return answer_of<TaskInfo>([&](auto done) { get(id, std::move(done)); });
}

Result<std::vector<TaskInfo>> Queue::list(const TaskQuery& query) noexcept {
  return answer_of<std::vector<TaskInfo>>([&](auto done) { list(query, std::move(done)); });
}

Result<std::vector<TaskVersion>> Queue::history(std::string_view id) noexcept {
  return answer_of<std::vector<TaskVersion>>([&](auto done) { history(id, std::move(done)); });
}

Result<TaskWhy> Queue::why(std::string_view id) noexcept {
  return answer_of<TaskWhy>([&](auto done) { why(id, std::move(done)); });
}

Result<TaskStatus> Queue::cancel(std::string_view id, std::string_view why) noexcept {
  return answer_of<TaskStatus>([&](auto done) { cancel(id, why, std::move(done)); });
}

Result<TaskStatus> Queue::replay(std::string_view id) noexcept {
  return answer_of<TaskStatus>([&](auto done) { replay(id, std::move(done)); });
}

Result<void> Queue::close(const ScopeClosing& closing) noexcept {
  return answer_of<void>([&](auto done) { close(closing, std::move(done)); });
}

Result<QueueStats> Queue::stats() noexcept {
  return answer_of<QueueStats>([&](auto done) { stats(std::move(done)); });
}

}  // namespace pawl
