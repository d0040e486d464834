#include "cli/queue_text.h"

#include <algorithm>
#include <utility>

#include "base/bounds_queue.h"
#include "cli/table.h"
#include "cli/words.h"
#include "core/queue/task_json.h"
#include "core/queue/view_json.h"

namespace pawl::cli {

using queue::Hold;
using queue::Status;
using queue::Task;

namespace {

constexpr std::size_t seconds_chars = 19;  // of an instant, without what comes after its seconds
constexpr std::size_t error_chars_max = 60;

std::string to_the_second(Instant instant) {
  return to_string(instant).substr(0, seconds_chars) + "Z";
}

// "2026-03-04T12:00:00Z (in 5m)"
std::string moment(Instant at, Instant now) {
  const Duration away = at - now;
  return to_the_second(at) +
         (away >= Duration() ? " (in " + about(away) + ")" : " (" + about(-away) + " ago)");
}

std::string short_error(const std::string& error) {
  return shortened(sentence(error), error_chars_max);
}

// When it is due, ends its lease, or ended.
std::string when_of(const Task& task, Instant now) {
  if (task.status == Status::pending) {
    return task.available_at > now ? "in " + about(task.available_at - now)
                                   : "due " + about(now - task.available_at);
  }
  if (task.status == Status::running && task.lease_expires_at) {
    const Duration left = *task.lease_expires_at - now;
    return left >= Duration() ? "lease " + about(left) : "lease ended " + about(-left) + " ago";
  }
  return about(now - task.updated_at) + " ago";
}

std::string why_waits(const Task& task, const queue::Why& why) {
  std::string text = "it is due, and may be claimed";
  if (why.ahead > 0) {
    text += "; " + std::to_string(why.ahead) + " of its type " + (why.ahead == 1 ? "is" : "are") +
            " before it";
  }
  if (why.worker.empty()) {
    return text + "\nno worker has claimed this type: start one, as in: pawl work -t " +
           word(task.terms.type) + " --exec CMD\n";
  }
  return text + "\nthe last worker that claimed this type is " + word(why.worker) +
         ": it is busy, or gone\n";
}

std::string why_not_due(const Task& task, const queue::Why& why, Instant now) {
  std::string text = "it is not due before " + moment(why.until.value_or(task.available_at), now);
  if (!task.last_error.empty() && task.retry_count > 0) {
    text += "\nit is retried (" + std::to_string(task.retry_count) + " of " +
            std::to_string(task.terms.max_retries) + "): " + short_error(task.last_error);
  } else if (task.reschedule_count > 0) {
    text += "\nit was rescheduled, " + counted(task.reschedule_count, "time");
  }
  return text + "\n";
}

std::string why_running(const Task& task, const queue::Why& why, Instant now) {
  const Instant until = why.until.value_or(Instant());
  const std::string holder = word(why.worker), fence = "with fence " + std::to_string(task.fence);
  std::string text =
      until >= now
          ? "it runs: " + holder + " has it, " + fence + "; its lease ends at " + moment(until, now)
          : "the lease of " + holder + ", " + fence + ", ended at " + moment(until, now) +
                ": whoever claims next ends the attempt";
  if (task.cancel_requested) text += "\nit was asked to stop";
  return text + "\n";
}

std::string oldest_text(const std::optional<Instant>& oldest, Instant now) {
  return oldest ? about(std::max(now - *oldest, Duration())) : "-";
}

std::vector<std::string> depth_row(const std::string& name, const queue::Depth& depth,
                                   Instant now) {
  return {name,
          std::to_string(depth.pending),
          std::to_string(depth.due),
          std::to_string(depth.running),
          std::to_string(depth.completed),
          std::to_string(depth.failed),
          std::to_string(depth.cancelled),
          std::to_string(depth.expired),
          oldest_text(depth.oldest_due, now)};
}

}  // namespace

std::string_view colour_of(Status status) {
  switch (status) {
    case Status::completed:
      return green;
    case Status::failed:
    case Status::expired:
      return red;
    case Status::running:
      return yellow;
    case Status::pending:
    case Status::cancelled:
      return {};
  }
  __builtin_unreachable();
}

std::string counted(std::uint64_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

std::string tasks_text(std::span<const Task> tasks, const Shown& shown) {
  std::vector<std::vector<std::string>> rows = {
      {"id", "type", "status", "key", "attempt", "when", "created", "last error"}};
  for (const Task& task : tasks) {
    rows.push_back({to_string(task.id), word(task.terms.type), std::string(to_string(task.status)),
                    word(task.terms.key), std::to_string(task.attempt), when_of(task, shown.now),
                    to_the_second(task.created_at), short_error(task.last_error)});
  }
  constexpr std::size_t status_column = 2;
  return table(rows, "llllrlll", [&](std::size_t row, std::size_t column) -> std::string_view {
    if (!shown.colour || row == 0 || column != status_column) return {};
    return colour_of(tasks[row - 1].status);
  });
}

std::string history_text(const queue::History& history) {
  std::string out;
  for (std::size_t i = 0; i < history.versions.size(); ++i) {
    if (i == bounds::task_versions_max / 2 && history.left_out > 0) {
      out += "(" + std::to_string(history.left_out) + " versions were left out)\n";
    }
    out += sentence(to_string(history.versions[i], version_number(history, i))) + "\n";
  }
  return out;
}

std::string scope_text(queue::Scope scope, std::string_view name) {
  return scope == queue::Scope::queue ? "the queue"
                                      : std::string(to_string(scope)) + " " + word(name);
}

std::string why_text(const Task& task, const queue::Why& why, const Shown& shown) {
  const auto until = [&] { return moment(why.until.value_or(Instant()), shown.now); };
  switch (why.hold) {
    case Hold::is_over:
      return "it is over: " + std::string(to_string(task.status)) +
             (task.completed_at ? " at " + moment(*task.completed_at, shown.now) : "") +
             (task.last_error.empty() || task.status == Status::completed
                  ? ""
                  : "\nlast error: " + sentence(task.last_error)) +
             "\n";
    case Hold::running:
      return why_running(task, why, shown.now);
    case Hold::not_due:
      return why_not_due(task, why, shown.now);
    case Hold::closed:
      return scope_text(why.scope, why.name) + " is closed until " + until() +
             "\nto open it now: pawl open " +
             (why.scope == queue::Scope::queue  ? "--queue"
              : why.scope == queue::Scope::type ? "--type " + word(why.name)
                                                : word(why.name)) +
             "\n";
    case Hold::rate:
      return "it is limited: the rate of " + scope_text(why.scope, why.name) +
             " lets no more through before " + until() + "\n";
    case Hold::concurrency:
      return "it is limited: of " + scope_text(why.scope, why.name) +
             " as many run as may at once; it waits for one to end\n";
    case Hold::waits:
      return why_waits(task, why);
  }
  __builtin_unreachable();
}

std::string event_text(const Task& task, const queue::Version& version, bool colour) {
  std::string out = to_string(version.at) + "  " + to_string(task.id) + "  " +
                    word(task.terms.type) + "  " +
                    painted(to_string(version.status), colour_of(version.status), colour) + "  " +
                    std::string(to_string(version.reason));
  if (!version.worker.empty()) out += " by " + word(version.worker);
  if (version.delay > Duration()) out += " for " + about(version.delay);
  if (!version.detail.empty()) out += ": " + short_error(version.detail);
  return out + "\n";
}

std::string schedules_text(std::span<const queue::Schedule> schedules, const Shown& shown) {
  if (schedules.empty()) return "there are no schedules\n";
  std::vector<std::vector<std::string>> rows = {
      {"name", "cron", "zone", "type", "key", "next", "last"}};
  for (const queue::Schedule& each : schedules) {
    rows.push_back({word(each.set.name), sentence(each.set.cron),
                    each.set.zone.empty() ? "UTC" : word(each.set.zone), word(each.set.terms.type),
                    word(each.set.terms.key),
                    each.set.enabled ? moment(each.next, shown.now) : "disabled",
                    each.last ? to_the_second(*each.last) : "-"});
  }
  return table(rows, "lllllll");
}

std::string limited_text(const queue::SetLimit& limit) {
  switch (limit.limited) {
    case queue::Limited::queue:
      return "the queue";
    case queue::Limited::type:
      return "type " + word(limit.name);
    case queue::Limited::key:
      return "key " + word(limit.name);
    case queue::Limited::each_key:
      return "each key";
  }
  __builtin_unreachable();
}

std::string limits_text(std::span<const queue::SetLimit> limits) {
  if (limits.empty()) return "there are no limits\n";
  std::vector<std::vector<std::string>> rows = {{"limited", "rate", "running"}};
  for (const queue::SetLimit& each : limits) {
    rows.push_back({limited_text(each),
                    each.rate > 0 ? std::to_string(each.rate) + "/" + to_string(each.period) : "-",
                    each.running > 0 ? std::to_string(each.running) : "-"});
  }
  return table(rows);
}

std::string closings_text(std::span<const queue::Closing> closings, const Shown& shown) {
  std::string out;
  for (const queue::Closing& each : closings) {
    out += scope_text(each.scope, each.name) + " is closed until " + moment(each.until, shown.now) +
           "\n";
  }
  return out;
}

std::string stats_text(const queue::Stats& stats, const Shown& shown) {
  std::vector<std::vector<std::string>> rows = {{"type", "pending", "due", "running", "completed",
                                                 "failed", "cancelled", "expired", "oldest due"}};
  queue::Depth sum;
  for (const queue::Depth& each : stats.types) {
    rows.push_back(depth_row(word(each.type), each, shown.now));
    queue::add(sum, each);
  }
  rows.push_back(depth_row("all", sum, shown.now));
  return table(rows);
}

}  // namespace pawl::cli
