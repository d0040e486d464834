#include "cli/work_metrics.h"

#include "base/assert.h"

namespace pawl::cli {
namespace {

using How = TaskAttemptEnd::How;

// From a second to a week: how long a task puts itself off.
constexpr double delay_seconds[] = {1, 5, 10, 30, 60, 300, 900, 3'600, 21'600, 86'400, 604'800};
// From a hundredth of a second to a quarter of an hour.
constexpr double attempt_seconds[] = {0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900};

}  // namespace

WorkMetrics::WorkMetrics(metrics::Registry& registry, std::span<const std::string> types)
    : names_(metrics::LabelSet::from_configuration(types)),
      running_(registry.gauge("pawl_tasks_running", "Tasks that are being handled here.")) {
  const metrics::LabelSet ends = {"completed", "retried",   "rescheduled", "failed",
                                  "cancelled", "timed_out", "given_back",  "refused"};
  for (const std::string& type : types) {
    const metrics::Label label{"task_type", names_.value(type)};
    OfType made{.claimed = &registry.counter("pawl_tasks_claimed_total", "Tasks claimed.", {label}),
                .ended = {},
                .rescheduled = &registry.counter("pawl_tasks_rescheduled_total",
                                                 "Tasks that put themselves off.", {label}),
                .delay = &registry.histogram("pawl_reschedule_delay_seconds",
                                             "By how much tasks put themselves off.", delay_seconds,
                                             {label}),
                .took = &registry.histogram("pawl_task_attempt_seconds", "How long attempts took.",
                                            attempt_seconds, {label})};
    for (std::size_t how = 0; how < hows; ++how) {
      made.ended[how] =
          &registry.counter("pawl_task_attempts_total", "Attempts that ended, by how.",
                            {label, {"how", ends.value(to_string(static_cast<How>(how)))}});
    }
    types_.emplace(type, made);
  }
}

// Nothing but what was asked for is ever claimed.
WorkMetrics::OfType& WorkMetrics::of(const queue::Task& task) {
  const auto found = types_.find(task.terms.type);
  PAWL_ASSERT(found != types_.end());
  return found->second;
}

void WorkMetrics::claimed(const queue::Task& task) {
  of(task).claimed->add();
  running_.add(1);
}

void WorkMetrics::ended(const TaskAttemptEnd& end) {
  OfType& type = of(end.task);
  type.ended[static_cast<std::size_t>(end.how)]->add();
  type.took->observe(end.took.seconds());
  running_.add(-1);
  if (end.how != How::rescheduled) return;
  type.rescheduled->add();
  type.delay->observe(end.delay.seconds());
}

}  // namespace pawl::cli
