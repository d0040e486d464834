// Goal: a task reads as in the seed, for people and for programs.
// Method: a task by hand in all forms.
#include "core/queue/task_json.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "base/bounds_queue.h"

namespace pawl::queue {
namespace {

Task some_task() {
  Task task;
  task.id.bytes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  task.terms.type = "call_api";
  task.terms.input = R"({"url": "https://example.org/ä", "b":1.10})";
  task.reschedule_count = 5;
  task.created_at = parse_instant("2026-01-27T12:00:00Z").value();
  task.available_at = parse_instant("2026-01-27T12:05:00.000000001Z").value();
  task.updated_at = parse_instant("2026-01-27T12:00:30.25Z").value();
  return task;
}

TEST(TaskJson, HasTheFieldsOfTheSeed) {
  const json::Value value = to_json(some_task());
  EXPECT_EQ(
      json::print(value),
      R"({"attempt":0,"available_at":"2026-01-27T12:05:00.000000001Z","cancel_requested":false,)"
      R"("cancelled_by":null,"completed_at":null,"created_at":"2026-01-27T12:00:00.000Z",)"
      R"("expires_at":null,"fence":0,"id":"000102030405060708090a0b",)"
      R"("input":{"b":1.10,"url":"https://example.org/ä"},"key":null,"last_error":null,)"
      R"("lease_expires_at":null,"max_reschedules":null,"max_retries":3,"output":null,)"
      R"("priority":0,"reschedule_count":5,"retry_count":0,"retry_policy":{"delays_ms":[],)"
      R"("initial_interval_ms":1000,"jitter_percent":0.25,"max_interval_ms":60000,)"
      R"("multiplier":2},"status":"pending","task_type":"call_api","timeout_seconds":300,)"
      R"("unique":null,"updated_at":"2026-01-27T12:00:30.250Z","worker_id":null})");
}

TEST(TaskJson, IsOneFieldALineForPeople) {
  Task task = some_task();
  task.terms.max_reschedules = 100;
  task.terms.input = R"("text")";
  task.last_error = "two\nlines";
  task.worker = "worker-1";
  const std::string lines = to_lines(task);
  EXPECT_TRUE(lines.starts_with(
      "id: 000102030405060708090a0b\ntask_type: call_api\nstatus: pending\ninput: \"text\"\n"
      "output: null\n"))
      << lines;
  for (const char* line :
       {"\nreschedule_count: 5\nmax_reschedules: 100\n",
        "\navailable_at: 2026-01-27T12:05:00.000000001Z\n", "\nlast_error: \"two\\nlines\"\n",
        "\nworker_id: worker-1\n", "\ncancel_requested: false\n", "\ncompleted_at: null\n"}) {
    EXPECT_NE(lines.find(line), std::string::npos) << line << lines;
  }
  EXPECT_EQ(std::ranges::count(lines, '\n'), 26);
}

TEST(TaskJson, TellsTimesExactly) {
  Task task = some_task();
  task.terms.timeout = Duration::nanoseconds(1'500'000'001);
  task.terms.retry.base_delay = Duration::microseconds(20);
  task.terms.retry.delays = {Duration::seconds(20), Duration::minutes(5)};
  const std::string text = json::print(to_json(task));
  EXPECT_NE(text.find(R"("timeout_seconds":1.500000001)"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("initial_interval_ms":0.02)"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("delays_ms":[20000,300000])"), std::string::npos) << text;
}

TEST(TaskJson, AnInputThatIsNoneIsShownAsText) {
  Task task = some_task();
  task.terms.input = "{oops";
  EXPECT_NE(json::print(to_json(task)).find(R"("input":"{oops")"), std::string::npos);
}

TEST(TaskJson, AHistoryCountsWhatWasLeftOut) {
  History history;
  history.versions.resize(bounds::task_versions_max);
  history.left_out = 7;
  EXPECT_EQ(version_number(history, 0), 1U);
  EXPECT_EQ(version_number(history, 4'999), 5'000U);
  EXPECT_EQ(version_number(history, 5'000), 5'008U);
  EXPECT_EQ(version_number(history, 9'999), 10'007U);

  history.versions = {{.at = Instant::from_ns(0), .worker = "w", .delay = Duration::seconds(60)}};
  history.left_out = 0;
  EXPECT_EQ(json::print(to_json(history)),
            R"({"left_out":0,"versions":[{"at":"1970-01-01T00:00:00.000Z","count":0,)"
            R"("delay_seconds":60,"detail":null,"reason":"created","status":"pending",)"
            R"("version":1,"worker_id":"w"}]})");
}

TEST(TaskJson, WhatIsImportedWaitsAsBeforeOrBeginsAnew) {
  Task task = some_task();
  task.expires_at = parse_instant("2026-02-01T00:00:00Z").value();
  const Submit waiting = submit_of(task);
  EXPECT_EQ(waiting.id, task.id);
  EXPECT_EQ(waiting.terms, task.terms);
  EXPECT_EQ(waiting.at, task.available_at);
  EXPECT_EQ(waiting.expires, task.expires_at);
  const Counts counts = {
      .attempts = task.attempt, .retries = task.retry_count, .reschedules = task.reschedule_count};
  EXPECT_NE(counts, Counts());
  EXPECT_EQ(waiting.counts, counts);
  task.status = Status::running;
  EXPECT_EQ(submit_of(task).counts, counts);
  EXPECT_EQ(submit_of(task).at, std::nullopt);
  EXPECT_EQ(submit_of(task).expires, task.expires_at);
  task.status = Status::failed;
  EXPECT_EQ(submit_of(task).at, std::nullopt);
  EXPECT_EQ(submit_of(task).expires, std::nullopt);
  EXPECT_EQ(submit_of(task).counts, Counts());
}

}  // namespace
}  // namespace pawl::queue
