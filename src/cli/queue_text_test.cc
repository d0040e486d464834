// Goal: people are told in words why a task does not run and what to do, and names that others
//       chose cannot disturb a terminal. Method: pinned texts, one for each reason.
#include "cli/queue_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pawl::cli {
namespace {

using queue::Hold;
using queue::Scope;
using queue::Why;
using ::testing::HasSubstr;
using ::testing::Not;

const Instant noon = parse_instant("2026-03-04T12:00:00Z").value();
const Shown at_noon{.now = noon};

queue::Task task() {
  return {.terms = {.type = "call_api", .input = "{}", .key = "acme"},
          .created_at = noon - Duration::minutes(1),
          .available_at = noon,
          .updated_at = noon};
}

TEST(QueueText, SaysWhyATaskIsNotDue) {
  const Why why{.hold = Hold::not_due, .until = noon + Duration::minutes(5)};
  EXPECT_EQ(why_text(task(), why, at_noon), "it is not due before 2026-03-04T12:05:00Z (in 5m)\n");
  queue::Task retried = task();
  retried.retry_count = 2;
  retried.last_error = "boom\n";
  EXPECT_EQ(why_text(retried, why, at_noon),
            "it is not due before 2026-03-04T12:05:00Z (in 5m)\nit is retried (2 of 3): boom\\n\n");
  queue::Task rescheduled = task();
  rescheduled.reschedule_count = 1;
  EXPECT_THAT(why_text(rescheduled, why, at_noon), HasSubstr("it was rescheduled, 1 time\n"));
}

TEST(QueueText, SaysThatAScopeIsClosedAndHowToOpenIt) {
  Why why{.hold = Hold::closed,
          .scope = Scope::key,
          .name = "acme",
          .until = noon + Duration::hours(2)};
  EXPECT_EQ(why_text(task(), why, at_noon),
            "key acme is closed until 2026-03-04T14:00:00Z (in 2h)\n"
            "to open it now: pawl open acme\n");
  why.scope = Scope::queue;
  why.name.clear();
  EXPECT_EQ(why_text(task(), why, at_noon),
            "the queue is closed until 2026-03-04T14:00:00Z (in 2h)\n"
            "to open it now: pawl open --queue\n");
}

TEST(QueueText, SaysWhatLimitsATask) {
  EXPECT_EQ(why_text(task(),
                     {.hold = Hold::rate,
                      .scope = Scope::type,
                      .name = "call_api",
                      .until = noon + Duration::seconds(3)},
                     at_noon),
            "it is limited: the rate of type call_api lets no more through before "
            "2026-03-04T12:00:03Z (in 3s)\n");
  EXPECT_EQ(
      why_text(task(), {.hold = Hold::concurrency, .scope = Scope::key, .name = "acme"}, at_noon),
      "it is limited: of key acme as many run as may at once; it waits for one to end\n");
}

TEST(QueueText, SaysWhoRunsIt) {
  queue::Task running = task();
  running.fence = 17;
  EXPECT_EQ(why_text(running,
                     {.hold = Hold::running, .until = noon + Duration::seconds(9), .worker = "w-1"},
                     at_noon),
            "it runs: w-1 has it, with fence 17; its lease ends at 2026-03-04T12:00:09Z (in 9s)\n");
}

TEST(QueueText, SaysOfALeaseThatItIsOver) {
  queue::Task running = task();
  running.fence = 17;
  running.status = queue::Status::running;
  running.lease_expires_at = noon - Duration::seconds(2);
  const Why why{.hold = Hold::running, .until = running.lease_expires_at, .worker = "w-1"};
  EXPECT_EQ(why_text(running, why, at_noon),
            "the lease of w-1, with fence 17, ended at 2026-03-04T11:59:58Z (2s ago): whoever "
            "claims next ends the attempt\n");
  EXPECT_THAT(tasks_text({&running, 1}, at_noon), HasSubstr("lease ended 2s ago"));
}

TEST(QueueText, SaysThatThereIsNoWorker) {
  EXPECT_EQ(why_text(task(), {.hold = Hold::waits}, at_noon),
            "it is due, and may be claimed\nno worker has claimed this type: start one, as in: "
            "pawl work -t call_api --exec CMD\n");
  EXPECT_EQ(why_text(task(), {.hold = Hold::waits, .ahead = 2, .worker = "w-1"}, at_noon),
            "it is due, and may be claimed; 2 of its type are before it\n"
            "the last worker that claimed this type is w-1: it is busy, or gone\n");
}

TEST(QueueText, SaysHowItEnded) {
  queue::Task failed = task();
  failed.status = queue::Status::failed;
  failed.completed_at = noon - Duration::seconds(5);
  failed.last_error = "Max reschedules (2) exceeded";
  EXPECT_EQ(why_text(failed, {.hold = Hold::is_over}, at_noon),
            "it is over: failed at 2026-03-04T11:59:55Z (5s ago)\n"
            "last error: Max reschedules (2) exceeded\n");
}

TEST(QueueText, ListsTasksUnderAHead) {
  queue::Task odd = task();
  odd.terms.type = "\033[2J";
  const std::vector<queue::Task> tasks = {task(), odd};
  const std::string text = tasks_text(tasks, at_noon);
  EXPECT_THAT(text, HasSubstr("id                        type"));
  EXPECT_THAT(text, HasSubstr("000000000000000000000000  call_api     pending  acme"));
  EXPECT_THAT(text, HasSubstr("\"\\u001b[2J\""));
  EXPECT_THAT(text, Not(HasSubstr("\033")));
  EXPECT_THAT(tasks_text(tasks, {.now = noon, .colour = true}), Not(HasSubstr("\033[32m")));
}

TEST(QueueText, TearsNoCharacterOfALongError) {
  queue::Task failed = task();
  for (int i = 0; i < 40; ++i) failed.last_error += "…x";
  const std::string text = tasks_text({&failed, 1}, at_noon);
  EXPECT_THAT(text, HasSubstr("…x…x…...\n")) << "57 characters and three dots";
}

TEST(QueueText, PrintsAHistoryInTheSeedsForm) {
  const queue::History history{.versions = {{.at = noon, .reason = queue::Reason::created},
                                            {.at = noon,
                                             .reason = queue::Reason::rescheduled,
                                             .delay = Duration::seconds(60),
                                             .count = 1}}};
  EXPECT_EQ(history_text(history),
            "Version 1: pending (created)\n"
            "Version 2: pending (rescheduled, available_at: +60s, count: 1)\n");
}

TEST(QueueText, AddsUpTypes) {
  const queue::Stats stats{
      .types = {{.type = "a", .pending = 3, .due = 1, .oldest_due = noon - Duration::seconds(90)},
                {.type = "b", .pending = 2, .running = 1}}};
  EXPECT_EQ(stats_text(stats, at_noon),
            "type  pending  due  running  completed  failed  cancelled  expired  oldest due\n"
            "a           3    1        0          0       0          0        0       1m30s\n"
            "b           2    0        1          0       0          0        0           -\n"
            "all         5    1        1          0       0          0        0       1m30s\n");
}

TEST(QueueText, ShowsLimitsSchedulesAndClosings) {
  const std::vector<queue::SetLimit> limits = {
      {.limited = queue::Limited::each_key, .rate = 10, .period = Duration::seconds(1)},
      {.limited = queue::Limited::type, .name = "t", .running = 5}};
  EXPECT_EQ(limits_text(limits),
            "limited    rate  running\neach key  10/1s        -\ntype t        -        5\n");
  EXPECT_EQ(limits_text({}), "there are no limits\n");
  const std::vector<queue::Schedule> schedules = {
      {.set = {.name = "n", .cron = "@daily", .terms = {.type = "t"}},
       .next = noon + Duration::hours(12)}};
  EXPECT_THAT(schedules_text(schedules, at_noon), HasSubstr("2026-03-05T00:00:00Z (in 12h)"));
  const std::vector<queue::Closing> closings = {
      {.scope = Scope::type, .name = "t", .until = noon + Duration::minutes(1)}};
  EXPECT_EQ(closings_text(closings, at_noon),
            "type t is closed until 2026-03-04T12:01:00Z (in 1m)\n");
}

TEST(QueueText, TellsAnEventOnALine) {
  EXPECT_EQ(
      event_text(task(),
                 {.at = noon,
                  .status = queue::Status::running,
                  .reason = queue::Reason::claimed,
                  .worker = "w"},
                 false),
      "2026-03-04T12:00:00.000Z  000000000000000000000000  call_api  running  claimed by w\n");
}

}  // namespace
}  // namespace pawl::cli
