// Goal: the numbers of a worker are those that the queue's documents name.
// Method: ends of attempts, and the text that Prometheus would read.
#include "cli/work_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pawl::cli {
namespace {

using ::testing::HasSubstr;
using How = TaskAttemptEnd::How;

TEST(WorkMetrics, CountsByTypeAndEnd) {
  metrics::Registry registry;
  const std::vector<std::string> types = {"mail", "call_api"};
  WorkMetrics numbers(registry, types);
  queue::Task task;
  task.terms.type = "call_api";
  for (int i = 0; i < 3; ++i) numbers.claimed(task);
  numbers.ended({.how = How::completed, .task = task, .took = Duration::seconds(2)});
  numbers.ended({.how = How::rescheduled, .task = task, .delay = Duration::seconds(60)});
  const std::string text = registry.text();
  for (const char* line :
       {"pawl_tasks_claimed_total{task_type=\"call_api\"} 3",
        "pawl_tasks_claimed_total{task_type=\"mail\"} 0",
        "pawl_tasks_rescheduled_total{task_type=\"call_api\"} 1",
        "pawl_reschedule_delay_seconds_sum{task_type=\"call_api\"} 60",
        "pawl_reschedule_delay_seconds_count{task_type=\"call_api\"} 1",
        "pawl_task_attempt_seconds_count{task_type=\"call_api\"} 2", "pawl_tasks_running 1"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text,
              ::testing::ContainsRegex("pawl_task_attempts_total\\{[^}]*completed[^}]*\\} 1"));
}

}  // namespace
}  // namespace pawl::cli
