#include "cli/queue_verbs.h"

#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "cli/progress.h"
#include "cli/queue_ask.h"
#include "cli/queue_common.h"
#include "cli/words.h"
#include "core/queue/task_json.h"
#include "core/queue/view_json.h"

namespace pawl::cli {
namespace {

using queue::Task;
using queue::TaskId;

Result<Task> found(QueueSession& session, TaskId id) {
  return session.ask<Task>([&](TaskQueue& queue, auto done) { queue.find(id, std::move(done)); });
}

Result<int> get(QueueSession& session, const Arguments& arguments) {
  const TaskId id = PAWL_TRY(id_of(arguments.value("ID"), "get"));
  const Task task = PAWL_TRY(found(session, id));
  print(arguments.has("--json") ? lined(to_json(task)) : to_lines(task));
  return 0;
}

Result<int> history(QueueSession& session, const Arguments& arguments) {
  const TaskId id = PAWL_TRY(id_of(arguments.value("ID"), "history"));
  const queue::History history = PAWL_TRY(history_of(session, id));
  print(arguments.has("--json") ? lined(to_json(history)) : history_text(history));
  return 0;
}

Result<int> why(QueueSession& session, const Arguments& arguments) {
  const TaskId id = PAWL_TRY(id_of(arguments.value("ID"), "why"));
  const queue::Why why = PAWL_TRY(session.ask<queue::Why>(
      [&](TaskQueue& queue, auto done) { queue.why(id, std::move(done)); }));
  const Task task = PAWL_TRY(found(session, id));
  const std::string text = why_text(task, why, shown_now(session));
  if (arguments.has("--json")) {
    json::Object object = *to_json(why).if_object();
    object.emplace("status", to_string(task.status));
    object.emplace("text", text.substr(0, text.size() - 1));
    print(lined(std::move(object)));
  } else {
    print(text);
  }
  return 0;
}

// The same once more, but for where it begins.
std::string again(const Arguments& arguments) {
  std::string command = "pawl list";
  for (const char* name : {"--config", "--status", "--type", "--key", "--limit", "--prefix"}) {
    if (!arguments.has(name)) continue;
    command.append(" ").append(name).append(" ").append(shell_word(arguments.value(name)));
  }
  for (const char* name : {"--ids", "--json"}) {
    if (arguments.has(name)) command.append(" ").append(name);
  }
  return command;
}

Result<int> list(QueueSession& session, const Arguments& arguments) {
  const ListAsked asked = PAWL_TRY(list_of(arguments, "list"));
  const bool ids_alone = arguments.has("--ids") && !arguments.has("--json");
  std::vector<Task> tasks;
  std::size_t count = 0;
  std::string last;
  bool more = false;
  const auto take = [&](const Task& task) -> Result<bool> {
    std::string id = to_string(task.id);
    if (!id.starts_with(asked.prefix)) return false;
    more = asked.limit && count == *asked.limit;
    if (more) return false;
    ++count;
    if (ids_alone) {  // of any number
      print(id + "\n");
    } else {
      tasks.push_back(task);
    }
    last = std::move(id);
    return true;
  };
  // One more than is wanted says whether there is more.
  PAWL_TRY(
      each_task(session, asked.filter, take, asked.limit.value_or(bounds::tasks_listed_max) + 1));
  if (arguments.has("--json")) {
    json::Array all;
    for (const Task& task : tasks) all.push_back(to_json(task));
    print(lined(json::Object{{"tasks", std::move(all)}, {"more", more}}));
  } else if (!ids_alone) {
    print(tasks_text(tasks, shown_now(session)));
  }
  if (more) complain("there are more: " + again(arguments) + " --after " + last);
  return 0;
}

// What happened to tasks since it was looked last. Clocks of shards differ a little, so it looks
// back some seconds, and knows what it has told.
class Tail {
 public:
  Tail(QueueSession& session, const Arguments& arguments, Instant since)
      : session_(session),
        json_(arguments.has("--json")),
        since_(since),
        last_(since),
        forgotten_(since) {
    filter_.type = arguments.has("--type") ? arguments.value("--type") : "";
    filter_.key = arguments.has("--key") ? arguments.value("--key") : "";
    if (arguments.has("--status")) status_ = queue::status_of(arguments.value("--status"));
  }

