// Goal: every task that a worker claims ends once, by its fence, whatever the queue, the handler
// and time do; and a worker never handles more than it may.
// Method: a queue that is nothing but its machine, handlers that end when the test says so, and
// time moved by hand.
#include "runtime/task_worker.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/bounds_queue.h"
#include "core/queue/machine_fixture.h"
#include "runtime/task_queue_fixture.h"

namespace pawl {
namespace {

using queue::Status;
using queue::Task;
using queue::TaskId;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Fault = MachineQueue::Fault;
using How = TaskAttemptEnd::How;
using Kind = TaskEnding::Kind;

class TaskWorkerTest : public ::testing::Test {
 protected:
  struct Work {
    std::shared_ptr<HandledTask> task;
    std::move_only_function<void(TaskEnding)> done;
    bool stopped = false;
  };

  TaskId submit(queue::TaskTerms terms = {}) {
    if (terms.type.empty()) terms.type = "mail";
    if (terms.input.empty()) terms.input = "{}";
    const TaskId id = queue::id_of(++last_);
    queue.give({queue::Submit{.id = id, .terms = std::move(terms)}},
               [](const Result<MachineQueue::Replies>& replies) { ASSERT_TRUE(replies); });
    queue.gives.clear();
    return id;
  }
  void submit_many(int count) {
    for (int i = 0; i < count; ++i) submit();
  }

  std::unique_ptr<TaskWorker> worker(WorkerSettings settings) {
    if (settings.name.empty()) settings.name = "worker-1";
    if (settings.types.empty()) settings.types = {"mail"};
    auto made = std::make_unique<TaskWorker>(
        queue, settings,
        [this](std::shared_ptr<HandledTask> task, std::move_only_function<void(TaskEnding)> done) {
          const TaskId id = task->task().id;
          Work& work = works[id];
          work.stopped = false;
          task->on_stop([&work] { work.stopped = true; });
          most = std::max(most, ++running_);
          work.task = std::move(task);
          work.done = std::move(done);
          if (at_once) end(id, *at_once);
        },
        TaskWorker::World{clock,
                          timers,
                          {.ended =
                               [this](const TaskAttemptEnd& e) {
                                 ends.push_back(e.how);
                                 last_error = e.error;
                               },
                           .note = [this](const std::string& text) { notes.push_back(text); }}});
    made->start();
    return made;
  }
  void end(TaskId id, TaskEnding ending = {}) {
    ASSERT_TRUE(works.contains(id) && works[id].done) << "it is not being handled";
    --running_;
    std::exchange(works[id].done, {})(std::move(ending));
  }
  bool is_handled(TaskId id) { return works.contains(id) && works[id].done; }
  void pass(Duration time) { timers.advance(time); }

  Task task(TaskId id) { return queue.machine.find(id).value_or(Task()); }
  Status status(TaskId id) { return task(id).status; }
  std::vector<std::string> lines(TaskId id) {
    std::vector<std::string> all;
    const queue::History history = queue.machine.history(id).value_or(queue::History());
    for (const queue::Version& version : history.versions) {
      all.push_back(to_string(version, all.size() + 1));
    }
    return all;
  }
  void cancel(TaskId id) {
    queue.give({queue::Cancel{.id = id, .by = "me"}},
               [](const auto& replies) { ASSERT_TRUE(replies); });
    queue.gives.clear();
  }

  ManualClock clock;
  ManualTimers timers{clock};
  MachineQueue queue{clock, timers};
  std::map<TaskId, Work> works;
  std::optional<TaskEnding> at_once;
  const Error away{Code::unavailable, Outcome::not_applied, "no route"};
  std::vector<How> ends;
  std::string last_error;
  std::vector<std::string> notes;
  int most = 0;

