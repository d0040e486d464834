#include "cli/queue_metrics.h"

#include <algorithm>
#include <span>

#include "base/bounds.h"

namespace pawl::cli {
namespace {

// From a second to a week: how long a task puts itself off.
constexpr double delay_seconds[] = {1, 5, 10, 30, 60, 300, 900, 3'600, 21'600, 86'400, 604'800};

metrics::Counter& event(metrics::Registry& registry, metrics::LabelValue name) {
  return registry.counter("pawl_tasks_total", "What became of tasks since the queue was made.",
                          {{"event", name}});
}

std::vector<metrics::Counter*> events_in(metrics::Registry& registry) {
  return {
      &event(registry, "submitted"), &event(registry, "claimed"),   &event(registry, "completed"),
      &event(registry, "failed"),    &event(registry, "retried"),   &event(registry, "rescheduled"),
      &event(registry, "timed_out"), &event(registry, "cancelled"), &event(registry, "expired")};
}

metrics::Counter& request(metrics::Registry& registry, metrics::LabelValue kind) {
  return registry.counter("pawl_queue_requests_total", "Requests to the queue's store, by kind.",
                          {{"kind", kind}});
}

std::array<std::uint64_t, 9> numbers_of(const queue::Totals& totals) {
  return {totals.submitted,   totals.claimed,   totals.completed, totals.failed, totals.retried,
          totals.rescheduled, totals.timed_out, totals.cancelled, totals.expired};
}

// A counter goes forward; where another queue stands now, it waits for it to catch up.
void add(metrics::Counter& counter, std::uint64_t now, std::uint64_t& told) {
  if (now > told) counter.add(now - told);
  told = std::max(now, told);
}

}  // namespace

QueueMetrics::QueueMetrics(metrics::Registry& registry)
    : registry_(registry),
      requests_{&request(registry, "put"), &request(registry, "get"), &request(registry, "list"),
                &request(registry, "delete")},
      commits_(registry.counter("pawl_queue_commits_total", "Commits of this process.")),
      commands_(registry.counter("pawl_queue_commands_total", "Commands in them.")),
      commit_seconds_(registry.gauge("pawl_queue_commit_seconds",
                                     "How long a commit took, of late, on average.")),
      commit_commands_(registry.gauge("pawl_queue_commit_commands",
                                      "Commands of a commit, of late, on average.")) {}

metrics::LabelValue QueueMetrics::label_of(const std::string& type) {
  auto found = names_.find(type);
  if (found == names_.end()) {
    if (names_.size() + 1 >= bounds::metric_label_values_max) return "other";
    auto name = std::make_unique<metrics::LabelSet>(
        metrics::LabelSet::from_configuration(std::span(&type, 1)));
    found = names_.emplace(type, std::move(name)).first;
  }
  return found->second->value(type);
}

QueueMetrics::OfType& QueueMetrics::of(const std::string& type) {
  const metrics::LabelValue name = label_of(type);
  if (const auto found = types_.find(name.text()); found != types_.end()) return found->second;
  const metrics::Label label{"task_type", name};
  const auto tasks = [&](metrics::LabelValue status) {
    return &registry_.gauge("pawl_queue_tasks", "Tasks in the queue, by status.",
                            {label, {"status", status}});
  };
  const OfType made{
      .pending = tasks("pending"),
      .due = &registry_.gauge("pawl_queue_due_tasks", "Pending tasks that are due.", {label}),
      .running = tasks("running"),
      .failed = tasks("failed"),
      .oldest = &registry_.gauge("pawl_queue_oldest_due_seconds",
                                 "For how long the oldest task has been due.", {label})};
  return types_.emplace(name.text(), made).first->second;
}

void QueueMetrics::update_types(const queue::Stats& stats, Instant now) {
  struct Sum {
    std::uint64_t pending = 0, due = 0, running = 0, failed = 0;
    Duration oldest = {};
  };
  std::map<OfType*, Sum> sums;
  for (auto& [name, type] : types_) sums[&type];  // what is gone is none
  for (const queue::Depth& depth : stats.types) {
    Sum& sum = sums[&of(depth.type)];
    sum.pending += depth.pending;
    sum.due += depth.due;
    sum.running += depth.running;
    sum.failed += depth.failed;
    if (depth.oldest_due) sum.oldest = std::max(sum.oldest, now - *depth.oldest_due);
  }
  for (const auto& [type, sum] : sums) {
    type->pending->set(static_cast<double>(sum.pending));
    type->due->set(static_cast<double>(sum.due));
    type->running->set(static_cast<double>(sum.running));
    type->failed->set(static_cast<double>(sum.failed));
    type->oldest->set(sum.oldest.seconds());
  }
}

void QueueMetrics::update(const queue::Stats& stats, const QueueView& view, Instant now) {
  update_types(stats, now);
  // Not before they are known: who reads the metrics would take the first numbers for a leap.
  if (events_.empty()) events_ = events_in(registry_);
  const auto totals = numbers_of(stats.totals);
  for (std::size_t i = 0; i < totals.size(); ++i) add(*events_[i], totals[i], events_told_[i]);
  const std::array<std::uint64_t, request_kinds> requests = {
      view.requests.puts, view.requests.gets, view.requests.lists, view.requests.deletes};
  for (std::size_t i = 0; i < requests.size(); ++i) {
    add(*requests_[i], requests[i], requests_told_[i]);
  }
  const std::uint64_t commits = view.commits - std::min(view.commits, told_.commits);
  if (commits > 0) {
    const auto count = static_cast<double>(commits);
    commit_seconds_.set((view.commit_time - told_.commit_time).seconds() / count);
    commit_commands_.set(static_cast<double>(view.commands - told_.commands) / count);
  }
  add(commits_, view.commits, told_.commits);
  add(commands_, view.commands, told_.commands);
  told_.commit_time = view.commit_time;
}

void QueueMetrics::rescheduled(const std::string& type, Duration delay) {
  const metrics::Label label{"task_type", label_of(type)};
  registry_.counter("pawl_tasks_rescheduled_total", "Tasks that put themselves off.", {label})
      .add();
  registry_
      .histogram("pawl_reschedule_delay_seconds", "By how much tasks put themselves off.",
                 delay_seconds, {label})
      .observe(delay.seconds());
}

}  // namespace pawl::cli
