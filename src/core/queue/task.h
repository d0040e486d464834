// Task: a piece of work that can sleep, as the queue's users see it.
//
//   pending ─claim─▶ running ─complete─▶ completed
//      ▲ ▲             │  │ ├─fail (no retry left, permanent)──────▶ failed ─replay─▶ pending
//      │ └──retry──────┘  │ └─cancelled while it ran───────────────▶ cancelled
//      └────reschedule────┘
//   pending ─cancel─▶ cancelled        pending ─its time to live is over─▶ expired
//
// Retries ("something went wrong") and reschedules ("not now") are counted apart, and neither
// touches the other: a reschedule does not lengthen the next backoff, a retry uses no reschedule.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::queue {

// Twelve bytes: the shard, and eleven of randomness. As text 24 hexadecimal digits.
struct TaskId {
  std::array<std::uint8_t, 12> bytes = {};
  std::uint8_t shard() const { return bytes[0]; }
  auto operator<=>(const TaskId&) const = default;
};
std::string to_string(const TaskId& id);
Result<TaskId> parse_task_id(std::string_view text);

enum class Status : std::uint8_t { pending = 1, running, completed, failed, cancelled, expired };
std::string_view to_string(Status status);
std::optional<Status> status_of(std::string_view name);
constexpr bool is_over(Status status) {
  return status != Status::pending && status != Status::running;
}

// How long to wait before a retry: base · multiplierⁿ ± jitter, at most max; or a table, whose last
// entry repeats. Whole numbers, so that every machine reckons the same (core/retry/backoff.h).
struct RetryRule {
  Duration base_delay = Duration::seconds(1);
  Duration max_delay = Duration::seconds(60);
  std::int64_t multiplier_milli = 2000;
  std::int64_t jitter_milli = 250;
  std::vector<Duration> delays = {};
  bool operator==(const RetryRule&) const = default;
};

// What a task is told at its submission, and keeps.
struct TaskTerms {
  std::string type = {};
  std::string input = {};     // JSON text
  std::string key = {};       // what limits and closings go by; empty: none
  std::string unique = {};    // at most one task of this name among those of its key; empty: any
  std::int32_t priority = 0;  // higher first
  std::uint32_t max_retries = 3;
  std::optional<std::uint32_t> max_reschedules = {};  // none: unlimited
  Duration timeout = Duration::seconds(300);          // of one attempt
  RetryRule retry = {};
  bool operator==(const TaskTerms&) const = default;
};

// What ends at an instant is stopped so long before it, as that takes its time too.
inline Duration margin_of(Duration time) {
  return std::min(time / 10, Duration::seconds(1));
}
// So long may a claim be held: an attempt has its timeout, and is stopped behind it, before another
// may begin.
inline Duration held_most(Duration timeout) {
  return timeout + margin_of(timeout);
}

// All of a task, as `pawl get` shows it.
struct Task {
  TaskId id = {};
  TaskTerms terms = {};
  Status status = Status::pending;
  std::uint32_t attempt = 0;  // claims so far
  std::uint32_t retry_count = 0;
  std::uint32_t reschedule_count = 0;
  std::uint32_t replay_count = 0;
  Instant created_at = {};
  Instant available_at = {};
  Instant updated_at = {};
  std::optional<Instant> expires_at = {};
  std::optional<Instant> lease_expires_at = {};  // while it runs
  std::optional<Instant> completed_at = {};      // of any end
  std::uint64_t fence = 0;  // of the last claim: the sequence of the segment that has it
  std::string worker = {};  // of the last claim
  std::string output = {};  // JSON text, when completed
  std::string last_error = {};
  bool cancel_requested = false;
  std::string cancelled_by = {};  // and why, in its words
  bool operator==(const Task&) const = default;
};

// One version of a task: what it became, when and why.
enum class Reason : std::uint8_t {
  created = 1,
  claimed,
  completed,
  retried,      // detail: the error
  rescheduled,  // detail: what of its scope could not be closed
  timed_out,    // the lease ended; retried
  failed,       // detail: the error
  cancelled,
  expired,
  replayed,
  cancel_asked,  // while it runs
};
std::string_view to_string(Reason reason);
std::optional<Reason> reason_of(std::string_view name);
struct Version {
  Instant at = {};
  Status status = Status::pending;
  Reason reason = Reason::created;
  std::string worker = {};  // claimed
  Duration delay = {};      // rescheduled, retried
  std::uint32_t count = 0;  // of reschedules, or of retries
  std::string detail = {};  // error, or who cancelled
  bool operator==(const Version&) const = default;
};
struct History {
  std::vector<Version> versions = {};  // oldest first
  std::uint32_t left_out = 0;          // in the middle, behind the first half
  bool operator==(const History&) const = default;
};
// The seed's form, one line, without an end of line: "Version 3: pending (rescheduled,
// available_at: +60s, count: 1)".
std::string to_string(const Version& version, std::size_t number);

}  // namespace pawl::queue
