// Goal: audit events are found by number and filter with bounded work a call, and listeners get
// what comes, each from its own place. Method: a log in memory that gives few records at once;
// streams whose other end the test holds.
#include "admin/audit.h"

#include <gmock/gmock.h>

#include "admin/admin_fixture.h"

namespace pawl::admin {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

class AuditTest : public AdminFixture {
 protected:
  AuditTest() {
    trail.add("limit", "c1");
    trail.add("request", "c1");
    trail.add("limit", "c2");
    trail.add("request", "c2");
    trail.add("config");
  }
  std::shared_ptr<net::FakeStream> listen(std::string_view target, std::string_view fields = "") {
    auto stream = connect();
    stream->receive(wire("GET", target, "", fields));
    return stream;
  }
  // What was sent since the last look, without its framing.
  static std::string take(net::FakeStream& stream) {
    std::string text = stream.take_sent();
    const std::size_t head = text.find("\r\n\r\n");
    if (text.starts_with("HTTP/")) text.erase(0, head + 4);
    return text;
  }
};

TEST_F(AuditTest, GivesTheNewestWithoutANumber) {
  EXPECT_EQ(get("/v1/audit?limit=2").body,
            R"({"events":[{"correlation_id":"c2","event_type":"request","seq":4},)"
            R"({"event_type":"config","seq":5}],"more":false,"next":5,)"
            R"("earlier":true,"from":4,"from_at":"1970-01-01T00:00:00.000Z"})"
            "\n");
}

TEST_F(AuditTest, GoesBackFromTheEndPieceByPieceAndSaysHowFar) {
  FakeTrail log;
  context.trail = &log;
  const Instant start = parse_instant("2026-01-05T00:00:00Z").value();
  for (int i = 0; i < 10; ++i) {
    log.add(i == 1 ? "breaker" : "request", "c", start + Duration::seconds(i));
  }
  log.at_once = 4;
  const Heard newest = get("/v1/audit?type=breaker");
  EXPECT_THAT(newest.body,
              HasSubstr(R"("events":[],"more":false,"next":10,"earlier":true,"from":7,)"
                        R"("from_at":"2026-01-05T00:00:06.000Z"})"));
  EXPECT_THAT(get("/v1/audit?type=breaker&before=7").body, HasSubstr(R"("from":3,)"));
  EXPECT_THAT(get("/v1/audit?type=breaker&before=3").body,
              AllOf(HasSubstr(R"("seq":2)"), HasSubstr(R"("earlier":false,"from":1,)")));
  EXPECT_THAT(get("/v1/audit?limit=1&before=7").body,
              AllOf(HasSubstr(R"("seq":6)"), Not(HasSubstr(R"("seq":5)")),
                    HasSubstr(R"("earlier":true,"from":6,)")));
  EXPECT_THAT(get("/v1/audit?before=1").body,
              HasSubstr(R"("earlier":false,"from":0,"from_at":null})"));
  context.trail = &trail;
}

TEST_F(AuditTest, FindsWhatABucketRefusedOrWouldHave) {
  FakeTrail log;
  context.trail = &log;
  const auto policies = [](bool shy, bool other) {
    return json::Array{json::Object{{"name", "shy"}, {"shadow", true}, {"allowed", shy}},
                       json::Object{{"name", "calls"}, {"allowed", other}}};
  };
  for (const auto& [shy, other] : {std::pair(true, true), {false, true}, {true, false}}) {
    log.add_record({{"event_type", "limit"}, {"policies", policies(shy, other)}});
  }
  log.add("request");
  EXPECT_THAT(get("/v1/audit?refused_by=shy").body,
              AllOf(HasSubstr(R"("seq":2)"), Not(HasSubstr(R"("seq":1)")),
                    Not(HasSubstr(R"("seq":3)")), Not(HasSubstr(R"("seq":4)"))));
  EXPECT_THAT(get("/v1/audit?refused_by=calls&after=0").body, HasSubstr(R"("seq":3)"));
  EXPECT_THAT(get("/v1/audit?refused_by=none").body, HasSubstr(R"("events":[])"));
  context.trail = &trail;
}

TEST_F(AuditTest, GoesOnFromANumber) {
  EXPECT_THAT(get("/v1/audit?after=1&limit=2").body,
              AllOf(HasSubstr("\"seq\":2"), HasSubstr("\"seq\":3"), Not(HasSubstr("\"seq\":4")),
                    HasSubstr("\"more\":true,\"next\":3")));
  EXPECT_EQ(get("/v1/audit?after=5").body, "{\"events\":[],\"more\":false,\"next\":5}\n");
}

TEST_F(AuditTest, BeginsWithTheFirstRecordOfAnInstant) {
  FakeTrail log;
  context.trail = &log;
  const Instant start = parse_instant("2026-01-05T00:00:00Z").value();
  for (int hour = 0; hour < 9; ++hour) log.add("request", "c", start + Duration::hours(hour));
  const auto first = [&](Instant since) {
    return get("/v1/audit?limit=1&since=" + to_string(since)).text("next");
  };
  for (int hour = 0; hour < 9; ++hour) {
    EXPECT_EQ(first(start + Duration::hours(hour)), std::to_string(hour + 1));
    EXPECT_EQ(first(start + Duration::hours(hour) + Duration::seconds(30)),
              std::to_string(hour + 1))
        << "clocks differ";
  }
  EXPECT_EQ(first(start - Duration::days(1)), "1");
  EXPECT_EQ(get("/v1/audit?since=" + to_string(start + Duration::days(1))).body,
            "{\"events\":[],\"more\":false,\"next\":9}\n");
  EXPECT_EQ(get("/v1/audit?since=yesterday").status, 400);
  context.trail = &trail;
}

TEST_F(AuditTest, FindsByTypeAndCorrelation) {
  EXPECT_THAT(get("/v1/audit?after=0&type=limit&correlation_id=c2").body,
              AllOf(HasSubstr("\"seq\":3"), Not(HasSubstr("\"seq\":1")),
                    HasSubstr("\"more\":false,\"next\":5")));
}

TEST_F(AuditTest, FollowsAnOperationByAnyOfItsNames) {
  EXPECT_THAT(get("/v1/audit?after=0&thread=c2").body,
              AllOf(HasSubstr("\"seq\":4"), Not(HasSubstr("\"seq\":1"))));
  EXPECT_THAT(get("/v1/audit?after=0&thread=c1%20c2").body,
              AllOf(HasSubstr("\"seq\":4"), HasSubstr("\"seq\":1"), Not(HasSubstr("config"))));
  EXPECT_THAT(get("/v1/audit?after=0&thread=c").body, HasSubstr("\"events\":[]"));
}

TEST_F(AuditTest, SaysThatThereIsMoreWhereItFoundNothingYet) {
  trail.at_once = 2;
  EXPECT_EQ(get("/v1/audit?after=0&type=config").body,
            "{\"events\":[],\"more\":true,\"next\":2}\n");
  EXPECT_THAT(get("/v1/audit?after=4&type=config").body, HasSubstr("\"seq\":5"));
}

TEST_F(AuditTest, SaysThatThereIsNoLog) {
  context.trail = nullptr;
  for (const char* target : {"/v1/audit", "/v1/events"}) {
    const Heard heard = get(target);
    EXPECT_EQ(heard.status, 404) << target;
    EXPECT_THAT(heard.text("detail"), HasSubstr("audit.sinks")) << target;
  }
  context.trail = &trail;
  trail.works = false;
  EXPECT_EQ(get("/v1/audit").status, 503);
}

TEST_F(AuditTest, StreamsWhatComesFromNowOn) {
  const auto stream = listen("/v1/events");
  EXPECT_THAT(stream->sent, AllOf(HasSubstr("Content-Type: text/event-stream\r\n"),
                                  HasSubstr("Cache-Control: no-store"), HasSubstr("retry: 2000")));
  take(*stream);
  admin.tick();
  EXPECT_EQ(stream->sent, "") << "nothing has come";
  trail.add("limit");
  admin.tick();
  EXPECT_THAT(take(*stream),
              HasSubstr("id: 6\nevent: limit\ndata: {\"event_type\":\"limit\",\"seq\":6}\n\n"));
  admin.tick();
  EXPECT_EQ(stream->sent, "");
}

TEST_F(AuditTest, GoesOnWhereAListenerLeftOff) {
  const auto by_field = listen("/v1/events?after=0", "Last-Event-ID: 4\r\n");
  const auto by_query = listen("/v1/events?after=1&type=limit");
  admin.tick();
  EXPECT_THAT(take(*by_field), AllOf(HasSubstr("id: 5\n"), Not(HasSubstr("id: 4\n"))));
  EXPECT_THAT(take(*by_query),
              AllOf(HasSubstr("id: 3\n"), Not(HasSubstr("id: 2\n")), Not(HasSubstr("id: 4\n"))));
  EXPECT_EQ(get("/v1/events", "Last-Event-ID: x\r\n").status, 400);
}

TEST_F(AuditTest, KeepsASilentStreamAlive) {
  const auto stream = listen("/v1/events");
  take(*stream);
  clock.advance(bounds::admin_heartbeat);
  admin.tick();
  EXPECT_THAT(take(*stream), HasSubstr(": still here\n\n"));
  admin.tick();
  EXPECT_EQ(stream->sent, "");
}

TEST_F(AuditTest, HasSoManyListenersAndTakesThePlaceOfOneThatLeft) {
  std::vector<std::shared_ptr<net::FakeStream>> streams;
  for (std::size_t i = 0; i < bounds::admin_listeners_max; ++i) {
    streams.push_back(listen("/v1/events"));
  }
  const Heard one_more = get("/v1/events");
  EXPECT_EQ(one_more.status, 503);
  EXPECT_THAT(one_more.head, HasSubstr("Retry-After: 5\r\n"));
  streams.front()->break_off();
  EXPECT_THAT(listen("/v1/events")->sent, HasSubstr("HTTP/1.1 200"));
}

TEST_F(AuditTest, LetsAListenerGoThatTakesNothing) {
  const auto slow = listen("/v1/events");
  const auto quick = listen("/v1/events");
  slow->stalled = true;
  for (int i = 0; i < 20 && !slow->closed; ++i) {
    trail.add(std::string(30'000, 'x'));
    admin.tick();
    take(*quick);
  }
  EXPECT_TRUE(slow->closed);
  EXPECT_LE(slow->queued_bytes(), bounds::send_queue_bytes_max + 64U * 1024U);
  trail.add("limit");
  admin.tick();
  EXPECT_THAT(take(*quick), HasSubstr("event: limit"));
}

TEST_F(AuditTest, EndsTheStreamWhenTheLogCannotBeRead) {
  const auto stream = listen("/v1/events");
  trail.works = false;
  admin.tick();
  EXPECT_THAT(stream->sent, EndsWith("0\r\n\r\n"));
}

TEST(NextEvent, FollowsAnOperationByWhateverNamesIt) {
  const std::string log =
      "{\"event_type\":\"limit\",\"request_id\":\"r1\",\"seq\":1}\n"
      "{\"correlation_id\":\"r1\",\"event_type\":\"order\",\"seq\":2}\n"
      "{\"event_type\":\"task\",\"seq\":3,\"task_id\":\"r1\"}\n"
      "{\"event_type\":\"task\",\"operation\":\"r1\",\"seq\":4,\"task_id\":\"r2\"}\n";
  std::vector<std::uint64_t> found;
  std::uint64_t last = 0;
  for (std::string_view rest = log; !rest.empty();) {
    if (const auto event = next_event(rest, {.thread = "r1"}, last)) found.push_back(event->seq);
  }
  EXPECT_THAT(found, ::testing::ElementsAre(1U, 2U, 3U));
  EXPECT_EQ(last, 4U);
}

}  // namespace
}  // namespace pawl::admin