  Result<void> look() {
    constexpr Duration back = Duration::seconds(10);
    filter_.updated_after = std::max(since_, last_ - back);
    std::vector<Event> events;
    PAWL_TRY(each_task(session_, filter_, [&](const Task& task) -> Result<bool> {
      auto history = history_of(session_, task.id);
      if (!history && history.error().code == Code::not_found) return true;  // gone meanwhile
      if (!history) return std::unexpected(history.error());
      take(task, *history, events);
      return true;
    }));
    std::ranges::sort(events, {}, [](const Event& event) {
      return std::tuple(event.version.at, event.task.id, event.number);
    });
    for (const Event& event : events) tell(event);
    std::fflush(stdout);
    // Whoever is forgotten was told of up to there.
    forgotten_ = std::max(since_, last_ - back - back);
    std::erase_if(told_, [&](const auto& each) { return each.second.at <= forgotten_; });
    return {};
  }

 private:
  struct Event {
    Task task;
    queue::Version version;
    std::size_t number;
  };
  struct ToldOf {
    std::size_t versions = 0;
    Instant at = {};
  };

  void take(const Task& task, const queue::History& history, std::vector<Event>& events) {
    ToldOf& told = told_[task.id];
    for (std::size_t i = 0; i < history.versions.size(); ++i) {
      const std::size_t number = version_number(history, i);
      const queue::Version& version = history.versions[i];
      if (number <= told.versions || version.at <= forgotten_) continue;
      told.versions = number;
      if (!status_ || version.status == *status_) events.push_back({task, version, number});
    }
    told.at = task.updated_at;
    last_ = std::max(last_, task.updated_at);
  }
  void tell(const Event& event) const {
    if (!json_) {
      print(event_text(event.task, event.version, shown_now(session_).colour));
      return;
    }
    const queue::Version& version = event.version;
    print(lined(json::Object{{"at", to_string(version.at)},
                             {"id", to_string(event.task.id)},
                             {"task_type", event.task.terms.type},
                             {"key", json::text_or_null(event.task.terms.key)},
                             {"version", event.number},
                             {"status", to_string(version.status)},
                             {"reason", to_string(version.reason)},
                             {"worker_id", json::text_or_null(version.worker)},
                             {"detail", json::text_or_null(version.detail)}}));
  }

