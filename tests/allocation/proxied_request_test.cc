// Goal: a request on a connection that is kept alive asks for no memory on its way to the upstream
// and back, nor does one that is refused. Method: counted_new.h; fake connections, the real engine
// and counters; an audit log that takes events and keeps none, and no log lines.
#include <gtest/gtest.h>
#include <string>

#include "gateway/proxy_fixture.h"
#include "tests/allocation/counted_new.h"

namespace pawl::gateway {
namespace {

class ForgetfulSink final : public EventSink {
 public:
  Result<void> append(audit::Event) override { return {}; }
  Result<void> append_late(audit::Late) override { return {}; }
  Result<void> flush() override { return {}; }
  std::uint64_t lag() const override { return 0; }
};

class ProxiedRequest : public ProxyTest {
 protected:
  ProxiedRequest() {
    EXPECT_TRUE(busy_server_.listen(parse_endpoint("127.0.0.1:0").value()).has_value());
    loop.accepted(client);
  }

  void allow(limit::Rate rate, std::int64_t burst) {
    config.limits.buckets = {{.name = "global",
                              .algorithm = config::Algorithm::token_bucket,
                              .rate = rate,
                              .burst = burst}};
    apply();
    busy_.settings = context.settings;
  }
  // One request of the client's, and what comes back, if it goes anywhere.
  void exchange(const std::shared_ptr<net::FakeStream>& upstream) {
    clock.advance(Duration::milliseconds(1));
    client->receive(request_);
    if (upstream) upstream->receive(answer_);
  }
  void forget(const std::shared_ptr<net::FakeStream>& upstream) {
    client->sent.clear();
    if (upstream) upstream->sent.clear();
  }

  const std::string request_ =
      "GET /orders?page=2 HTTP/1.1\r\nHost: shop.example.org\r\nX-Tenant-Id: acme-corporation\r\n"
      "User-Agent: a client with a name of its own/1.0\r\nAccept: */*\r\n\r\n";
  const std::string answer_ =
      "HTTP/1.1 200 OK\r\nServer: s\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n"
      "Connection: keep-alive\r\n\r\nhello world\n";
  ForgetfulSink forgetful_;
  Engine busy_engine_{{clock, counters, forgetful_, &records}};
  log::Output quiet_{clock, lines, {.level = log::Level::warn}};
  metrics::Registry busy_registry_;
  Telemetry busy_telemetry_{busy_registry_, log::Logger(quiet_)};
  LoopContext busy_{.loop = loop,
                    .engine = busy_engine_,
                    .clock = clock,
                    .entropy = entropy,
                    .telemetry = busy_telemetry_,
                    .router = router,
                    .tenants = *tenants,
                    .load = load,
                    .settings = context.settings};
  server::HttpServer busy_server_{loop, clock, {.make_handler = [this](server::Connection& c) {
                                    return std::make_shared<Proxy>(busy_, c);
                                  }}};
};

TEST_F(ProxiedRequest, TakesNoMemoryThereAndBack) {
  // So much that nobody is told, once, of a limit that is near.
  allow({1'000'000, Duration::seconds(1)}, 1'000'000);
  client->receive(request_);
  const auto upstream = loop.accept_connect();
  upstream->receive(answer_);
  exchange(upstream);
  forget(upstream);
  bool answered = true;
  EXPECT_EQ(allocations_of(1'000,
                           [&] {
                             exchange(upstream);
                             answered = answered && client->sent.ends_with("hello world\n");
                             forget(upstream);
                           }),
            0);
  EXPECT_TRUE(answered);
  EXPECT_EQ(telemetry.allowed.value(), 1'002u);
}

TEST_F(ProxiedRequest, TakesNoMemoryWhenItIsRefused) {
  allow({1, Duration::hours(1)}, 0);
  client->receive(request_);
  loop.accept_connect()->receive(answer_);
  exchange(nullptr);
  forget(nullptr);
  bool refused = true;
  EXPECT_EQ(allocations_of(1'000,
                           [&] {
                             exchange(nullptr);
                             refused = refused && client->sent.starts_with("HTTP/1.1 429 ") &&
                                       client->sent.ends_with("}}\n");
                             forget(nullptr);
                           }),
            0);
  EXPECT_TRUE(refused);
  EXPECT_EQ(telemetry.refused.value(), 1'001u);
}

}  // namespace
}  // namespace pawl::gateway
