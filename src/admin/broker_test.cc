// Goal: a broker answers as its queue does, waits for what is not due yet, and claims nothing for
//       whoever has left. Method: bodies of the protocol over connections that the test holds.
#include "admin/broker.h"

#include <gmock/gmock.h>

#include "admin/queue_fixture.h"
#include "base/bounds_queue.h"
#include "runtime/broker_bytes.h"

namespace pawl::admin {
namespace {

using broker::Look;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Tasks = std::vector<queue::Task>;
using Replies = std::vector<queue::Reply>;

class BrokerTest : public QueueFixture {
 protected:
  template <class T>
  static Result<T> result_of(const Heard& heard) {
    EXPECT_EQ(heard.status, 200) << heard.body;
    EXPECT_THAT(heard.head, HasSubstr("Content-Type: application/vnd.pawl.queue"));
    return broker::read_result<T>(heard.body);
  }
  template <class T>
  Result<T> look(const Look& look) {
    return result_of<T>(post(broker::look_path, broker::write_look(look)));
  }
  Replies given(const std::vector<queue::Command>& commands) {
    return result_of<Replies>(post(broker::commands_path, broker::write_commands(commands)))
        .value();
  }
  queue::TaskId submit(std::string type = "t") {
    const queue::Submit one{.id = queue::make_task_id(entropy.next()),
                            .terms = {.type = std::move(type), .input = "{}"}};
    return std::get<queue::Submitted>(given({one}).at(0)).id;
  }
  static ClaimedTasks claimed(const Heard& heard) { return result_of<ClaimedTasks>(heard).value(); }
  static std::string claim_bytes(Duration wait) {
    return broker::write_claim({.claim = {.worker = "w", .count = 500}, .wait = wait});
  }
  // A claim that waits, on a connection of its own.
  std::shared_ptr<net::FakeStream> waiting(Duration wait) {
    const auto stream = connect();
    stream->receive(wire("POST", broker::claim_path, claim_bytes(wait), ""));
    return stream;
  }
};

TEST_F(BrokerTest, TakesCommandsAndClaims) {
  const queue::TaskId id = submit();
  const Tasks tasks = claimed(post(broker::claim_path, claim_bytes(Duration()))).tasks;
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].id, id);
  const Replies replies = given({queue::Complete{.id = id, .fence = tasks[0].fence, .output = "1"},
                                 queue::Complete{.id = id, .fence = 999, .output = "2"}});
  EXPECT_EQ(std::get<queue::Changed>(replies.at(0)).status, queue::Status::completed);
  EXPECT_TRUE(std::holds_alternative<queue::Refusal>(replies.at(1)));
  EXPECT_EQ(look<queue::Task>({.kind = Look::Kind::task, .id = id}).value().output, "1");
}

TEST_F(BrokerTest, PutsOnRecordWhatOperatorsAskForAndNotWhatWorkersSay) {
  const queue::TaskId id = submit();
  EXPECT_EQ(last_event(), "");
  given({queue::Cancel{.id = id, .by = "pawl cancel"}});
  EXPECT_THAT(last_event(), AllOf(HasSubstr("task task cancel"), HasSubstr(to_string(id))));
  given({queue::Replay{.id = id}});
  EXPECT_THAT(last_event(), AllOf(HasSubstr("task task replay"), HasSubstr(to_string(id))));
  given({queue::Close{.name = "acme", .until = clock.wall_now() + Duration::minutes(1)}});
  EXPECT_THAT(last_event(), AllOf(HasSubstr("task queue close"), HasSubstr("acme")));
  given({queue::SetLimit{.name = "acme", .running = 5}});
  EXPECT_THAT(last_event(), AllOf(HasSubstr("task queue limit"), HasSubstr(R"("running":5)")));
  given({queue::SetSchedule{.name = "nightly", .cron = "@daily", .terms = {.type = "report"}}});
  EXPECT_THAT(last_event(), AllOf(HasSubstr("task queue schedule"), HasSubstr("nightly")));
}

TEST_F(BrokerTest, DoesNothingThatCannotBePutOnRecord) {
  const queue::TaskId id = submit();
  fill_audit();
  const std::vector<queue::Command> cancel = {queue::Cancel{.id = id, .by = "pawl cancel"}};
  const auto refused =
      result_of<Replies>(post(broker::commands_path, broker::write_commands(cancel)));
  EXPECT_EQ(refused.error().outcome, Outcome::not_applied);
  EXPECT_EQ(look<queue::Task>({.kind = Look::Kind::task, .id = id}).value().status,
            queue::Status::pending);
}

