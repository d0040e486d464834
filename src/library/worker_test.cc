// Goal: what a handler returns is what becomes of its task, whatever it does meanwhile, and a
//       worker ends when it is told to. Method: a queue in memory on a clock that the test moves;
//       handlers that tell what they saw.
#include "pawl/worker.h"

#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <latch>
#include <optional>
#include <stdexcept>
#include <thread>

#include "library/moved_clock_fixture.h"

namespace pawl {
namespace {

using ::testing::HasSubstr;

class WorkerTest : public ::testing::Test {
 protected:
  std::string submitted(const SubmitOptions& options = {}, std::string_view input = "{}") {
    const auto task = queue.submit("t", input, options);
    EXPECT_TRUE(task.has_value()) << task.error().message;
    return task ? task->id : "";
  }
  // Runs what is due with this handler.
  WorkerStats ran(Worker::Handler handler) {
    Worker worker(queue, {.name = "w1"});
    worker.on("t", std::move(handler));
    const auto stats = worker.run_once();
    EXPECT_TRUE(stats.has_value()) << stats.error().message;
    return stats.value_or(WorkerStats());
  }

  MovedClock clock;
  Queue queue = Queue::open("memory:", &clock).value();
};

TEST_F(WorkerTest, CompletesATaskWithItsOutput) {
  const std::string id = submitted({.key = "acme"}, R"({"n":1})");
  TaskInfo seen;
  const WorkerStats stats = ran([&](TaskRun& task) {
    seen = task.info();
    return TaskEnd::completed(R"({"done":true})");
  });
  EXPECT_EQ(stats.claimed, 1U);
  EXPECT_EQ(stats.completed, 1U);
  EXPECT_EQ(seen.id, id);
  EXPECT_EQ(seen.input, R"({"n":1})");
  EXPECT_EQ(seen.attempt, 1U);
  EXPECT_GT(seen.fence, 0U);
  const TaskInfo task = queue.get(id).value();
  EXPECT_EQ(task.status, TaskStatus::completed);
  EXPECT_EQ(task.output, R"({"done":true})");
  EXPECT_EQ(task.worker, "w1");
}

TEST_F(WorkerTest, PutsATaskOffWithoutTouchingItsRetries) {
  const std::string id = submitted({.max_reschedules = 1});
  const auto not_now = [](TaskRun&) { return TaskEnd::reschedule(Duration::minutes(1)); };
  EXPECT_EQ(ran(not_now).rescheduled, 1U);
  EXPECT_EQ(ran(not_now).claimed, 0U) << "it sleeps";
  TaskInfo task = queue.get(id).value();
  EXPECT_EQ(task.available_at, clock.wall_now() + Duration::minutes(1));
  EXPECT_EQ(task.reschedule_count, 1U);
  EXPECT_EQ(task.retry_count, 0U);
  clock.advance(Duration::minutes(1));
  EXPECT_EQ(ran(not_now).failed, 1U);
  EXPECT_EQ(queue.get(id)->last_error, "Max reschedules (1) exceeded");
}

TEST_F(WorkerTest, InHandlerAnAnswerBecomesAnEnd) {
  struct Answer {
    int status;
    std::optional<Duration> retry_after;
  };
  Answer answer{.status = 429, .retry_after = Duration::seconds(30)};
  const auto call_api = [&](TaskRun&) {
    if (answer.status == 200) return TaskEnd::completed(R"({"status":"ok"})");
    if (answer.status != 429) return TaskEnd::retry("it is down");
    return TaskEnd::reschedule(answer.retry_after.value_or(Duration::seconds(60)));
  };
  const std::string id = submitted();
  const auto slept = [&] { return queue.get(id)->available_at - clock.wall_now(); };
  EXPECT_EQ(ran(call_api).rescheduled, 1U);
  EXPECT_EQ(slept(), Duration::seconds(30)) << "as the API said";
  clock.advance(Duration::seconds(30));
  answer.retry_after.reset();
  EXPECT_EQ(ran(call_api).rescheduled, 1U);
  EXPECT_EQ(slept(), Duration::seconds(60));
  clock.advance(Duration::seconds(60));
  answer.status = 503;
  EXPECT_EQ(ran(call_api).retried, 1U);
  EXPECT_EQ(queue.get(id)->last_error, "it is down");
  clock.advance(Duration::minutes(1));
  answer.status = 200;
  EXPECT_EQ(ran(call_api).completed, 1U);
  const TaskInfo done = queue.get(id).value();
  EXPECT_EQ(done.output, R"({"status":"ok"})");
  EXPECT_EQ(done.reschedule_count, 2U);
  EXPECT_EQ(done.retry_count, 1U);
}

TEST_F(WorkerTest, SubmitWithMaxReschedules) {
  EXPECT_EQ(queue.get(submitted({.max_reschedules = 100}))->max_reschedules, 100U);
  EXPECT_EQ(queue.get(submitted())->max_reschedules, std::nullopt) << "unlimited";
}

TEST_F(WorkerTest, GoesOnWithTheInputThatTheLastRunLeft) {
  const std::string id = submitted({}, R"({"page":1})");
  std::vector<std::string> seen;
  const auto next_page = [&](TaskRun& task) {
    seen.push_back(task.input());
    return TaskEnd::reschedule(Duration::minutes(1)).with_input(R"({"page":2})");
  };
  ran(next_page);
  clock.advance(Duration::minutes(1));
  ran(next_page);
  EXPECT_EQ(seen, (std::vector<std::string>{R"({"page":1})", R"({"page":2})"}));
  clock.advance(Duration::minutes(1));
  const auto nonsense = [](TaskRun&) { return TaskEnd::reschedule({}).with_input("{"); };
  EXPECT_EQ(ran(nonsense).failed, 1U) << "it would be put off with the same for ever";
  EXPECT_THAT(queue.get(id)->last_error, HasSubstr("not JSON"));
}

TEST_F(WorkerTest, RetriesWhatWentWrongUntilNoRetryIsLeft) {
  const std::string id = submitted({.max_retries = 1, .retries = {.jitter = 0}});
  const auto wrong = [](TaskRun&) { return TaskEnd::retry("no answer"); };
  EXPECT_EQ(ran(wrong).retried, 1U);
  EXPECT_EQ(queue.get(id)->available_at, clock.wall_now() + Duration::seconds(1));
  clock.advance(Duration::seconds(1));
  EXPECT_EQ(ran(wrong).failed, 1U);
  EXPECT_EQ(queue.get(id)->last_error, "no answer");
}

TEST_F(WorkerTest, FailsForGoodWhatCannotWork) {
  const std::string id = submitted();
  EXPECT_EQ(ran([](TaskRun&) { return TaskEnd::fail("no such address"); }).failed, 1U);
  EXPECT_EQ(queue.get(id)->status, TaskStatus::failed);
  EXPECT_EQ(queue.get(id)->retry_count, 0U);
}

TEST_F(WorkerTest, ClosesTheKeyForAllThatWait) {
  for (int i = 0; i < 3; ++i) submitted({.key = "acme"});
  const std::string other = submitted({.key = "globex"});
  std::atomic<int> calls = 0;
  ran([&](TaskRun& task) {
    if (task.info().key == "globex") return TaskEnd::completed();
    ++calls;
    return TaskEnd::reschedule(Duration::minutes(1), TaskScope::key);
  });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(queue.get(other)->status, TaskStatus::completed);
}

TEST_F(WorkerTest, TakesAnExceptionForSomethingThatWentWrong) {
  const std::string id = submitted();
  EXPECT_EQ(ran([](TaskRun&) -> TaskEnd { throw std::runtime_error("bad luck"); }).retried, 1U);
  EXPECT_THAT(queue.get(id)->last_error, HasSubstr("the handler threw: bad luck"));
}

TEST_F(WorkerTest, ExtendsALease) {
  submitted();
  Result<Instant> until = Instant();
  ran([&](TaskRun& task) {
    until = task.extend(Duration::minutes(5));
    return TaskEnd::completed();
  });
  ASSERT_TRUE(until.has_value()) << until.error().message;
  EXPECT_EQ(*until, clock.wall_now() + Duration::minutes(5));
}

TEST_F(WorkerTest, RunsAsManyAtOnceAsItMay) {
  for (int i = 0; i < 4; ++i) submitted();
  std::latch all(4);
  Worker worker(queue, {.concurrency = 4});
  worker.on("t", [&](TaskRun&) {
    all.arrive_and_wait();  // of which none would come back alone
    return TaskEnd::completed();
  });
  EXPECT_EQ(worker.run_once()->completed, 4U);
}

TEST_F(WorkerTest, RunsUntilItIsStopped) {
  const std::string id = submitted();
  Worker worker(queue);
  worker.on("t", [&](TaskRun&) {
    worker.stop();
    return TaskEnd::completed();
  });
  const auto stats = worker.run();
  ASSERT_TRUE(stats.has_value()) << stats.error().message;
  EXPECT_EQ(stats->completed, 1U);
  EXPECT_EQ(queue.get(id)->status, TaskStatus::completed);
  submitted();
  EXPECT_EQ(worker.run()->claimed, 0U) << "it was stopped for good";
}

TEST_F(WorkerTest, TellsAHandlerThatItsTaskWasCancelled) {
  const std::string id = submitted();
  Worker worker(queue, {.lease = Duration::seconds(30)});
  std::string reason;
  worker.on("t", [&](TaskRun& task) {
    EXPECT_FALSE(task.stop_asked());
    EXPECT_EQ(queue.cancel(id).value(), TaskStatus::running);
    std::latch asked(1);
    task.on_stop([&] { asked.count_down(); });
    (void)task.extend(Duration::seconds(30));  // whose answer says so
    asked.wait();
    EXPECT_TRUE(task.stop_asked());
    EXPECT_TRUE(task.cancel_requested());
    reason = task.stop_reason();
    return TaskEnd::retry("it was to stop");
  });
  EXPECT_EQ(worker.run_once()->cancelled, 1U);
  EXPECT_THAT(reason, HasSubstr("cancelled"));
  EXPECT_EQ(queue.get(id)->status, TaskStatus::cancelled);
}

TEST_F(WorkerTest, WantsAHandlerAndARoom) {
  Worker none(queue);
  EXPECT_EQ(none.run_once().error().code, Code::usage);
  Worker crowd(queue, {.concurrency = 0});
  crowd.on("t", [](TaskRun&) { return TaskEnd::completed(); });
  EXPECT_EQ(crowd.run_once().error().code, Code::invalid);
  Worker hasty(queue, {.lease = Duration::milliseconds(1)});
  hasty.on("t", [](TaskRun&) { return TaskEnd::completed(); });
  EXPECT_THAT(hasty.run_once().error().message, HasSubstr("lease is 1ms"));
}

// A handler that only begins the work.
class AsyncWorkerTest : public WorkerTest {
 protected:
  WorkerStats ran_later(Worker::AsyncHandler handler) {
    Worker worker(queue, {.name = "w1", .concurrency = 4});
    worker.on("t", std::move(handler));
    const auto stats = worker.run_once();
    EXPECT_TRUE(stats.has_value()) << stats.error().message;
    return stats.value_or(WorkerStats());
  }
};

TEST_F(AsyncWorkerTest, IsToldLaterAndOnAnotherThread) {
  const std::string id = submitted({}, "[7]");
  std::jthread elsewhere;
  const WorkerStats stats = ran_later([&](std::shared_ptr<TaskRun> task, Worker::Ended done) {
    elsewhere = std::jthread([task = std::move(task), done = std::move(done)]() mutable {
      done(TaskEnd::completed(task->input()));
    });
  });
  EXPECT_EQ(stats.completed, 1U);
  EXPECT_EQ(queue.get(id)->output, "[7]");
}

TEST_F(AsyncWorkerTest, BeginsAsManyAsItMayWithoutAThreadForEach) {
  for (int i = 0; i < 4; ++i) submitted();
  std::vector<Worker::Ended> begun;
  const WorkerStats stats = ran_later([&](const std::shared_ptr<TaskRun>&, Worker::Ended done) {
    begun.push_back(std::move(done));
    if (begun.size() < 4) return;
    for (Worker::Ended& each : begun) each(TaskEnd::completed());
  });
  EXPECT_EQ(stats.completed, 4U);
}

TEST_F(AsyncWorkerTest, RetriesWhatIsThrownOrLetGo) {
  const std::string thrown = submitted();
  const WorkerStats stats =
      ran_later([](const auto&, const auto&) { throw std::runtime_error("x"); });
  EXPECT_EQ(stats.retried, 1U);
  EXPECT_EQ(queue.get(thrown)->last_error, "the handler threw: x");
  const std::string silent = submitted({.priority = 1});
  EXPECT_EQ(ran_later([](const auto&, const auto&) {}).retried, 1U);
  EXPECT_THAT(queue.get(silent)->last_error, HasSubstr("without saying how"));
}

TEST_F(AsyncWorkerTest, ExtendsItsLeaseAndHearsOfACancelWithoutWaiting) {
  const std::string id = submitted();
  Result<Instant> until = Instant();
  std::string reason;
  const WorkerStats stats = ran_later([&](std::shared_ptr<TaskRun> task, Worker::Ended done) {
    EXPECT_EQ(queue.cancel(id).value(), TaskStatus::running);
    auto shared = std::make_shared<Worker::Ended>(std::move(done));
    task->on_stop([&, task, shared] {
      reason = task->stop_reason();
      (*shared)(TaskEnd::retry("it was to stop"));
    });
    task->extend(Duration::minutes(5), [&](Result<Instant> result) { until.swap(result); });
  });
  EXPECT_EQ(stats.cancelled, 1U);
  EXPECT_THAT(reason, HasSubstr("cancelled"));
  ASSERT_TRUE(until.has_value()) << until.error().message;
  EXPECT_EQ(*until, clock.wall_now() + Duration::minutes(5));
}

TEST_F(AsyncWorkerTest, GivesBackWhatIsStoppedAtOnce) {
  const std::string id = submitted();
  Worker worker(queue, {.drain = Duration::hours(1)});
  worker.on("t", [&](const std::shared_ptr<TaskRun>& task, Worker::Ended done) {
    auto shared = std::make_shared<Worker::Ended>(std::move(done));
    task->on_stop([shared] { (*shared)(TaskEnd::retry("it was to stop")); });
    worker.stop();  // which alone would wait for an hour
    worker.stop(Duration());
  });
  const auto stats = worker.run();
  ASSERT_TRUE(stats.has_value()) << stats.error().message;
  EXPECT_EQ(stats->given_back, 1U);
  EXPECT_EQ(queue.get(id)->retry_count, 0U);
}

}  // namespace
}  // namespace pawl
