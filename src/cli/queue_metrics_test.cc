// Goal: what Prometheus reads of a queue is what it is, and no program can make it grow without
//       bound. Method: stats as the test makes them, and the text of the registry.
#include "cli/queue_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bounds.h"

namespace pawl::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class QueueMetricsTest : public ::testing::Test {
 protected:
  void update(const queue::Stats& stats, const QueueView& view = {}) {
    numbers.update(stats, view, now);
  }

  const Instant now = Instant::from_ns(1'700'000'000'000'000'000);
  metrics::Registry registry;
  QueueMetrics numbers{registry};
};

TEST_F(QueueMetricsTest, ShowHowFullAQueueIs) {
  update({.types = {{.type = "mail",
                     .pending = 5,
                     .due = 3,
                     .running = 2,
                     .failed = 1,
                     .oldest_due = now - Duration::seconds(90)}}});
  EXPECT_THAT(registry.text(),
              AllOf(HasSubstr("pawl_queue_tasks{status=\"pending\",task_type=\"mail\"} 5"),
                    HasSubstr("pawl_queue_due_tasks{task_type=\"mail\"} 3"),
                    HasSubstr("pawl_queue_tasks{status=\"running\",task_type=\"mail\"} 2"),
                    HasSubstr("pawl_queue_oldest_due_seconds{task_type=\"mail\"} 90")));
  update({});
  EXPECT_THAT(registry.text(),
              AllOf(HasSubstr("pawl_queue_tasks{status=\"pending\",task_type=\"mail\"} 0"),
                    HasSubstr("pawl_queue_oldest_due_seconds{task_type=\"mail\"} 0")));
}

TEST_F(QueueMetricsTest, CountWhatHappenedSinceTheLastLook) {
  QueueView view{.requests = {.puts = 4, .gets = 2},
                 .commits = 4,
                 .commands = 40,
                 .commit_time = Duration::seconds(2)};
  update({.totals = {.submitted = 7, .completed = 3}}, view);
  view.commits = 6;
  view.commands = 44;
  view.commit_time = Duration::seconds(3);
  update({.totals = {.submitted = 9, .completed = 3}}, view);
  EXPECT_THAT(
      registry.text(),
      AllOf(HasSubstr("pawl_tasks_total{event=\"submitted\"} 9"),
            HasSubstr("pawl_tasks_total{event=\"completed\"} 3"),
            HasSubstr("pawl_queue_requests_total{kind=\"put\"} 4"),
            HasSubstr("pawl_queue_commits_total 6"), HasSubstr("pawl_queue_commands_total 44"),
            HasSubstr("pawl_queue_commit_seconds 0.5"), HasSubstr("pawl_queue_commit_commands 2")));
}

TEST_F(QueueMetricsTest, CountWhatPutsItselfOff) {
  numbers.rescheduled("mail", Duration::seconds(60));
  EXPECT_THAT(registry.text(),
              AllOf(HasSubstr("pawl_tasks_rescheduled_total{task_type=\"mail\"} 1"),
                    HasSubstr("pawl_reschedule_delay_seconds_sum{task_type=\"mail\"} 60")));
}

TEST_F(QueueMetricsTest, HaveRoomForSoManyTypesAndOneForTheRest) {
  queue::Stats stats;
  for (std::size_t i = 0; i < bounds::metric_label_values_max + 50; ++i) {
    stats.types.push_back({.type = "type" + std::to_string(i), .pending = 1});
  }
  update(stats);
  EXPECT_THAT(registry.text(),
              AllOf(HasSubstr("pawl_queue_tasks{status=\"pending\",task_type=\"type0\"} 1"),
                    Not(HasSubstr("\"type149\"")),
                    HasSubstr("pawl_queue_tasks{status=\"pending\",task_type=\"other\"} 51")));
}

}  // namespace
}  // namespace pawl::cli