  QueueSession& session_;
  const bool json_;
  const Instant since_;
  Instant last_;
  Instant forgotten_;
  queue::TaskFilter filter_;
  std::optional<queue::Status> status_;
  std::map<TaskId, ToldOf> told_;
};

Result<int> tail(QueueSession& session, const Arguments& arguments) {
  const auto back = PAWL_TRY(duration_of(arguments, "--since", "tail"));
  const auto length = PAWL_TRY(duration_of(arguments, "--for", "tail"));
  const SteadyInstant end = length ? session.clock().steady_now() + *length : SteadyInstant::max();
  Tail tail(session, arguments, session.now() - back.value_or(Duration()));
  constexpr auto between_looks = std::chrono::milliseconds(300);
  while (true) {
    PAWL_TRY(tail.look());
    if (session.clock().steady_now() >= end) return 0;
    std::this_thread::sleep_for(between_looks);
  }
}

// Ids that were named, or those of all tasks of a type that are not over.
Result<std::vector<TaskId>> to_be_cancelled(QueueSession& session, const Arguments& arguments) {
  const std::vector<std::string>& named = arguments.values("ID");
  if (named.empty() == !arguments.has("--type")) {
    return std::unexpected(usage_error("cancel", "give some IDs, or --type TYPE"));
  }
  std::vector<TaskId> ids;
  for (const std::string& text : named) ids.push_back(PAWL_TRY(id_of(text, "cancel")));
  if (!named.empty()) return ids;
  for (const queue::Status status : {queue::Status::pending, queue::Status::running}) {
    PAWL_TRY(each_task(session, {.status = status, .type = arguments.value("--type")},
                       [&](const Task& task) -> Result<bool> {
                         ids.push_back(task.id);
                         return true;
                       }));
  }
  if (ids.empty()) {
    complain("pawl: no task of the type '" + arguments.value("--type") + "' waits or runs");
  }
  return ids;
}

// What is done to each of some tasks, and how it is told.
struct Deed {
  std::string_view done;  // of the bar: "cancelled"
  std::function<queue::Command(TaskId)> command;
  std::function<std::string_view(queue::Status)> text;  // of what it is now
};

Result<int> do_to_each(QueueSession& session, const std::vector<TaskId>& ids, const Deed& deed,
                       bool as_json) {
  int code = 0;
  json::Array all;
  Progress progress(std::string(deed.done), ids.size(), session.clock());
  constexpr std::size_t batch = 1'000;
  for (std::size_t first = 0; first < ids.size(); first += batch) {
    const std::size_t end = std::min(first + batch, ids.size());
    std::vector<queue::Command> commands;
    for (std::size_t i = first; i < end; ++i) commands.push_back(deed.command(ids[i]));
    const auto replies = PAWL_TRY(session.give(std::move(commands)));
    for (std::size_t i = first; i < end; ++i) {
      const std::string id = to_string(ids[i]);
      if (const auto* refusal = std::get_if<queue::Refusal>(&replies[i - first])) {
        complain("pawl: " + refusal->message);
        all.push_back(json::Object{{"id", id}, {"error", refusal->message}});
        code = worst_of(code, static_cast<int>(refusal->code));
        continue;
      }
      const auto& changed = std::get<queue::Changed>(replies[i - first]);
      all.push_back(json::Object{{"id", id}, {"status", to_string(changed.status)}});
      if (!as_json) print(id + "  " + std::string(deed.text(changed.status)) + "\n");
    }
    if (ids.size() > batch) progress.show(end);
  }
  if (as_json) print(lined(json::Object{{"tasks", std::move(all)}}));
  return code;
}

Result<int> cancel(QueueSession& session, const Arguments& arguments) {
  const std::vector<TaskId> ids = PAWL_TRY(to_be_cancelled(session, arguments));
  const std::string why = arguments.has("--reason") ? arguments.value("--reason") : "";
  const Deed deed{.done = "cancelled",
                  .command = [&](TaskId id) -> queue::Command {
                    return queue::Cancel{.id = id, .by = who(), .why = why};
                  },
                  .text = [](queue::Status status) -> std::string_view {
                    return status == queue::Status::running ? "runs; it was asked to stop"
                                                            : "cancelled";
                  }};
  return do_to_each(session, ids, deed, arguments.has("--json"));
}

Result<int> replay_tasks(QueueSession& session, const Arguments& arguments) {
  std::vector<TaskId> ids;
  for (const std::string& text : arguments.values("FILE")) {
    ids.push_back(PAWL_TRY(id_of(text, "replay")));
  }
  const Deed deed{
      .done = "begun again",
      .command = [](TaskId id) -> queue::Command { return queue::Replay{.id = id}; },
      .text = [](queue::Status) -> std::string_view { return "pending again, from the start"; }};
  return do_to_each(session, ids, deed, arguments.has("--json"));
}

}  // namespace

int task_get(const Arguments& arguments) {
  return run_queue_verb(arguments, Opens::look, get);
}

int task_history(const Arguments& arguments) {
  return run_queue_verb(arguments, Opens::look, history);
}

int task_why(const Arguments& arguments) {
  return run_queue_verb(arguments, Opens::look, why);
}

int task_list(const Arguments& arguments) {
  return run_queue_verb(arguments, Opens::look, list);
}

int task_tail(const Arguments& arguments) {
  return run_queue_verb(arguments, Opens::follow, tail);
}

int task_cancel(const Arguments& arguments) {
  return run_queue_verb(arguments, Opens::change, cancel);
}

int task_replay(const Arguments& arguments) {
  return run_queue_verb(arguments, Opens::change, replay_tasks);
}

}  // namespace pawl::cli
