// Goal: what a service answers becomes of its task.
// Method: answers as they are, and a handler on a client that sends nothing.
#include "runtime/http_handler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <vector>

#include "base/bounds_queue.h"
#include "runtime/handled_task_fixture.h"
#include "runtime/manual_clock.h"

namespace pawl {
namespace {

using Kind = TaskEnding::Kind;
using ::testing::Contains;
using ::testing::HasSubstr;

const Instant now = Instant::from_ns(1'700'000'000'000'000'000);

TaskEnding ending(int status, std::string body = "", std::vector<HttpField> fields = {}) {
  return ending_of(
      {.status = status, .fields = std::move(fields), .body = std::move(body), .complete = true},
      now);
}

TEST(HttpHandler, CompletesWithTheBody) {
  for (const int status : {200, 201, 202, 204, 299}) {
    EXPECT_EQ(ending(status).kind, Kind::completed);
  }
  EXPECT_EQ(ending(200, R"({"b": 1, "a": 2})").output, R"({"a":2,"b":1})");
  EXPECT_EQ(ending(204).output, "null");
  EXPECT_EQ(ending(200, "fine").output, R"("fine")");
}

TEST(HttpHandler, ReschedulesByRetryAfter) {
  for (const int status : {429, 503}) {
    const TaskEnding by = ending(status, "", {{"retry-after", "120"}});
    EXPECT_EQ(by.kind, Kind::reschedule);
    EXPECT_EQ(by.delay, Duration::seconds(120));
    EXPECT_EQ(by.scope, queue::Scope::task);
    EXPECT_EQ(ending(status).delay, Duration::seconds(60));
    EXPECT_EQ(ending(status, "", {{"retry-after", "soon"}}).delay, Duration::seconds(60));
    for (const char* gone : {"0", "Thu, 01 Jan 1970 00:00:00 GMT"}) {
      EXPECT_EQ(ending(status, "", {{"retry-after", gone}}).delay, Duration::seconds(1));
    }
  }
}

TEST(HttpHandler, WaitsForACopyOfItThatIsUnderWay) {
  const TaskEnding later = ending(409, "in flight", {{"Retry-After", "7"}});
  EXPECT_EQ(later.kind, Kind::reschedule);
  EXPECT_EQ(later.delay, Duration::seconds(7));
  EXPECT_EQ(later.scope, queue::Scope::task);
  EXPECT_EQ(ending(409, "", {{"Retry-After", "soon"}}).kind, Kind::failed);
  EXPECT_EQ(ending(422, "", {{"Retry-After", "7"}}).kind, Kind::failed);
}

TEST(HttpHandler, RetriesAfterOtherErrorsOfTheServerAndWhatCameTooLateOrEarly) {
  for (const int status : {408, 425, 500, 501, 502, 504, 599}) {
    EXPECT_EQ(ending(status, "out of order").kind, Kind::retry) << status;
  }
  EXPECT_EQ(ending(500, "out of order\n").error, "HTTP 500: out of order");
}

TEST(HttpHandler, RetriesNotBeforeAnInstantThatWasNamed) {
  for (const int status : {408, 425, 500, 502, 504}) {
    const TaskEnding later = ending(status, "", {{"Retry-After", "300"}});
    EXPECT_EQ(later.kind, Kind::retry) << status;
    EXPECT_EQ(later.delay, Duration::minutes(5)) << status;
    EXPECT_EQ(ending(status).delay, Duration()) << "the backoff says when";
  }
  const std::vector<HttpField> used_up = {{"X-RateLimit-Remaining", "0"},
                                          {"X-RateLimit-Reset", "60"}};
  EXPECT_EQ(ending(500, "", used_up).delay, Duration::minutes(1));
  EXPECT_EQ(ending(404, "", {{"Retry-After", "300"}}).delay, Duration()) << "there is no retry";
}

TEST(HttpHandler, FailsForGoodAfterAllElse) {
  for (const int status : {400, 401, 404, 409, 422, 301, 304, 600}) {
    EXPECT_EQ(ending(status).kind, Kind::failed) << status;
  }
  EXPECT_EQ(ending(302).error, "HTTP 302 (no redirect is followed)");
}

TEST(HttpHandler, CompletesThoughTheAnswerBreaksOff) {
  const TaskEnding broken = ending_of({.status = 200, .body = "{\"a\":", .complete = false}, now);
  EXPECT_EQ(broken.kind, Kind::completed) << "the service has done it";
  EXPECT_THAT(broken.output, HasSubstr("(cut: it had "));
}

TEST(HttpHandler, CompletesWithABodyThatHadToBeCut) {
  const TaskEnding large = ending_of(
      {.status = 200, .body = std::string(bounds::task_output_bytes_max, 'x'), .complete = false},
      now);
  EXPECT_EQ(large.kind, Kind::completed);
  EXPECT_THAT(large.output, HasSubstr("(cut: it had "));
}

class FakeClient final : public HttpClient {
 public:
  void send(HttpRequest request, Done done) override {
    requests.push_back(std::move(request));
    dones.push_back(std::move(done));
  }
  std::vector<HttpRequest> requests;
  std::vector<Done> dones;
};

class HttpHandlerTest : public ::testing::Test {
 protected:
  HttpHandlerTest() {
    task->given.terms = {.type = "mäil", .input = R"({"to":"x"})", .key = "acme"};
    task->given.terms.timeout = Duration::seconds(90);
    task->given.attempt = 2;
    task->given.fence = 17;
    http_handler(client, clock, "http://service/tasks")(task, [this](TaskEnding end) {
      EXPECT_FALSE(ended) << "it ended twice";
      ended = std::move(end);
    });
  }