TEST_F(BrokerTest, TakesNothingThatIsMeantForAnotherQueue) {
  const std::string bytes = broker::write_look({});
  EXPECT_EQ(ask("POST", broker::look_path, bytes, "Pawl-Queue: m\r\n").status, 200);
  for (const std::string_view path :
       {broker::look_path, broker::commands_path, broker::claim_path}) {
    const Heard heard = ask("POST", path, bytes, "Pawl-Queue: n\r\n");
    EXPECT_EQ(heard.status, 409) << path;
    EXPECT_THAT(heard.body, HasSubstr("another queue"));
  }
}

TEST_F(BrokerTest, ShowsAllThatThereIsToSee) {
  const queue::TaskId id = submit();
  const broker::Hello hello = look<broker::Hello>({}).value();
  EXPECT_EQ(hello.mark, "m");
  EXPECT_EQ(hello.view.settings.shards, 1U);
  using Kind = Look::Kind;
  EXPECT_EQ(look<queue::History>({.kind = Kind::history, .id = id}).value().versions.size(), 1U);
  EXPECT_EQ(look<queue::Why>({.kind = Kind::why, .id = id}).value().hold, queue::Hold::waits);
  EXPECT_EQ(look<Tasks>({.kind = Kind::list}).value().size(), 1U);
  EXPECT_EQ(look<queue::Stats>({.kind = Kind::stats}).value().totals.submitted, 1U);
  EXPECT_TRUE(look<std::vector<queue::Schedule>>({.kind = Kind::schedules}).value().empty());
  EXPECT_TRUE(look<std::vector<queue::Closing>>({.kind = Kind::closings}).value().empty());
  EXPECT_TRUE(look<std::vector<queue::SetLimit>>({.kind = Kind::limits}).value().empty());
  EXPECT_EQ(look<queue::Task>({.kind = Kind::task, .id = {.bytes = {7}}}).error().code,
            Code::not_found);
}

TEST_F(BrokerTest, AnswersNoMoreTasksThanAnAnswerHolds) {
  for (int i = 0; i < 70; ++i) submit();
  const Tasks tasks = claimed(post(broker::claim_path, claim_bytes(Duration()))).tasks;
  EXPECT_EQ(tasks.size(), bounds::broker_tasks_max);
  EXPECT_EQ(look<Tasks>({.kind = Look::Kind::list, .filter = {.limit = 1000}}).value().size(),
            bounds::broker_tasks_max);
}

TEST_F(BrokerTest, WaitsUntilSomethingIsDue) {
  const auto stream = waiting(Duration::seconds(10));
  timers.advance(Duration::seconds(5));
  EXPECT_EQ(stream->sent, "");
  submit();
  const ClaimedTasks found = claimed(read(stream->sent));
  EXPECT_EQ(found.tasks.size(), 1U);
  EXPECT_EQ(found.waited, Duration::seconds(5)) << "leases count from then";
}

TEST_F(BrokerTest, SaysThatNothingCame) {
  const auto stream = waiting(Duration::seconds(10));
  timers.advance(Duration::seconds(11));
  EXPECT_TRUE(claimed(read(stream->sent)).tasks.empty());
}

TEST_F(BrokerTest, GivesBackWhatWasClaimedForWhoeverHasLeft) {
  const auto stream = waiting(Duration::seconds(10));
  stream->break_off();
  const queue::TaskId id = submit();
  queue::Task task = look<queue::Task>({.kind = Look::Kind::task, .id = id}).value();
  EXPECT_EQ(task.status, queue::Status::pending);
  EXPECT_EQ(task.reschedule_count, 0U);
  timers.advance(Duration::seconds(2));
  const queue::TaskId next = submit();
  task = look<queue::Task>({.kind = Look::Kind::task, .id = next}).value();
  EXPECT_EQ(task.attempt, 0U) << "nobody waits any more";
}

TEST_F(BrokerTest, TellsWhoeverWaitsThatItEnds) {
  const auto stream = waiting(Duration::seconds(10));
  open = failure(Code::unavailable, "this pawl is ending");
  queue->stop_claims();
  const auto told = result_of<ClaimedTasks>(read(stream->sent));
  ASSERT_FALSE(told.has_value());
  EXPECT_EQ(told.error().code, Code::unavailable);
}

TEST_F(BrokerTest, RefusesWhatItDoesNotUnderstand) {
  for (const std::string_view path :
       {broker::commands_path, broker::claim_path, broker::look_path}) {
    EXPECT_EQ(post(path, "{}").status, 400);
    EXPECT_EQ(post(path, "").status, 400);
  }
  context.tasks = nullptr;
  EXPECT_EQ(post(broker::look_path, broker::write_look({})).status, 404);
}

}  // namespace
}  // namespace pawl::admin