 private:
  std::uint32_t last_ = 0;
  int running_ = 0;
};

// ---- claims and endings

TEST_F(TaskWorkerTest, CompletesWhatItClaims) {
  const auto w = worker({});
  const TaskId id = submit();
  ASSERT_TRUE(is_handled(id));
  EXPECT_EQ(works[id].task->task().attempt, 1U);
  EXPECT_GT(works[id].task->task().fence, 0U);
  end(id, {.output = R"({"sent":true})"});
  EXPECT_EQ(status(id), Status::completed);
  EXPECT_EQ(task(id).output, R"({"sent":true})");
  EXPECT_THAT(lines(id),
              ElementsAre("Version 1: pending (created)",
                          "Version 2: running (claimed by worker-1)", "Version 3: completed"));
  EXPECT_EQ(w->counts().completed, 1U);
  EXPECT_EQ(w->counts().running, 0U);
}

TEST_F(TaskWorkerTest, BeginsWithTheCommitOfTheClaim) {
  const auto w = worker({});
  const std::size_t before = queue.commits;
  const TaskId id = submit();
  EXPECT_EQ(queue.commits, before + 2) << "the submit, and the claim";
  EXPECT_TRUE(is_handled(id));
}

TEST_F(TaskWorkerTest, GivesTogetherWhatEndsTogether) {
  submit_many(5);
  const auto w = worker({.concurrency = 3, .gather = Duration::milliseconds(1)});
  const std::size_t claims = queue.claims;
  end(queue::id_of(1));
  end(queue::id_of(2));
  EXPECT_THAT(queue.gives, ElementsAre()) << "the third may end any moment";
  EXPECT_EQ(queue.claims, claims) << "and what comes next is claimed with that commit";
  end(queue::id_of(3));
  EXPECT_THAT(queue.gives, ElementsAre(3));
  EXPECT_TRUE(is_handled(queue::id_of(4)) && is_handled(queue::id_of(5)));
  end(queue::id_of(4));
  pass(Duration::milliseconds(1));
  EXPECT_THAT(queue.gives, ElementsAre(3, 1)) << "the other one takes its time";
  EXPECT_EQ(status(queue::id_of(4)), Status::completed);
  end(queue::id_of(5));
  EXPECT_THAT(queue.gives, ElementsAre(3, 1, 1));
}

TEST_F(TaskWorkerTest, KeepsNullOfAnEmptyOutput) {
  const auto w = worker({});
  const TaskId id = submit();
  end(id);
  EXPECT_EQ(status(id), Status::completed);
  EXPECT_EQ(task(id).output, "null");
}

TEST_F(TaskWorkerTest, NeverHandlesMoreThanItMay) {
  submit_many(10);
  const auto w = worker({.concurrency = 3});
  while (w->counts().completed < 10) {
    ASSERT_EQ(w->counts().running, std::min<std::uint64_t>(3, 10 - w->counts().completed));
    const auto one = std::ranges::find_if(works, [](auto& each) { return bool(each.second.done); });
    end(one->first);
  }
  EXPECT_EQ(most, 3);
}

TEST_F(TaskWorkerTest, TellsManyEndingsInOneCommit) {
  submit_many(10);
  at_once = TaskEnding();
  const auto w = worker({.concurrency = 10});
  EXPECT_THAT(queue.gives, ElementsAre(10U));
}

TEST_F(TaskWorkerTest, TellsWhatEndedDuringACommitInTheNext) {
  const auto w = worker({.concurrency = 3});
  const std::vector<TaskId> ids = {submit(), submit(), submit()};
  queue.holds = true;
  for (const TaskId& id : ids) end(id);
  EXPECT_THAT(queue.gives, ElementsAre(1U));
  queue.let_go();
  EXPECT_THAT(queue.gives, ElementsAre(1U, 2U));
  EXPECT_EQ(w->counts().completed, 3U);
}

TEST_F(TaskWorkerTest, ClaimsAnewBeforeTheLastEndingIsCommitted) {
  const auto w = worker({});
  const TaskId first = submit();
  const TaskId second = submit();
  queue.holds = true;
  end(first);
  EXPECT_GT(queue.held(), 1U) << "the ending, and the next claim";
  queue.let_go();
  EXPECT_TRUE(is_handled(second));
}

TEST_F(TaskWorkerTest, HoldsBackClaimsWhileEndingsAreNotTaken) {
  submit_many(20);
  at_once = TaskEnding();
  queue.give_faults.assign(5, Fault::before);
  const auto w = worker({.concurrency = 2});
  EXPECT_LE(w->counts().claimed, 4U);
  pass(Duration::seconds(20));
  EXPECT_EQ(w->counts().completed, 20U);
}

TEST_F(TaskWorkerTest, TakesOnlyItsTypes) {
  const auto w = worker({.types = {"mail", "call"}});
  const TaskId other = submit({.type = "bill"});
  const TaskId own = submit({.type = "call"});
  EXPECT_FALSE(is_handled(other));
  EXPECT_TRUE(is_handled(own));
}

TEST_F(TaskWorkerTest, RetriesReschedulesAndFailsAsTheHandlerSays) {
  const auto w = worker({.concurrency = 3});
  const TaskId retried = submit({.max_retries = 1});
  const TaskId put_off = submit({.key = "acme"});
  const TaskId failed = submit();
  end(retried, {.kind = Kind::retry, .error = "reset", .delay = Duration::seconds(90)});
  end(put_off,
      {.kind = Kind::reschedule, .delay = Duration::minutes(5), .scope = queue::Scope::key});
  end(failed, {.kind = Kind::failed, .error = "no such account"});
  EXPECT_EQ(task(retried).retry_count, 1U);
  EXPECT_EQ(task(retried).available_at, clock.wall_now() + Duration::seconds(90));
  EXPECT_EQ(task(put_off).reschedule_count, 1U);
  EXPECT_EQ(queue.machine.closings(clock.wall_now()).size(), 1U);
  EXPECT_EQ(status(failed), Status::failed);
  EXPECT_THAT(ends, ElementsAre(How::retried, How::rescheduled, How::failed));
  pass(Duration::seconds(90));
  ASSERT_TRUE(is_handled(retried)) << "it is due again";
  end(retried, {.kind = Kind::retry, .error = "reset"});
  EXPECT_EQ(status(retried), Status::failed) << "no retry is left";
  EXPECT_EQ(w->counts().failed, 2U);
}

TEST_F(TaskWorkerTest, SaysThatATaskWasPutOffTooOften) {
  const auto w = worker({});
  const TaskId id = submit({.max_reschedules = 0});
  end(id, {.kind = Kind::reschedule, .delay = Duration::seconds(1)});
  EXPECT_THAT(ends, ElementsAre(How::failed));
  EXPECT_EQ(last_error, "Max reschedules (0) exceeded");
  EXPECT_EQ(last_error, task(id).last_error);
}

TEST_F(TaskWorkerTest, RetriesWhatAHandlerLetsGoWithoutAWord) {
  const auto w = worker({});
  const TaskId id = submit();
  works[id].done = {};
  EXPECT_EQ(status(id), Status::pending);
  EXPECT_EQ(task(id).last_error, "the handler ended without saying how");
}

TEST_F(TaskWorkerTest, FailsATaskWhoseOutputMayNotBeKept) {
  const auto w = worker({});
  const TaskId id = submit();
  end(id, {.output = "no JSON"});
  EXPECT_EQ(status(id), Status::failed);
  EXPECT_THAT(task(id).last_error, HasSubstr("output is not JSON"));
}

TEST_F(TaskWorkerTest, KeepsErrorsInUtf8) {
  const auto w = worker({});
  const TaskId id = submit();
  end(id, {.kind = Kind::failed, .error = "caf\xE9"});
  EXPECT_EQ(task(id).last_error, "caf\uFFFD");
}

// ---- leases

TEST_F(TaskWorkerTest, RenewsTheLeaseWhileTheHandlerWorks) {
  const auto w = worker({.lease = Duration::seconds(30)});
  const TaskId id = submit({.timeout = Duration::minutes(10)});
  const std::uint64_t fence = task(id).fence;
  pass(Duration::minutes(5));
  EXPECT_EQ(status(id), Status::running);
  EXPECT_EQ(task(id).fence, fence);
  EXPECT_LE(queue.gives.size(), 32U) << "a third of the lease apart, not more often";
  end(id);
  EXPECT_EQ(status(id), Status::completed);
}

TEST_F(TaskWorkerTest, RenewsManyInOneCommit) {
  const auto w = worker({.concurrency = 5, .lease = Duration::seconds(30)});
  submit_many(5);
  pass(Duration::seconds(12));
  EXPECT_THAT(queue.gives, ElementsAre(5U));
}

TEST_F(TaskWorkerTest, TellsTheHandlerOfACancel) {
  const auto w = worker({.lease = Duration::seconds(30)});
  const TaskId id = submit();
  cancel(id);
  EXPECT_FALSE(works[id].stopped);
  pass(Duration::seconds(11));
  EXPECT_TRUE(works[id].stopped);
  EXPECT_EQ(works[id].task->stop_reason(), "it was cancelled");
  EXPECT_TRUE(works[id].task->cancel_asked());
  EXPECT_EQ(works[id].task->stop_grace(), bounds::handler_grace);
  end(id, {.kind = Kind::retry, .error = "killed"});
  EXPECT_EQ(status(id), Status::cancelled);
  EXPECT_THAT(ends, ElementsAre(How::cancelled));
}

TEST_F(TaskWorkerTest, StopsAtTheTimeoutAndRetries) {
  const auto w = worker({.lease = Duration::seconds(30)});
  const TaskId id = submit({.timeout = Duration::seconds(100)});
  pass(Duration::milliseconds(99'900));
  EXPECT_FALSE(works[id].stopped);
  pass(Duration::milliseconds(100));
  EXPECT_TRUE(works[id].stopped);
  EXPECT_EQ(works[id].task->stop_grace(), Duration::milliseconds(900))
      << "then it may be another's";
  end(id, {.kind = Kind::failed, .error = "killed by SIGTERM"});
  EXPECT_EQ(status(id), Status::pending);
  EXPECT_EQ(task(id).last_error, "timed out after 100s: killed by SIGTERM");
  EXPECT_EQ(w->counts().timed_out, 1U);
}

TEST_F(TaskWorkerTest, GivesAShortTimeoutInFullToo) {
  const auto w = worker({.lease = Duration::seconds(30)});
  const TaskId id = submit({.timeout = Duration::seconds(5)});
  pass(Duration::milliseconds(4'999));
  EXPECT_FALSE(works[id].stopped);
  pass(Duration::milliseconds(1));
  EXPECT_TRUE(works[id].stopped);
  EXPECT_EQ(works[id].task->stop_reason(), "timed out after 5s");
}

TEST_F(TaskWorkerTest, CountsAsTimedOutWhatTheQueueEndedByItself) {
  const auto w = worker({.lease = Duration::seconds(30)});
  const TaskId id = submit({.timeout = Duration::seconds(10)});
  pass(Duration::seconds(12));
  end(id, {.kind = Kind::retry});
  EXPECT_EQ(w->counts().timed_out, 1U);
  EXPECT_EQ(task(id).retry_count, 1U);
}

TEST_F(TaskWorkerTest, CompletesWhatIsCompletedJustInTime) {
  const auto w = worker({.lease = Duration::seconds(30)});
  const TaskId id = submit({.timeout = Duration::seconds(10)});
  pass(Duration::milliseconds(10'500));
  EXPECT_TRUE(works[id].stopped);
  end(id);
  EXPECT_EQ(status(id), Status::completed);
}

TEST_F(TaskWorkerTest, StopsAHandlerWhoseLeaseIsAnothers) {
  const auto w = worker({.lease = Duration::seconds(30)});
  const TaskId id = submit();
  clock.advance(Duration::seconds(31));  // nobody was called: the process stood still
  queue.machine.apply(clock.wall_now(), std::vector<queue::Command>{});
  clock.advance(Duration::seconds(10));
  const auto replies = queue.machine.apply(
      clock.wall_now(), std::vector<queue::Command>{queue::Claim{.worker = "worker-2"}});
  ASSERT_EQ(std::get<queue::Claimed>(replies[0]).tasks.size(), 1U);
  pass(Duration::milliseconds(1));
  EXPECT_TRUE(works[id].stopped);
  end(id);
  EXPECT_EQ(status(id), Status::running);
  EXPECT_EQ(task(id).worker, "worker-2");
  EXPECT_EQ(w->counts().refused, 1U);
  EXPECT_EQ(w->counts().completed, 0U);
}

TEST_F(TaskWorkerTest, HearsFromARenewalThatTheLeaseIsGone) {
  const auto w = worker({.lease = Duration::seconds(30)});
  const TaskId id = submit();
  // By somebody whose clock is ahead.
  queue.machine.apply(clock.wall_now() + Duration::minutes(1), std::vector<queue::Command>{});
  pass(Duration::seconds(10));
  EXPECT_TRUE(works[id].stopped);
  EXPECT_THAT(works[id].task->stop_reason(), HasSubstr("no longer ours: fence "));
  EXPECT_EQ(works[id].task->stop_grace(), Duration()) << "it may be handled elsewhere by now";
  end(id);
  EXPECT_EQ(w->counts().refused, 1U);
  EXPECT_THAT(queue.gives, ElementsAre(1U)) << "the renewal; what became of the rest is known";
}

TEST_F(TaskWorkerTest, StopsAHandlerBeforeALeaseThatCannotBeRenewedIsOver) {
  const auto w = worker({.lease = Duration::seconds(30)});
  const TaskId id = submit();
  queue.give_faults.assign(1'000, Fault::before);
  pass(Duration::milliseconds(28'900));
  EXPECT_FALSE(works[id].stopped);
  pass(Duration::milliseconds(200));
  EXPECT_TRUE(works[id].stopped);
  EXPECT_THAT(works[id].task->stop_reason(), HasSubstr("the store does not answer"));
  EXPECT_LT(works[id].task->stop_grace(), Duration::seconds(1));
  EXPECT_GT(works[id].task->stop_grace(), Duration::milliseconds(500));
}

TEST_F(TaskWorkerTest, ExtendsALeaseThatTheHandlerWantsLonger) {
  const auto w = worker({.lease = Duration::seconds(30)});
  const TaskId id = submit();
  std::optional<Result<Instant>> until;
  works[id].task->extend(Duration::minutes(2), [&](Result<Instant> at) { until = std::move(at); });
  ASSERT_TRUE(until && *until);
  EXPECT_EQ(**until, clock.wall_now() + Duration::minutes(2));
  queue.give_faults.assign(1'000, Fault::before);
  pass(Duration::minutes(1));
  EXPECT_FALSE(works[id].stopped) << "there is time";
}

TEST_F(TaskWorkerTest, GivesBackUncountedWhatItWasToldOfTooLate) {
  for (const Duration late : {Duration::milliseconds(9'500), Duration::seconds(12)}) {
    const auto w = worker({.lease = Duration::seconds(10)});
    queue.holds = true;
    const TaskId id = submit();
    EXPECT_EQ(task(id).attempt, 1U) << "it is claimed, but nobody was told";
    pass(late);
    queue.let_go();
    EXPECT_THAT(ends, ElementsAre(How::given_back)) << "it was not begun";
    ASSERT_TRUE(is_handled(id)) << "but claimed anew";
    EXPECT_EQ(works[id].task->task().attempt, 2U);
    EXPECT_EQ(task(id).retry_count, 0U);
    end(id);
    ends.clear();
  }
}

TEST_F(TaskWorkerTest, CountsALeaseFromTheClaimAndNotFromItsAnswer) {
  const auto w = worker({.lease = Duration::seconds(30)});
  queue.holds = true;
  const TaskId id = submit({.timeout = Duration::seconds(100)});
  pass(Duration::seconds(20));
  queue.give_faults.assign(1'000, Fault::before);
  queue.let_go();
  ASSERT_TRUE(is_handled(id));
  EXPECT_EQ(queue.gives.size(), 1U) << "its renewal is overdue";
  pass(Duration::milliseconds(8'900));
  EXPECT_FALSE(works[id].stopped);
  pass(Duration::milliseconds(200));
  EXPECT_TRUE(works[id].stopped) << "a second before the lease is over";
}

TEST_F(TaskWorkerTest, CountsTheTimeoutFromTheClaimToo) {
  const auto w = worker({.lease = Duration::seconds(30)});
  queue.holds = true;
  const TaskId id = submit({.timeout = Duration::seconds(100)});
  pass(Duration::seconds(20));
  queue.let_go();
  pass(Duration::seconds(78));
  EXPECT_FALSE(works[id].stopped);
  pass(Duration::seconds(2));
  EXPECT_TRUE(works[id].stopped);
}

TEST_F(TaskWorkerTest, TellsTheStopBeforeItAnswersWhoeverWantedMoreTime) {
  const auto w = worker({.lease = Duration::seconds(30)});
  const TaskId id = submit();
  const auto stops = [&] {
    std::optional<bool> asked;
    works[id].task->extend(Duration::seconds(40),
                           [&](const auto&) { asked = works[id].task->stop_asked(); });
    return asked;
  };
  EXPECT_EQ(stops(), false);
  cancel(id);
  EXPECT_EQ(stops(), true);
}

TEST_F(TaskWorkerTest, TellsTheStopBeforeItAnswersThatTheTaskIsLost) {
  const auto w = worker({.lease = Duration::seconds(30)});
  const TaskId id = submit();
  // By somebody whose clock is ahead.
  queue.machine.apply(clock.wall_now() + Duration::minutes(1), std::vector<queue::Command>{});
  bool stopped = false;
  works[id].task->extend(Duration::seconds(40), [&](const Result<Instant>& at) {
    EXPECT_FALSE(at);
    stopped = works[id].task->stop_asked();
  });
  EXPECT_TRUE(stopped);
}

// ---- a queue that fails

TEST_F(TaskWorkerTest, TellsAnEndingAgainUntilItIsTaken) {
  const auto w = worker({});
  const TaskId id = submit();
  queue.give_faults = {Fault::before, Fault::after, Fault::before};
  end(id);
  EXPECT_EQ(w->counts().completed, 0U);
  pass(Duration::seconds(2));
  EXPECT_EQ(status(id), Status::completed);
  EXPECT_EQ(w->counts().completed, 1U);
  EXPECT_EQ(lines(id).size(), 3U) << "created, claimed, completed";
  EXPECT_EQ(notes.size(), 1U) << "once, not for every attempt";
}

TEST_F(TaskWorkerTest, TellsAnEndingThoughTheQueueWasAwayForLongerThanTheLease) {
  const auto w = worker({.lease = Duration::seconds(30)});
  const TaskId id = submit();
  queue.claim_error = away;
  queue.give_faults.assign(1'000, Fault::before);
  end(id);
  pass(Duration::minutes(3));
  EXPECT_THAT(ends, ElementsAre()) << "nobody has said what became of it";
  queue.give_faults.clear();
  pass(Duration::seconds(6));
  EXPECT_EQ(status(id), Status::completed) << "nobody else had claimed it";
  EXPECT_THAT(ends, ElementsAre(How::completed));
  EXPECT_EQ(lines(id).size(), 3U) << "created, claimed, completed";
}

TEST_F(TaskWorkerTest, LetsAnEndingGoWhenTheTaskIsAnothers) {
  const auto w = worker({.lease = Duration::seconds(30)});
  const TaskId id = submit();
  queue.give_faults.assign(1'000, Fault::before);
  end(id);
  pass(Duration::minutes(2));
  EXPECT_TRUE(is_handled(id)) << "the lease is over, and it was due again";
  queue.give_faults.clear();
  pass(Duration::seconds(6));
  EXPECT_THAT(ends, ElementsAre(How::refused));
}

TEST_F(TaskWorkerTest, LetsAnEndingGoWhenAQueueThatRefusesAllHasItsLeaseOver) {
  const auto w = worker({.lease = Duration::seconds(30)});
  const TaskId id = submit();
  queue.refuses = [](const auto&) {
    return Error(Code::invalid, Outcome::not_applied, "the log is damaged");
  };
  end(id);
  pass(Duration::seconds(20));
  EXPECT_THAT(ends, ElementsAre());
  pass(Duration::seconds(20));
  EXPECT_THAT(ends, ElementsAre(How::refused));
}

TEST_F(TaskWorkerTest, EndsThoughItsLastWordsAreNeverTaken) {
  const TaskId id = submit();
  const auto w = worker({.once = true});
  queue.claim_error = away;
  queue.give_faults.assign(1'000, Fault::before);
  end(id);
  pass(Duration::minutes(2));
  EXPECT_TRUE(w->is_over());
  EXPECT_THAT(ends, ElementsAre(How::refused));
}

TEST_F(TaskWorkerTest, TellsAClosingOfTheWholeQueueByItself) {
  const auto w = worker({.concurrency = 2});
  const TaskId wide = submit();
  const TaskId other = submit();
  queue.holds = true;
  end(wide, {.kind = Kind::reschedule, .scope = queue::Scope::queue});
  queue.holds = false;
  end(other);
  EXPECT_THAT(ends, ElementsAre(How::completed)) << "other shards may be slow to close";
  queue.let_go();
}

TEST_F(TaskWorkerTest, AsksAQueueThatIsAwayAgainAndAgain) {
  queue.claim_error = Error(Code::unavailable, Outcome::not_applied, "no route");
  const auto w = worker({});
  pass(Duration::minutes(10));
  EXPECT_FALSE(w->is_over());
  EXPECT_LT(queue.claims, 150U) << "later and later";
  EXPECT_EQ(notes.size(), 1U);
  queue.claim_error.reset();
  const TaskId id = submit();
  pass(Duration::seconds(6));
  EXPECT_TRUE(is_handled(id));
}

TEST_F(TaskWorkerTest, EndsWhenTheQueueDoesNotTakeItsClaims) {
  queue.claim_error = Error(Code::invalid, Outcome::not_applied, "lease is nothing");
  const auto w = worker({});
  ASSERT_TRUE(w->is_over());
  EXPECT_EQ(w->wait().error().code, Code::invalid);
}

// ---- once

TEST_F(TaskWorkerTest, EndsWhenNothingIsDueAnyMore) {
  submit_many(5);
  at_once = TaskEnding();
  const auto w = worker({.concurrency = 2, .once = true});
  ASSERT_TRUE(w->is_over());
  EXPECT_TRUE(w->wait());
  EXPECT_EQ(w->counts().completed, 5U);
}

TEST_F(TaskWorkerTest, RunsAgainWhatIsDueAgainAtOnce) {
  const auto w = worker({.once = true});
  EXPECT_TRUE(w->is_over()) << "nothing was due";
  const TaskId id = submit();
  const auto second = worker({.once = true});
  end(id, {.kind = Kind::reschedule});
  ASSERT_TRUE(is_handled(id)) << "a delay of nothing is due";
  EXPECT_FALSE(second->is_over());
  end(id, {.kind = Kind::reschedule, .delay = Duration::seconds(60)});
  EXPECT_TRUE(second->is_over());
  EXPECT_EQ(task(id).reschedule_count, 2U);
}

TEST_F(TaskWorkerTest, GivesAQueueThatIsAwayUpInTheEnd) {
  queue.claim_error = Error(Code::unavailable, Outcome::not_applied, "no route");
  const auto w = worker({.once = true});
  pass(Duration::seconds(20));
  EXPECT_FALSE(w->is_over());
  pass(Duration::seconds(20));
  ASSERT_TRUE(w->is_over());
  EXPECT_EQ(w->wait().error().code, Code::unavailable);
}

// ---- drain

TEST_F(TaskWorkerTest, DrainsByEndingWhatRuns) {
  const auto w = worker({.concurrency = 2});
  const TaskId id = submit();
  w->drain(Duration::seconds(30));
  const TaskId other = submit();
  EXPECT_FALSE(is_handled(other));
  EXPECT_FALSE(w->is_over());
  EXPECT_FALSE(works[id].stopped);
  end(id);
  ASSERT_TRUE(w->is_over());
  EXPECT_TRUE(w->wait());
  EXPECT_EQ(status(id), Status::completed);
  EXPECT_EQ(status(other), Status::pending);
}

TEST_F(TaskWorkerTest, GivesBackUncountedWhatDoesNotEndInTime) {
  const auto w = worker({});
  const TaskId id = submit({.max_reschedules = 0});
  w->drain(Duration::seconds(5));
  pass(Duration::seconds(4));
  EXPECT_FALSE(works[id].stopped);
  pass(Duration::seconds(1));
  EXPECT_TRUE(works[id].stopped);
  end(id, {.kind = Kind::retry, .error = "killed by SIGTERM"});
  EXPECT_TRUE(w->is_over());
  EXPECT_EQ(status(id), Status::pending);
  EXPECT_EQ(task(id).available_at, clock.wall_now()) << "at once, and not when its lease ends";
  EXPECT_EQ(task(id).retry_count, 0U);
  EXPECT_EQ(task(id).reschedule_count, 0U);
  EXPECT_EQ(lines(id).back(), "Version 3: pending (given back)");
  EXPECT_FALSE(works[id].task->cancel_asked()) << "it was only to stop";
  EXPECT_THAT(ends, ElementsAre(How::given_back));
}

TEST_F(TaskWorkerTest, GivesBackWhatASignalEndsWhileItDrains) {
  const auto w = worker({});
  const TaskId id = submit({.max_retries = 0});
  w->drain(Duration::seconds(30));
  end(id, {.kind = Kind::retry, .error = "killed by SIGTERM", .interrupted = true});
  EXPECT_TRUE(w->is_over());
  EXPECT_EQ(lines(id).back(), "Version 3: pending (given back)");
  EXPECT_EQ(task(id).retry_count, 0U);
}

TEST_F(TaskWorkerTest, GivesBackWhatASignalEndedJustBeforeItHeardOfIt) {
  const auto w = worker({});
  const TaskId id = submit({.max_retries = 0});
  end(id, {.kind = Kind::retry, .error = "killed by SIGINT", .interrupted = true});
  EXPECT_EQ(status(id), Status::running);
  pass(bounds::worker_hearing - Duration::milliseconds(1));
  w->drain(Duration::seconds(30));
  EXPECT_TRUE(w->is_over());
  EXPECT_EQ(lines(id).back(), "Version 3: pending (given back)");
}

TEST_F(TaskWorkerTest, RetriesWhatASignalEndedThatNobodyElseHeardOf) {
  const auto w = worker({});
  const TaskId id = submit({.max_retries = 0});
  end(id, {.kind = Kind::retry, .error = "killed by SIGTERM", .interrupted = true});
  pass(bounds::worker_hearing);
  EXPECT_EQ(status(id), Status::failed);
  EXPECT_EQ(task(id).last_error, "killed by SIGTERM");
}

TEST_F(TaskWorkerTest, GivesAStoppedHandlerNoLongerThanItsTimeout) {
  const auto w = worker({});
  const TaskId id = submit({.timeout = Duration::seconds(30)});
  w->drain(Duration::seconds(28));
  pass(Duration::seconds(28));
  EXPECT_TRUE(works[id].stopped);
  EXPECT_EQ(works[id].task->stop_grace(), Duration::milliseconds(2700));
}

TEST_F(TaskWorkerTest, GivesBackUncountedWhatCouldNotBeBegun) {
  const auto w = worker({});
  const TaskId id = submit({.max_reschedules = 0});
  end(id, {.kind = Kind::reschedule,
           .error = "too many files",
           .delay = Duration::minutes(1),
           .tried = false});
  EXPECT_EQ(status(id), Status::pending);
  EXPECT_EQ(task(id).available_at, clock.wall_now() + Duration::minutes(1));
  EXPECT_THAT(ends, ElementsAre(How::given_back));
  EXPECT_EQ(last_error, "too many files") << "somebody has to look at the worker";
}

TEST_F(TaskWorkerTest, GivesBackWhatItClaimedAndDidNotBegin) {
  queue.holds = true;
  const TaskId id = submit();
  queue.let_go();
  queue.holds = true;
  const auto w = worker({});
  EXPECT_EQ(status(id), Status::running);
  w->drain(Duration::seconds(30));
  queue.let_go();
  EXPECT_FALSE(is_handled(id));
  EXPECT_EQ(status(id), Status::pending);
  EXPECT_TRUE(w->is_over());
}

TEST_F(TaskWorkerTest, EndsInTimeWhateverTheHandlerDoes) {
  const auto w = worker({});
  const TaskId id = submit();
  w->drain(Duration::seconds(5));
  pass(Duration::seconds(14));
  EXPECT_FALSE(w->is_over());
  pass(Duration::seconds(2));
  EXPECT_TRUE(w->is_over());
  EXPECT_EQ(status(id), Status::running) << "its lease ends by itself";
  EXPECT_THAT(notes.at(0), HasSubstr("left to their leases"));
}

TEST_F(TaskWorkerTest, WaitsForAHandlerThatCannotBeEndedAndKeepsItsLease) {
  const auto w = worker({.lease = Duration::seconds(30), .waits = true});
  const TaskId id = submit();
  w->drain(Duration::seconds(5));
  for (int i = 0; i < 20; ++i) pass(Duration::seconds(10));
  EXPECT_TRUE(works[id].stopped);
  EXPECT_FALSE(w->is_over());
  EXPECT_EQ(status(id), Status::running);
  EXPECT_EQ(task(id).attempt, 1U);
  ASSERT_EQ(notes.size(), 1U) << "said once";
  EXPECT_THAT(notes[0], HasSubstr("waited for"));
  queue.give_faults = {Fault::before};  // its word is not taken at once
  end(id);
  EXPECT_FALSE(w->is_over());
  pass(Duration::seconds(1));
  EXPECT_EQ(status(id), Status::completed);
  EXPECT_TRUE(w->is_over());
}

TEST_F(TaskWorkerTest, EndsAtOnceWhenItIsAbandoned) {
  const auto w = worker({.waits = true});
  const TaskId id = submit();
  w->abandon();
  EXPECT_TRUE(w->wait());
  EXPECT_EQ(status(id), Status::running) << "its lease ends by itself";
}

TEST_F(TaskWorkerTest, DrainsSoonerWhenItIsToldAgain) {
  const auto w = worker({});
  const TaskId id = submit();
  w->drain(Duration::minutes(10));
  w->drain(Duration());
  EXPECT_TRUE(works[id].stopped);
}

TEST_F(TaskWorkerTest, StopsItsHandlersWhenItGoes) {
  auto w = worker({});
  const TaskId id = submit();
  w.reset();
  EXPECT_TRUE(works[id].stopped);
  end(id);  // goes nowhere
  EXPECT_EQ(status(id), Status::running);
  bool refused = false;
  works[id].task->extend(Duration::seconds(30), [&](const auto& at) { refused = !at; });
  EXPECT_TRUE(refused);
}

}  // namespace
}  // namespace pawl