  ManualClock clock;
  FakeClient client;
  std::shared_ptr<FakeHandledTask> task = std::make_shared<FakeHandledTask>();
  std::optional<TaskEnding> ended;
};

TEST_F(HttpHandlerTest, PostsTheTask) {
  ASSERT_EQ(client.requests.size(), 1U);
  const HttpRequest& request = client.requests[0];
  const std::string id = to_string(task->given.id);
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.url, "http://service/tasks");
  EXPECT_EQ(request.body, R"({"to":"x"})");
  EXPECT_EQ(request.deadline, Duration::seconds(90));
  for (const HttpField& field : std::vector<HttpField>{{"Content-Type", "application/json"},
                                                       {"Pawl-Task-Id", id},
                                                       {"Pawl-Task-Type", "m%C3%A4il"},
                                                       {"Pawl-Task-Key", "acme"},
                                                       {"Pawl-Attempt", "2"},
                                                       {"Pawl-Fence", "17"},
                                                       {"Idempotency-Key", id}}) {
    EXPECT_THAT(request.fields, Contains(field)) << field.name;
  }
}

TEST_F(HttpHandlerTest, PostsAReplayUnderAKeyOfItsOwn) {
  task->given.replay_count = 2;
  http_handler(client, clock, "http://service/tasks")(task, [](const TaskEnding&) {});
  const std::string id = to_string(task->given.id);
  EXPECT_THAT(client.requests.back().fields, Contains(HttpField{"Idempotency-Key", id + "-2"}));
  EXPECT_THAT(client.requests.back().fields, Contains(HttpField{"Pawl-Task-Id", id}));
}

TEST_F(HttpHandlerTest, EndsWithTheAnswer) {
  client.dones[0](HttpAnswer{.status = 200, .body = "1", .complete = true});
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->output, "1");
}

TEST_F(HttpHandlerTest, RetriesWithoutAnAnswer) {
  client.dones[0](std::unexpected(Error(Code::unavailable, Outcome::unknown, "timed out")));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->kind, Kind::retry);
  EXPECT_EQ(ended->error, "timed out");
}

TEST_F(HttpHandlerTest, EndsAtOnceWhenItIsToStop) {
  task->stop();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->kind, Kind::retry);
  EXPECT_EQ(ended->error, "it was cancelled");
  client.dones[0](HttpAnswer{.status = 200, .complete = true});  // too late
}

}  // namespace
}  // namespace pawl
