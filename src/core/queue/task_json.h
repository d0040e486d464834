// Tasks and histories for people and other programs: JSON, lines of text, and the lines of an
// export.
//
// Format:   docs/formats.md. Instants are RFC 3339 in UTC, with milliseconds, or with nine digits
//           where they are finer; lengths of time are decimal numbers, exact. What a task does not
//           have is null.
// Contract: parse_export_line(export_line(t)) is t, but that `input` and `output` are as
//           json::print writes them. Parsing is strict: a member that is missing, unknown or out of
//           range is named.
// Threads:  any.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "core/queue/command.h"
#include "core/queue/task.h"
#include "pawl/result.h"

namespace pawl::queue {

// {"id":"…","task_type":"call_api","status":"pending","input":{…},"reschedule_count":5,…}
json::Value to_json(const Task& task);
// {"left_out":0,"versions":[{"version":1,"at":"…","status":"pending","reason":"created",…},…]}
json::Value to_json(const History& history);

// "reschedule_count: 5", one field a line, in the order of the seed; as `pawl get` prints it.
std::string to_lines(const Task& task);

// The number of the version that stands at this place of the history, from 1: it counts those that
// were left out.
std::size_t version_number(const History& history, std::size_t place);

// A task and, where it was asked for, how it got there.
struct Exported {
  Task task = {};
  std::optional<History> history = {};
  bool operator==(const Exported&) const = default;
};
// One line, without its end: the task's JSON, with a member "history" if there is one.
std::string export_line(const Exported& exported);
Result<Exported> parse_export_line(std::string_view line);

// The retry_policy of a task's JSON, of which members may be left out: they are as they are when
// nobody says anything, but that the longest delay is never shorter than the first.
Result<RetryRule> parse_retry_policy(const json::Value& object);

// What gives another queue this task. One that waits goes on waiting there, one that runs is due
// there at once; both keep what they counted. One that is over begins from the start. When it was
// made, its last error and its history stay behind.
Submit submit_of(const Task& task);

}  // namespace pawl::queue
