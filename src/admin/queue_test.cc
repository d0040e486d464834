// Goal: programs see how full the queue is, and close and open parts of it. Method: a queue in
//       memory behind the whole admin API.
#include "admin/queue.h"

#include <gmock/gmock.h>

#include "admin/queue_fixture.h"
#include "core/queue/segment.h"

namespace pawl::admin {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class QueueTest : public QueueFixture {};

TEST_F(QueueTest, TellsTheNumbers) {
  submitted("mail");
  submitted("mail");
  claimed();
  const Heard stats = get("/v1/queue/stats");
  EXPECT_EQ(stats.status, 200) << stats.body;
  EXPECT_THAT(stats.body, AllOf(HasSubstr("\"task_type\":\"mail\""), HasSubstr("\"running\":1"),
                                HasSubstr("\"due\":1"), HasSubstr("\"submitted\":2"),
                                HasSubstr("\"put\":3"), HasSubstr("\"commits\":3")));
}

TEST_F(QueueTest, ClosesAKeyForAWhile) {
  const Heard closed = post("/v1/queue/close", R"({"scope":"key","name":"acme","for_seconds":60})");
  EXPECT_EQ(closed.status, 200) << closed.body;
  EXPECT_EQ(closed.text("until"), to_string(clock.wall_now() + Duration::minutes(1)));
  EXPECT_THAT(last_event(), AllOf(HasSubstr("task queue close"), HasSubstr("acme")));
  const std::string id = submitted("t", R"(,"key":"acme")");
  EXPECT_EQ(get("/v1/tasks/" + id + "/why").text("hold"), "closed");
  EXPECT_THAT(get("/v1/queue/closings").body, HasSubstr("\"name\":\"acme\""));
  EXPECT_EQ(post("/v1/queue/close", R"({"scope":"key","name":"acme","for_seconds":0})").status,
            200);
  EXPECT_EQ(get("/v1/tasks/" + id + "/why").text("hold"), "waits");
}

TEST_F(QueueTest, ClosesTheWholeUntilAnInstant) {
  const Heard closed =
      post("/v1/queue/close", R"({"scope":"queue","until":"2030-01-01T00:00:00Z"})");
  EXPECT_EQ(closed.text("until"), "2030-01-01T00:00:00.000Z") << closed.body;
  submitted("t");
  EXPECT_TRUE(claimed().empty());
}

TEST_F(QueueTest, RefusesToCloseWhatIsNotNamed) {
  for (const char* body :
       {"{}", R"({"scope":"key","for_seconds":1})", R"({"scope":"key","name":"a"})",
        R"({"scope":"queue","name":"a","for_seconds":1})", R"({"scope":"task","for_seconds":1})",
        R"({"scope":"queue","for_seconds":1,"until":"2030-01-01T00:00:00Z"})",
        R"({"scope":"queue","until":"soon"})"}) {
    EXPECT_EQ(post("/v1/queue/close", body).status, 400) << body;
  }
}

TEST_F(QueueTest, SaysThatADamagedLogIsNoFaultOfTheCallers) {
  store.put({.name = queue::segment_name(0, 1), .body = "no segment"},
            [](const Result<PutAnswer>& put) { EXPECT_TRUE(put.has_value()); });
  timers.advance(Duration::seconds(10));
  for (const Heard& heard : {post("/v1/tasks", R"({"task_type":"t"})"), get("/v1/tasks")}) {
    EXPECT_EQ(heard.status, 503) << heard.body;
    EXPECT_THAT(heard.body, HasSubstr("segment 1 of shard 0 is damaged"));
  }
}

TEST_F(QueueTest, ListsLimitsAndSchedules) {
  give(queue::SetLimit{.limited = queue::Limited::type, .name = "mail", .running = 2});
  give(queue::SetSchedule{.name = "nightly",
                          .cron = "@daily",
                          .terms = {.type = "t", .input = "{}"},
                          .next = clock.wall_now() + Duration::hours(1)});
  EXPECT_THAT(get("/v1/queue/limits").body, HasSubstr("\"name\":\"mail\""));
  EXPECT_THAT(get("/v1/queue/schedules").body, HasSubstr("\"name\":\"nightly\""));
}

}  // namespace
}  // namespace pawl::admin
