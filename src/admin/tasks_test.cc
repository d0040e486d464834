// Goal: programs submit, follow, cancel and replay tasks over HTTP as people do by hand. Method: a
//       queue in memory behind the whole admin API.
#include "admin/tasks.h"

#include <gmock/gmock.h>

#include "admin/queue_fixture.h"
#include "base/bounds_queue.h"

namespace pawl::admin {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class TasksTest : public QueueFixture {};

TEST_F(TasksTest, SubmitsATaskAsItIsToldTo) {
  const std::string id = submitted(
      "call_api",
      R"(,"input":{"url":"u"},"key":"acme","priority":-3,"max_retries":7,"max_reschedules":9,)"
      R"("timeout_seconds":20,"delay_seconds":60,"ttl_seconds":600)");
  const Heard task = get("/v1/tasks/" + id);
  EXPECT_EQ(task.status, 200) << task.body;
  EXPECT_EQ(task.text("task_type"), "call_api");
  EXPECT_EQ(task.text("status"), "pending");
  EXPECT_EQ(task.text("input"), R"({"url":"u"})");
  EXPECT_EQ(task.text("key"), "acme");
  EXPECT_EQ(task.text("priority"), "-3");
  EXPECT_EQ(task.text("max_retries"), "7");
  EXPECT_EQ(task.text("max_reschedules"), "9");
  EXPECT_EQ(task.text("timeout_seconds"), "20");
  EXPECT_EQ(task.text("available_at"), to_string(clock.wall_now() + Duration::minutes(1)));
  EXPECT_EQ(task.text("expires_at"), to_string(clock.wall_now() + Duration::minutes(10)));
}

TEST_F(TasksTest, TakesNoTimeToLiveForForEver) {
  EXPECT_EQ(post("/v1/tasks", R"({"task_type":"t","ttl_seconds":0})").status, 400);
}

TEST_F(TasksTest, SubmitsOnceUnderOneIdOrName) {
  const std::string body = R"({"task_type":"t","id":"00000000000000000000abcd"})";
  EXPECT_EQ(post("/v1/tasks", body).text("fresh"), "true");
  const Heard again = post("/v1/tasks", body);
  EXPECT_EQ(again.text("fresh"), "false");
  EXPECT_EQ(again.text("id"), "00000000000000000000abcd");
  const std::string named = R"({"task_type":"t","unique":"u","input":1})";
  const std::string id = post("/v1/tasks", named).text("id");
  EXPECT_EQ(post("/v1/tasks", named).text("id"), id);
  EXPECT_EQ(post("/v1/tasks", R"({"task_type":"t","unique":"u","input":2})").status, 409);
}

TEST_F(TasksTest, TakesARetryPolicy) {
  const std::string id = submitted("t", R"(,"retry_policy":{"initial_interval_ms":250})");
  EXPECT_THAT(get("/v1/tasks/" + id).text("retry_policy"),
              AllOf(HasSubstr("\"initial_interval_ms\":250"), HasSubstr("\"multiplier\":2")));
  for (const char* policy : {"1", R"({"steps":1})", R"({"multiplier":"2"})",
                             R"({"multiplier":0.5})", R"({"delays_ms":[-1]})"}) {
    const Heard heard =
        post("/v1/tasks", R"({"task_type":"t","retry_policy":)" + std::string(policy) + "}");
    EXPECT_EQ(heard.status, 400) << policy << heard.body;
  }
}

TEST_F(TasksTest, SubmitsABatch) {
  const Heard heard =
      post("/v1/task-batches",
           R"({"tasks":[{"task_type":"t","input":1},{"task_type":"t","unique":"u","input":1},)"
           R"({"task_type":"t","unique":"u","input":2}]})");
  EXPECT_EQ(heard.status, 200) << heard.body;
  const json::Value body = heard.json();
  const json::Array& told = *body.find("tasks")->if_array();
  ASSERT_EQ(told.size(), 3U);
  EXPECT_EQ(get("/v1/tasks/" + *told[0].find("id")->if_string()).text("input"), "1");
  EXPECT_EQ(*told[1].find("fresh")->if_bool(), true);
  EXPECT_THAT(*told[2].find("error")->if_string(), HasSubstr("u"));
}

TEST_F(TasksTest, SubmitsNothingOfABatchThatIsNone) {
  std::string many = R"({"task_type":"t"})";
  for (std::size_t i = 0; i < bounds::tasks_submitted_max; ++i) many += R"(,{"task_type":"t"})";
  for (const std::string& tasks :
       {std::string(), many, std::string(R"({"task_type":"t"},{"key":"k"})"),
        std::string(R"({"task_type":"t"},{"task_type":"t","at":"tomorrow"})")}) {
    EXPECT_EQ(post("/v1/task-batches", "{\"tasks\":[" + tasks + "]}").status, 400)
        << tasks.substr(0, 100);
  }
  EXPECT_THAT(
      post("/v1/task-batches", R"({"tasks":[{"task_type":"t"},{"task_type":"t","at":"x"}]})").body,
      HasSubstr("tasks[1]: at: "));
  EXPECT_THAT(get("/v1/queue/stats").body, HasSubstr("\"submitted\":0"));
}

TEST_F(TasksTest, RefusesWhatIsNoTask) {
  for (const char* body :
       {"{}", R"({"task_type":""})", R"({"task_type":"t","colour":"red"})",
        R"({"task_type":"t","priority":1000})", R"({"task_type":"t","delay_seconds":-1})",
        R"({"task_type":"t","delay_seconds":1.5})", R"({"task_type":"t","at":"tomorrow"})",
        R"({"task_type":"t","id":"12"})", R"({"task_type":"t","id":"zzzzzzzzzzzzzzzzzzzzzzzz"})",
        R"({"task_type":"\u0007"})"}) {
    EXPECT_EQ(post("/v1/tasks", body).status, 400) << body;
  }
}

TEST_F(TasksTest, ListsTasks) {
  submitted("mail", R"(,"key":"a")");
  submitted("mail", R"(,"key":"b")");
  submitted("call");
  const auto count = [&](const char* query) {
    const json::Value body = get(std::string("/v1/tasks") + query).json();
    const json::Value* tasks = body.find("tasks");
    return tasks == nullptr ? 999 : tasks->if_array()->size();
  };
  EXPECT_EQ(count(""), 3U);
  EXPECT_EQ(count("?type=mail"), 2U);
  EXPECT_EQ(count("?key=b"), 1U);
  EXPECT_EQ(count("?status=running"), 0U);
  EXPECT_EQ(count("?limit=2"), 2U);
  const Heard first = get("/v1/tasks?limit=1");
  const json::Value page = first.json();
  const json::Value& task = page.find("tasks")->if_array()->front();
  EXPECT_EQ(count(("?after=" + *task.find("id")->if_string()).c_str()), 2U);
  EXPECT_EQ(get("/v1/tasks?status=lost").status, 400);
  EXPECT_EQ(get("/v1/tasks?after=zzzzzzzzzzzzzzzzzzzzzzzz").status, 400);
}

TEST_F(TasksTest, ListsThoseThatChangedLastAndSaysHowManyThereAre) {
  std::vector<std::string> made;
  for (const char* type : {"mail", "mail", "call"}) {
    timers.advance(Duration::seconds(1));
    made.push_back(submitted(type));
  }
  const auto newest = [&] {
    const json::Value body = get("/v1/tasks?order=changed&limit=1").json();
    return *body.find("tasks")->if_array()->at(0).find("id")->if_string();
  };
  EXPECT_EQ(newest(), made[2]);
  timers.advance(Duration::seconds(1));
  EXPECT_EQ(post("/v1/tasks/" + made[0] + "/cancel").status, 200);
  EXPECT_EQ(newest(), made[0]);
  const auto total = [&](const char* query) {
    return get(std::string("/v1/tasks?limit=1") + query).text("total");
  };
  EXPECT_EQ(total(""), "3");
  EXPECT_EQ(total("&type=mail"), "2");
  EXPECT_EQ(total("&status=cancelled"), "1");
  EXPECT_EQ(total("&status=pending&type=mail"), "1");
  EXPECT_EQ(total("&key=k"), "null");
  EXPECT_EQ(get("/v1/tasks?order=changed&after=" + made[0]).status, 400);
  const Heard due = get("/v1/tasks?order=due&status=pending&limit=1");
  EXPECT_THAT(due.body, HasSubstr(made[1])) << "of those that are left";
  EXPECT_EQ(get("/v1/tasks?order=due&after=" + made[0]).status, 400);
}

TEST_F(TasksTest, IsOnRecordAsAPartOfItsCallersOperation) {
  const Heard heard =
      ask("POST", "/v1/tasks", R"({"task_type":"t"})", "X-Correlation-Id: checkout-7\r\n");
  ASSERT_EQ(audit.events().size(), 1U);
  EXPECT_EQ(audit.events().back().correlation.correlation_id, "checkout-7");
  EXPECT_THAT(last_event(), AllOf(HasSubstr("task submit"), HasSubstr(heard.text("id"))));
  submitted("t");
  EXPECT_EQ(audit.events().size(), 1U) << "nobody said what it is a part of";
}

TEST_F(TasksTest, JoinsTheTaskThatStandsUnderItsName) {
  const std::string first = submitted("t", R"(,"unique":"2026-01")");
  const std::string field = "X-Correlation-Id: checkout-7\r\n";
  const std::string body = R"({"task_type":"t","unique":"2026-01"})";
  const Heard again = ask("POST", "/v1/tasks", body, field);
  EXPECT_EQ(again.text("fresh"), "false");
  EXPECT_EQ(again.text("id"), first);
  ASSERT_EQ(audit.events().size(), 2U) << "before the submit, and when it was known which stands";
  EXPECT_EQ(audit.events().back().correlation.correlation_id, "checkout-7");
  EXPECT_THAT(last_event(), AllOf(HasSubstr("task submit"), HasSubstr(first)));

  ask("POST", "/v1/task-batches", R"({"tasks":[)" + body + "]}", field);
  EXPECT_EQ(audit.events().size(), 4U);
  EXPECT_THAT(last_event(), HasSubstr(first));
}

TEST_F(TasksTest, JoinsEachTaskOfABatch) {
  const Heard heard =
      ask("POST", "/v1/task-batches", R"({"tasks":[{"task_type":"a"},{"task_type":"b"}]})",
          "X-Correlation-Id: checkout-7\r\n");
  EXPECT_EQ(heard.status, 200) << heard.body;
  ASSERT_EQ(audit.events().size(), 2U);
  for (const audit::Event& event : audit.events()) {
    EXPECT_EQ(event.correlation.correlation_id, "checkout-7");
    EXPECT_THAT(heard.body, HasSubstr(*event.details.front().second.if_string()));
  }
  post("/v1/task-batches", R"({"tasks":[{"task_type":"a"}]})");
  EXPECT_EQ(audit.events().size(), 2U) << "nobody said what it is a part of";
}

TEST_F(TasksTest, SubmitsNothingOfABatchThatCannotBeOnRecord) {
  fill_audit();
  const Heard heard = ask("POST", "/v1/task-batches", R"({"tasks":[{"task_type":"a"}]})",
                          "X-Correlation-Id: checkout-7\r\n");
  EXPECT_EQ(heard.status, 503);
  EXPECT_THAT(get("/v1/tasks").body, HasSubstr(R"("tasks":[])"));
}

TEST_F(TasksTest, TellsTheHistoryAndWhyATaskWaits) {
  const std::string id = submitted("t");
  const std::vector<queue::Task> tasks = claimed();
  EXPECT_EQ(get("/v1/tasks/" + id + "/why").text("hold"), "running");
  EXPECT_EQ(get("/v1/tasks/" + id + "/why").text("worker"), "w1");
  give(queue::Reschedule{
      .id = tasks.at(0).id, .fence = tasks.at(0).fence, .delay = Duration::seconds(60)});
  EXPECT_EQ(get("/v1/tasks/" + id + "/why").text("hold"), "not_due");
  EXPECT_THAT(get("/v1/tasks/" + id + "/history").body,
              AllOf(HasSubstr("\"reason\":\"created\""), HasSubstr("\"worker_id\":\"w1\""),
                    HasSubstr("\"delay_seconds\":60"), HasSubstr("\"version\":3")));
}

TEST_F(TasksTest, CancelsAndReplays) {
  const std::string id = submitted("t");
  const Heard cancelled = post("/v1/tasks/" + id + "/cancel", R"({"why":"not needed"})");
  EXPECT_EQ(cancelled.status, 200) << cancelled.body;
  EXPECT_EQ(cancelled.text("status"), "cancelled");
  EXPECT_THAT(last_event(), AllOf(HasSubstr("task task cancel"), HasSubstr(id)));
  EXPECT_THAT(get("/v1/tasks/" + id).text("cancelled_by"),
              AllOf(HasSubstr("admin API"), HasSubstr("not needed")));
  EXPECT_EQ(post("/v1/tasks/" + id + "/replay").text("status"), "pending");
  EXPECT_THAT(last_event(), HasSubstr("task replay"));
  EXPECT_EQ(post("/v1/tasks/" + id + "/replay").status, 200) << "said again";
  EXPECT_EQ(post("/v1/tasks/" + submitted("t") + "/replay").status, 409) << "it never ended";
}

TEST_F(TasksTest, AsksARunningTaskToStop) {
  const std::string id = submitted("t");
  claimed();
  const Heard asked = post("/v1/tasks/" + id + "/cancel");
  EXPECT_EQ(asked.text("status"), "running") << asked.body;
  EXPECT_EQ(asked.text("cancel_requested"), "true");
}

TEST_F(TasksTest, KnowsNothingOfTasksThatAreNotThere) {
  const std::string nobody(24, '0');
  for (const char* what : {"", "/history", "/why"}) {
    EXPECT_EQ(get("/v1/tasks/" + nobody + what).status, 404) << what;
    EXPECT_EQ(get(std::string("/v1/tasks/none") + what).status, 404) << what;
  }
  EXPECT_EQ(post("/v1/tasks/" + nobody + "/cancel").status, 404);
  EXPECT_EQ(post("/v1/tasks/" + nobody + "/replay").status, 404);
}

TEST_F(TasksTest, SaysWhyThereIsNoQueue) {
  open = failure(Code::unavailable, "the queue is not open yet");
  const Heard away = post("/v1/tasks", R"({"task_type":"t"})");
  EXPECT_EQ(away.status, 503);
  EXPECT_THAT(away.body, HasSubstr("the queue is not open yet"));
  context.tasks = nullptr;
  EXPECT_EQ(post("/v1/tasks", R"({"task_type":"t"})").status, 404);
  EXPECT_EQ(get("/v1/queue/stats").status, 404);
}

TEST_F(TasksTest, ChangesNothingThatCannotBePutOnRecord) {
  const std::string id = submitted("t");
  fill_audit();
  EXPECT_EQ(post("/v1/tasks/" + id + "/cancel").status, 503);
  EXPECT_THAT(get("/v1/tasks/" + id).body, Not(HasSubstr("cancelled\"")));
}

}  // namespace
}  // namespace pawl::admin
