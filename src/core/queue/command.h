// Commands: what is written into the log. What becomes of one is decided where it is applied
// (machine.h), by every reader alike; so a batch that lost its place in the log is simply put
// behind the one that won.
//
// Again:    a submit with an id that is known is answered with that task; what ends or renews a
//           claim names its fence; a schedule that is set as it is stays as it is. So a command of
//           which nobody knows whether it was committed may be given again. But a cancel or replay
//           means the task as it finds it: given again after the other one, it undoes that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/queue/task.h"

namespace pawl::queue {

// What a task that comes from another queue has behind it; it goes on counting from there.
struct Counts {
  std::uint32_t attempts = 0;
  std::uint32_t retries = 0;
  std::uint32_t reschedules = 0;
  bool operator==(const Counts&) const = default;
};
struct Submit {
  TaskId id = {};
  TaskTerms terms = {};
  Duration delay = {};                  // from the time of the commit
  std::optional<Instant> at = {};       // in place of the delay
  Duration time_to_live = {};           // zero: none
  std::optional<Instant> expires = {};  // in place of it
  Counts counts = {};
  bool operator==(const Submit&) const = default;
};
struct Claim {
  std::string worker = {};
  std::vector<std::string> types = {};  // empty: all
  std::uint32_t count = 1;
  Duration lease = Duration::seconds(30);
  bool operator==(const Claim&) const = default;
};
struct Renew {
  TaskId id = {};
  std::uint64_t fence = 0;
  Duration lease = Duration::seconds(30);
  bool operator==(const Renew&) const = default;
};
struct Complete {
  TaskId id = {};
  std::uint64_t fence = 0;
  std::string output = {};
  bool operator==(const Complete&) const = default;
};
struct Fail {
  TaskId id = {};
  std::uint64_t fence = 0;
  std::string error = {};
  bool permanent = false;    // else it is retried, while retries are left
  Duration not_before = {};  // the other side named a wait that a retry must not undercut
  bool operator==(const Fail&) const = default;
};
enum class Scope : std::uint8_t { task = 1, key, type, queue };
std::string_view to_string(Scope scope);
std::optional<Scope> scope_of(std::string_view name);
struct Reschedule {
  TaskId id = {};
  std::uint64_t fence = 0;
  Duration delay = {};
  Scope scope = Scope::task;  // key, type, queue: that is closed for the delay as well
  bool counted = true;        // false: by a worker that ends, which is not the task's doing
  std::string input = {};     // in place of the task's: where it goes on; empty: as it was
  bool operator==(const Reschedule&) const = default;
};
struct Cancel {
  TaskId id = {};
  std::string by = {};
  std::string why = {};
  bool operator==(const Cancel&) const = default;
};
struct Replay {  // of a task that failed, was cancelled or expired: from the start, counters at 0
  TaskId id = {};
  bool operator==(const Replay&) const = default;
};
// Nothing of this scope is claimed before `until`; then what waits is let go evenly over `spread`.
// An `until` that is past opens it.
struct Close {
  Scope scope = Scope::key;  // key, type, queue
  std::string name = {};     // of the key or type
  Instant until = {};
  Duration spread = {};
  bool operator==(const Close&) const = default;
};
// `each_key`: for every key by itself. What is not given is not limited; neither: the limit goes.
enum class Limited : std::uint8_t { queue = 1, type, key, each_key };
struct SetLimit {
  Limited limited = Limited::key;
  std::string name = {};      // of the key or type
  std::uint32_t rate = 0;     // claims …
  Duration period = {};       // … in this time
  std::uint32_t running = 0;  // at once
  bool operator==(const SetLimit&) const = default;
};
struct SetSchedule {
  std::string name = {};
  std::string cron = {};  // five fields, or a name such as @daily; empty: the schedule goes
  std::string zone = {};  // "UTC", "Europe/Zurich"
  TaskTerms terms = {};
  bool enabled = true;
  Instant next = {};  // first firing, reckoned by the writer (cron.h)
  bool operator==(const SetSchedule&) const = default;
};
// Submits the schedule's task if `due` is its next firing; else nothing. So each fires once,
// however many try.
struct Fire {
  std::string name = {};
  Instant due = {};
  Instant next = {};
  TaskId id = {};
  bool operator==(const Fire&) const = default;
};
using Command = std::variant<Submit, Claim, Renew, Complete, Fail, Reschedule, Cancel, Replay,
                             Close, SetLimit, SetSchedule, Fire>;

// What became of a command.
struct Refusal {  // nothing was changed
  Code code = Code::refused;
  std::string message = {};
};
struct Submitted {
  TaskId id = {};  // of the task that there was already, when not `fresh`
  bool fresh = true;
};
struct Claimed {
  std::vector<Task> tasks = {};  // each with its fence and the end of its lease
};
struct Changed {
  Status status = Status::pending;
  Instant available_at = {};      // when it is pending again
  Instant lease_expires_at = {};  // of a renewal
  bool cancel_requested = false;  // the handler should stop
};
using Reply = std::variant<Refusal, Submitted, Claimed, Changed>;

}  // namespace pawl::queue
