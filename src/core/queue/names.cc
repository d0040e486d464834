// The texts of ids, states, scopes and reasons (task.h, command.h).
#include <algorithm>
#include <span>

#include "base/sha256.h"
#include "base/text.h"
#include "core/queue/command.h"
#include "core/queue/task.h"

namespace pawl::queue {
namespace {

constexpr std::array<std::string_view, 6> status_names = {"pending", "running",   "completed",
                                                          "failed",  "cancelled", "expired"};
constexpr std::array<std::string_view, 4> scope_names = {"task", "key", "type", "queue"};
constexpr std::array<std::string_view, 11> reason_names = {
    "created", "claimed",   "completed", "retried",  "rescheduled", "timed_out",
    "failed",  "cancelled", "expired",   "replayed", "cancel_asked"};

// All of them count from 1.
template <class Enum>
std::string_view name_of(std::span<const std::string_view> names, Enum value) {
  return names[static_cast<std::size_t>(value) - 1];
}

template <class Enum>
std::optional<Enum> value_of(std::span<const std::string_view> names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return {};
  return static_cast<Enum>(found - names.begin() + 1);
}

}  // namespace

std::string to_string(const TaskId& id) {
  return to_hex(id.bytes);
}

Result<TaskId> parse_task_id(std::string_view text) {
  TaskId id;
  bool fits = text.size() == 2 * id.bytes.size();
  for (std::size_t i = 0; fits && i < id.bytes.size(); ++i) {
    const int high = lower_hex_value(text[2 * i]);
    const int low = lower_hex_value(text[2 * i + 1]);
    fits = high >= 0 && low >= 0;
    id.bytes[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  if (fits) return id;
  return failure(Code::invalid, std::string("'")
                                    .append(text.substr(0, 64))
                                    .append("' is not the id of a task: that is 24 digits of 0-9 "
                                            "and a-f, as submit and list print it"));
}

std::string_view to_string(Status status) {
  return name_of(status_names, status);
}

std::optional<Status> status_of(std::string_view name) {
  return value_of<Status>(status_names, name);
}

std::string_view to_string(Scope scope) {
  return name_of(scope_names, scope);
}

std::optional<Scope> scope_of(std::string_view name) {
  return value_of<Scope>(scope_names, name);
}

std::string_view to_string(Reason reason) {
  return name_of(reason_names, reason);
}

std::optional<Reason> reason_of(std::string_view name) {
  return value_of<Reason>(reason_names, name);
}

}  // namespace pawl::queue
