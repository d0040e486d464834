#include "runtime/exec_handler.h"

#include <csignal>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "base/bounds_queue.h"
#include "base/json.h"
#include "core/queue/cut.h"
#include "runtime/handler_text.h"

namespace pawl {
namespace {

using Kind = TaskEnding::Kind;

constexpr std::string_view reschedule_form = R"({"delay_seconds":60,"scope":"key"})";

// "SIGKILL"; its number where it has no name.
std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

// The object that standard output is, or ends with; null: there is none.
json::Value last_object(std::string_view output) {
  const auto object = [](std::string_view text) {
    auto value = json::parse(text);
    return value && value->if_object() != nullptr ? *std::move(value) : json::Value();
  };
  json::Value whole = object(output);
  if (!whole.is_null()) return whole;
  const auto end = output.find_last_not_of(" \t\r\n");
  if (end == output.npos) return {};
  output = output.substr(0, end + 1);
  return object(output.substr(output.rfind('\n') + 1));  // npos + 1 is the beginning
}

// What ends a whole group: a terminal's Ctrl-C, a service manager. A shell, and some languages, say
// it by an exit code.
bool is_interruption(const ChildEnd& end) {
  constexpr int shells_word = 128;
  const int signal = end.signal != 0 ? end.signal : end.code - shells_word;
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

TaskEnding not_a_reschedule(const ChildEnd& end, const std::string& wrong) {
  const std::string what =
      "exit 75, but standard output " + wrong + "; it is to be " + std::string(reschedule_form);
  return {.kind = Kind::retry, .error = kept_error(what, end.errors, end.error_bytes)};
}

// With the old input it would do again what is done, and that for ever.
TaskEnding cut_off(const ChildEnd& end) {
  const std::string what = "exit 75, but standard output is longer than " +
                           std::to_string(bounds::task_output_bytes_max) +
                           " bytes, so what it says of the delay and the input was cut off";
  return {.kind = Kind::failed, .error = kept_error(what, end.errors, end.error_bytes)};
}

// It may be no word about the reschedule at all, or one that is misspelled: whoever runs the worker
// is told, and the task is put off all the same.
const std::string* unknown_member(const json::Value& said) {
  const json::Object* object = said.if_object();
  if (object == nullptr) return nullptr;
  for (const auto& [name, value] : *object) {
    if (name != "delay_seconds" && name != "scope" && name != "input") return &name;
  }
  return nullptr;
}

TaskEnding rescheduled(const ChildEnd& end) {
  if (end.output_bytes > end.output.size()) return cut_off(end);
  TaskEnding ending{.kind = Kind::reschedule, .delay = bounds::handler_reschedule};
  const json::Value said = last_object(end.output);
  if (const std::string* unknown = unknown_member(said)) {
    ending.error = "'" + queue::cut(*unknown, 64) +
                   "' on standard output is passed over: it is none of delay_seconds, scope and "
                   "input";
  }
  if (const json::Value* delay = said.find("delay_seconds")) {
    const auto seconds = seconds_of(*delay);
    if (!seconds) {
      return not_a_reschedule(end, "has a delay_seconds that is no number of seconds");
    }
    ending.delay = *seconds;
  }
  if (const json::Value* scope = said.find("scope")) {
    const std::string* name = scope->if_string();
    const auto known = name != nullptr ? queue::scope_of(*name) : std::nullopt;
    if (!known) return not_a_reschedule(end, "has a scope that is not task, key, type or queue");
    ending.scope = *known;
  }
  if (const json::Value* input = said.find("input")) ending.input = json::print(*input);
  return ending;
}

ChildAsk ask_of(const std::string& command, const queue::Task& task) {
  return {.command = command,
          .input = task.terms.input,
          .environment = {{"PAWL_TASK_ID", to_string(task.id)},
                          {"PAWL_TASK_TYPE", task.terms.type},
                          {"PAWL_TASK_KEY", task.terms.key},
                          {"PAWL_ATTEMPT", std::to_string(task.attempt)},
                          {"PAWL_FENCE", std::to_string(task.fence)}},
          .output_bytes_max = bounds::task_output_bytes_max,
          .error_bytes_max = bounds::handler_error_bytes_max};
}

}  // namespace

TaskEnding ending_of(const ChildEnd& end) {
  if (end.signal != 0) {
    return {
        .kind = Kind::retry,
        .error = kept_error("killed by " + signal_name(end.signal), end.errors, end.error_bytes),
        .interrupted = is_interruption(end)};
  }
  if (end.code == 0) {
    KeptOutput kept = kept_output(end.output, end.output_bytes);
    return {.kind = Kind::completed, .output = std::move(kept.json), .error = std::move(kept.cut)};
  }
  if (end.code == exit_reschedule) return rescheduled(end);
  return {.kind = end.code == exit_failed ? Kind::failed : Kind::retry,
          .error = kept_error("exit " + std::to_string(end.code), end.errors, end.error_bytes),
          .interrupted = is_interruption(end)};
}

TaskHandler exec_handler(ChildProcesses& processes, std::string command) {
  return [&processes, command = std::move(command)](
             std::shared_ptr<HandledTask> handled, std::move_only_function<void(TaskEnding)> done) {
    const std::shared_ptr<Child> child = processes.start(
        ask_of(command, handled->task()), [done = std::move(done)](Result<ChildEnd> end) mutable {
          // One that could not be started was not tried: it is not the task that went wrong.
          if (!end) {
            return done({.kind = Kind::reschedule,
                         .error = end.error().message,
                         .delay = bounds::handler_reschedule,
                         .tried = false});
          }
          done(ending_of(*end));
        });
    handled->on_stop([child, weak = std::weak_ptr(handled)] {
      const auto task = weak.lock();
      child->stop(task ? task->stop_grace() : Duration());
    });
  };
}

}  // namespace pawl
