// Goal: whole requests become whole answers, and a body over the bound is refused before it is
//       kept.
#include "server/responder.h"

#include <gtest/gtest.h>

#include "net/fake.h"
#include "runtime/manual_clock.h"
#include "server/http_server.h"

namespace pawl::server {
namespace {

class ResponderTest : public ::testing::Test {
 protected:
  ResponderTest() { EXPECT_TRUE(server.listen(parse_endpoint("127.0.0.1:0").value()).has_value()); }
  std::shared_ptr<net::FakeStream> client() {
    auto stream = std::make_shared<net::FakeStream>();
    loop.accepted(stream);
    return stream;
  }
  Response respond(const Request& request) {
    peer = request.peer;
    return {.body = request.method + " " + std::string(request.path()) + " " +
                    std::string(request.header("x-a")) + " " + request.body,
            .extra_fields = "X-B: 2\r\n"};
  }

  IpAddress peer;
  ManualClock clock;
  net::FakeLoop loop;
  HttpServer server{loop,
                    clock,
                    {.make_handler =
                         [this](Connection& connection) {
                           return make_responder(
                               connection, [this](const Request& r) { return respond(r); }, 8);
                         },
                     .connections_max = 2}};
};

TEST_F(ResponderTest, AnswersAWholeRequest) {
  const auto stream = client();
  stream->receive("POST /p?q HTTP/1.1\r\nHost: h\r\nX-A: 1\r\nContent-Length: 4\r\n\r\nbody");
  EXPECT_EQ(stream->sent,
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 14\r\n"
            "X-B: 2\r\nConnection: keep-alive\r\n\r\nPOST /p 1 body");
}

TEST_F(ResponderTest, AnswersAHeadWithoutABody) {
  const auto stream = client();
  stream->receive("HEAD /p HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(stream->sent.ends_with("\r\n\r\n"));
  EXPECT_NE(stream->sent.find("Content-Length: 9"), std::string::npos) << stream->sent;
}

TEST_F(ResponderTest, RefusesABodyOverTheBound) {
  const auto told = client();
  told->receive("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n");
  EXPECT_TRUE(told->sent.starts_with("HTTP/1.1 413 ")) << told->sent;
  const auto chunked = client();
  chunked->receive(
      "POST /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\naaaaa\r\n");
  EXPECT_EQ(chunked->sent, "");
  chunked->receive("5\r\nbbbbb\r\n");
  EXPECT_TRUE(chunked->sent.starts_with("HTTP/1.1 413 ")) << chunked->sent;
}

TEST_F(ResponderTest, KnowsWhoAsks) {
  const auto stream = client();
  stream->receive("GET /who HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(to_string(peer), "192.0.2.7");
}

TEST_F(ResponderTest, TurnsAwayConnectionsOverTheBound) {
  const auto first = client();
  const auto second = client();
  const auto third = client();
  EXPECT_TRUE(third->closed);
  EXPECT_EQ(server.turned_away(), 1u);
  first->break_off();
  EXPECT_EQ(server.connections(), 1u);
  EXPECT_FALSE(client()->closed);
}

TEST_F(ResponderTest, DrainClosesIdleConnectionsAndTakesNoMore) {
  const auto idle = client();
  server.drain();
  EXPECT_TRUE(idle->said_goodbye);
  EXPECT_TRUE(client()->closed);
  EXPECT_EQ(server.connections(), 0u);
}

TEST_F(ResponderTest, TicksCloseConnectionsThatIdle) {
  const auto idle = client();
  clock.advance(bounds::http_idle_deadline + Duration::seconds(1));
  for (const auto& tick : loop.ticks) tick();
  EXPECT_TRUE(idle->closed);
}

// Here the test holds the replies and answers when it likes.
class LateResponderTest : public ::testing::Test {
 protected:
  LateResponderTest() {
    EXPECT_TRUE(server.listen(parse_endpoint("127.0.0.1:0").value()).has_value());
    loop.accepted(client);
  }
  Reply take() {
    Reply reply = std::move(replies.front());
    replies.erase(replies.begin());
    return reply;
  }
  void get(std::string_view method = "GET", std::string_view version = "1.1") {
    client->receive(std::string(method) + " / HTTP/" + std::string(version) +
                    "\r\nHost: h\r\nConnection: keep-alive\r\n\r\n");
  }

  ManualClock clock;
  net::FakeLoop loop;
  std::vector<Reply> replies;
  HttpServer server{loop, clock, {.make_handler = [this](Connection& connection) {
                      return make_responder(
                          connection,
                          [this](const Request&, Reply r) { replies.push_back(std::move(r)); }, 8);
                    }}};
  std::shared_ptr<net::FakeStream> client = std::make_shared<net::FakeStream>();
};

TEST_F(LateResponderTest, AnswersLaterAndInTurn) {
  get();
  get();
  ASSERT_EQ(replies.size(), 1u) << "the next request waits for the first answer";
  EXPECT_EQ(client->sent, "");
  take().send({.body = "one"});
  EXPECT_TRUE(client->take_sent().ends_with("\r\n\r\none"));
  ASSERT_EQ(replies.size(), 1u);
  take().send({.body = "two"});
  EXPECT_TRUE(client->take_sent().ends_with("\r\n\r\ntwo"));
}

TEST_F(LateResponderTest, AnAnswerNobodyWaitsForGoesNowhere) {
  get();
  client->break_off();
  EXPECT_EQ(server.connections(), 0u);
  take().send({.body = "late"});
  EXPECT_EQ(client->sent, "");
}

TEST_F(LateResponderTest, AReplyThatIsDroppedClosesTheConnection) {
  get();
  {
    const Reply dropped = take();
  }
  EXPECT_TRUE(client->closed);
  EXPECT_EQ(server.connections(), 0u);
}

TEST_F(LateResponderTest, StreamsInChunksUntilItsEndAndGoesOn) {
  get();
  {
    ReplyStream stream =
        take().stream({.content_type = "text/event-stream", .body = "", .extra_fields = ""});
    EXPECT_EQ(client->take_sent(),
              "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
              "Transfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_TRUE(stream.push("data: 1\n\n"));
    EXPECT_EQ(client->take_sent(), "9\r\ndata: 1\n\n\r\n");
    EXPECT_TRUE(stream.push("")) << "an empty piece would end the body";
    EXPECT_EQ(client->sent, "");
  }
  EXPECT_EQ(client->take_sent(), http::last_chunk);
  get();
  EXPECT_EQ(replies.size(), 1u);
}

TEST_F(LateResponderTest, AStreamSaysWhenItsClientHasLeft) {
  get();
  ReplyStream stream = take().stream({});
  EXPECT_TRUE(stream.is_open());
  client->break_off();
  EXPECT_FALSE(stream.is_open());
  EXPECT_FALSE(stream.push("x"));
}

TEST_F(LateResponderTest, AClientThatDoesNotKeepUpIsLetGo) {
  get();
  ReplyStream stream = take().stream({});
  client->stalled = true;
  EXPECT_TRUE(stream.push("x"));
  EXPECT_FALSE(stream.push(std::string(bounds::send_queue_bytes_max, 'x')));
  EXPECT_TRUE(client->closed);
}

TEST_F(LateResponderTest, StreamsToAnOldClientUntilTheClose) {
  get("GET", "1.0");
  {
    ReplyStream stream = take().stream({.body = "a"});
    EXPECT_TRUE(client->sent.ends_with("Connection: close\r\n\r\na")) << client->sent;
    EXPECT_EQ(client->take_sent().find("chunked"), std::string::npos);
    stream.push("b");
  }
  EXPECT_EQ(client->sent, "b");
  EXPECT_TRUE(client->said_goodbye);
}

TEST_F(LateResponderTest, AHeadOfAStreamIsAnsweredAtOnce) {
  get("HEAD");
  ReplyStream stream = take().stream({.body = "first"});
  EXPECT_TRUE(client->sent.ends_with("\r\n\r\n"));
  EXPECT_FALSE(stream.push("x"));
  get();
  EXPECT_EQ(replies.size(), 1u) << "the connection is free again";
}

}  // namespace
}  // namespace pawl::server
