// Goal: connections are let in as far as there is room, greeted where TLS is spoken, and ended in
// time. Method: a fake loop whose clients the test plays; for TLS a client in memory.
#include <gtest/gtest.h>

#include "net/certificates_fixture.h"
#include "net/fake.h"
#include "runtime/manual_clock.h"
#include "server/http_server.h"
#include "server/responder.h"

namespace pawl::server {
namespace {

class HttpServerTest : public ::testing::Test {
 protected:
  std::unique_ptr<HttpServer> listen(HttpServer::Options options) {
    options.make_handler = [](Connection& connection) {
      return make_responder(
          connection, [](const Request& request) { return Response{.body = request.target}; }, 8);
    };
    auto server = std::make_unique<HttpServer>(loop, clock, std::move(options));
    EXPECT_TRUE(server->listen(parse_endpoint("127.0.0.1:0").value()).has_value());
    return server;
  }
  std::shared_ptr<net::FakeStream> client(std::uint8_t last_byte = 7) {
    auto stream = std::make_shared<net::FakeStream>();
    stream->address = IpAddress::v4({192, 0, 2, last_byte});
    loop.accepted(stream);
    return stream;
  }
  void pass(Duration time) {
    clock.advance(time);
    for (const auto& tick : loop.ticks) tick();
  }

  ManualClock clock;
  net::FakeLoop loop;
};

TEST_F(HttpServerTest, SharesItsRoomWithOtherServers) {
  const auto admission =
      std::make_shared<Admission>(Admission::Rule{.connections = 3, .per_address = 2});
  const auto one = listen({.admission = admission});
  const auto first = client();
  const auto two = listen({.admission = admission});
  const auto second = client();
  EXPECT_FALSE(second->closed);
  EXPECT_TRUE(client()->closed) << "two of one address";
  EXPECT_FALSE(client(8)->closed);
  EXPECT_TRUE(client(9)->closed) << "three in all";
  EXPECT_EQ(admission->turned_away(), 2u);
  EXPECT_EQ(two->turned_away(), 2u);
  first->break_off();
  EXPECT_EQ(admission->connections(), 2);
  EXPECT_FALSE(client(9)->closed);
}

TEST_F(HttpServerTest, ChangesItsDeadlinesForThoseThatAreThere) {
  const auto server = listen({});
  const auto idle = client();
  pass(Duration::seconds(5));
  EXPECT_FALSE(idle->closed);
  server->change({.head = Duration::seconds(1), .idle = Duration::seconds(4)});
  pass(Duration::seconds(0));
  EXPECT_TRUE(idle->closed);
}

class TlsServerTest : public HttpServerTest {
 protected:
  TlsServerTest() : certificates("DNS:shop.test") {
    server = listen({.connections_max = 1,
                     .tls = net::Tls::server(certificates.certificate(), certificates.key(),
                                             net::Tls::Protocol::http)
                                .value()});
  }
  void carry() {
    while (!ours->sent.empty() || !theirs->sent.empty()) {
      theirs->receive(ours->take_sent());
      ours->receive(theirs->take_sent());
    }
  }

  struct Side final : net::StreamHandler {
    void on_data(std::string_view bytes) override { received.append(bytes); }
    void on_drained() override {}
    void on_closed() override {}
    std::string received;
  };

  net::Certificates certificates;
  std::unique_ptr<HttpServer> server;
  std::shared_ptr<net::FakeStream> ours = std::make_shared<net::FakeStream>();
  std::shared_ptr<net::FakeStream> theirs;
  Side side;
};

TEST_F(TlsServerTest, ServesWhoSaysHello) {
  theirs = client();
  const auto trust = net::Tls::client(certificates.ca(), net::Tls::Protocol::http).value();
  bool greeted = false;
  const net::StreamPtr stream =
      trust
          ->connect(loop, ours, "shop.test",
                    [&](const Result<void>& how) { greeted = how.has_value(); })
          .value();
  carry();
  ASSERT_TRUE(greeted);
  stream->start(side);
  stream->send("GET /hello HTTP/1.1\r\nHost: shop.test\r\n\r\n");
  carry();
  EXPECT_TRUE(side.received.ends_with("\r\n\r\n/hello")) << side.received;
  pass(bounds::tls_greeting_deadline + Duration::seconds(1));
  EXPECT_FALSE(theirs->closed) << "the deadline was for the greeting";
}

TEST_F(TlsServerTest, GivesUpWhoSaysNothingAndFreesThePlace) {
  theirs = client();
  EXPECT_TRUE(client(8)->closed) << "who is greeted counts";
  pass(bounds::tls_greeting_deadline - Duration::seconds(1));
  EXPECT_FALSE(theirs->closed);
  pass(Duration::seconds(1));
  EXPECT_TRUE(theirs->closed);
  EXPECT_FALSE(client(8)->closed);
}

TEST_F(TlsServerTest, GivesUpWhoSpeaksPlainly) {
  theirs = client();
  theirs->receive("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(theirs->closed);
  EXPECT_FALSE(client(8)->closed);
}

TEST_F(TlsServerTest, ADrainDoesNotWaitForGreetings) {
  theirs = client();
  server->drain();
  EXPECT_TRUE(theirs->closed);
}

}  // namespace
}  // namespace pawl::server
