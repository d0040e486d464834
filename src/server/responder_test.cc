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
    return {.body = request.method + " " + std::string(request.path()) + " " +
                    std::string(request.header("x-a")) + " " + request.body,
            .extra_fields = "X-B: 2\r\n"};
  }

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

}  // namespace
}  // namespace pawl::server
