// Goal: what the upstream says behind its head reaches the client: trailers, and a WebSocket's
// bytes once it has agreed to one; and no protocol is spoken that nobody asked for. Method: as
// proxy_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gateway/proxy.h"
#include "gateway/proxy_fixture.h"

namespace pawl::gateway {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(ProxyTest, PassesOnTheTrailersOfAnAnswer) {
  const auto upstream = send(get("/a"));
  upstream->receive("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n");
  client->sent.clear();
  upstream->receive("0\r\nX-Checksum: 9\r\nX-Request-Id: e\r\nRateLimit: e\r\n\r\n");
  EXPECT_EQ(client->sent, "0\r\nX-Checksum: 9\r\n\r\n");
}

TEST_F(ProxyTest, PassesOnALongBodyPieceByPieceAndUsesTheConnectionAgain) {
  const auto upstream = send(get("/a"));
  upstream->receive("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc");
  client->sent.clear();
  upstream->receive("def");
  EXPECT_EQ(client->take_sent(), "def");
  upstream->receive("ghi");
  EXPECT_EQ(client->take_sent(), "ghi");
  client->receive(get("/b"));
  EXPECT_THAT(upstream->sent, HasSubstr("GET /b"));
}

class WebSocketTest : public ProxyTest {
 protected:
  WebSocketTest() {
    config.server.websocket = true;
    apply();
  }
  static constexpr std::string_view ask =
      "GET /chat HTTP/1.1\r\nHost: h\r\nX-Tenant-Id: acme\r\nConnection: keep-alive, Upgrade\r\n"
      "Upgrade: websocket\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n\r\n";
  static constexpr std::string_view agree =
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
      "Sec-WebSocket-Accept: y\r\n\r\n";
  std::shared_ptr<net::FakeStream> open() {
    auto upstream = send(ask);
    upstream->receive(agree);
    upstream->sent.clear();
    client->sent.clear();
    return upstream;
  }
};

TEST_F(WebSocketTest, IsATunnelOnceTheUpstreamAgrees) {
  const auto upstream = send(ask);
  EXPECT_THAT(upstream->sent, HasSubstr("\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"));
  EXPECT_THAT(upstream->sent, HasSubstr("\r\nSec-WebSocket-Key: x\r\n"));
  upstream->sent.clear();
  client->receive("early");
  EXPECT_EQ(upstream->sent, "") << "not before the upstream agrees";
  upstream->receive(std::string(agree) + "hello");
  EXPECT_THAT(client->sent, StartsWith("HTTP/1.1 101 Switching Protocols\r\n"));
  EXPECT_THAT(client->sent, HasSubstr("\r\nUpgrade: websocket\r\n"));
  EXPECT_THAT(client->sent, HasSubstr("\r\nSec-WebSocket-Accept: y\r\n"));
  EXPECT_TRUE(client->sent.ends_with("\r\n\r\nhello"));
  EXPECT_EQ(upstream->take_sent(), "early");
  client->receive("GET / is no request here\r\n\r\n");
  EXPECT_EQ(upstream->sent, "GET / is no request here\r\n\r\n");
  client->sent.clear();
  upstream->receive("HTTP/1.1 999 nor an answer");
  EXPECT_EQ(client->sent, "HTTP/1.1 999 nor an answer");
}

TEST_F(WebSocketTest, EndsWhenEitherSideCloses) {
  auto upstream = open();
  upstream->receive("bye");
  upstream->break_off();
  EXPECT_EQ(client->sent, "bye");
  EXPECT_TRUE(client->said_goodbye);
  EXPECT_EQ(outcome(), "applied");
  client = std::make_shared<net::FakeStream>();
  loop.accepted(client);
  upstream = open();
  client->break_off();
  EXPECT_TRUE(upstream->closed);
  EXPECT_EQ(outcome(), "applied");
  EXPECT_EQ(load.requests, 0);
}

TEST_F(WebSocketTest, MayRestForAsLongAsItLikes) {
  const auto upstream = open();
  for (int i = 0; i < 10; ++i) pass(config.server.timeouts.answer);
  EXPECT_FALSE(client->ended());
  upstream->receive("still here");
  EXPECT_EQ(client->sent, "still here");
}

TEST_F(WebSocketTest, HoldsBackWhicheverSideIsFaster) {
  const auto upstream = open();
  const std::string block(300 * 1024, 'x');
  client->stalled = true;
  upstream->receive(block);
  EXPECT_TRUE(upstream->paused);
  client->drain();
  EXPECT_FALSE(upstream->paused);
  upstream->stalled = true;
  client->receive(block);
  EXPECT_TRUE(client->paused);
  upstream->drain();
  EXPECT_FALSE(client->paused);
}

TEST_F(WebSocketTest, ThatTheUpstreamDoesNotWantIsARequestLikeAnyOther) {
  const auto upstream = send(ask);
  upstream->receive("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
  EXPECT_THAT(client->take_sent(), StartsWith("HTTP/1.1 404 Not Found\r\n"));
  client->receive(get("/b"));
  EXPECT_THAT(upstream->sent, HasSubstr("GET /b"));
}

TEST_F(WebSocketTest, IsRefusedUnlessItIsWanted) {
  client->receive("GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n");
  EXPECT_THAT(client->take_sent(), StartsWith("HTTP/1.1 501 Not Implemented\r\n"));
  config.server.websocket = false;
  apply();
  client->receive(ask);
  EXPECT_THAT(client->sent, StartsWith("HTTP/1.1 501 Not Implemented\r\n"));
  EXPECT_THAT(client->sent, HasSubstr("ERR_UPGRADE_REFUSED"));
  EXPECT_TRUE(loop.connecting.empty());
  EXPECT_EQ(outcome(), "not_applied");
  EXPECT_EQ(telemetry.allowed.value(), 0u) << "it costs no quota";
  client->sent.clear();
  client->receive(get("/b"));
  EXPECT_EQ(loop.connecting.size(), 1u) << "nor the connection";
}

TEST_F(WebSocketTest, AChangeOfProtocolThatNobodyAskedForIsNotPassedOn) {
  const auto upstream = send(get("/a"));
  upstream->receive(agree);
  EXPECT_THAT(client->sent, StartsWith("HTTP/1.1 502 Bad Gateway\r\n"));
  EXPECT_TRUE(upstream->closed);
  client->sent.clear();
  const auto other = send(ask);
  other->receive("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n");
  EXPECT_THAT(client->sent, StartsWith("HTTP/1.1 502 Bad Gateway\r\n"));
  EXPECT_TRUE(other->closed);
  EXPECT_THAT(client->sent, Not(HasSubstr("h2c")));
}

}  // namespace
}  // namespace pawl::gateway
