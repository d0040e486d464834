// Goal: a request reaches the upstream and its answer comes back, whole, however the bytes are cut;
// each way the upstream can fail ends as the request machine says. Method: fake connections on both
// sides, a hand-moved clock, the real engine and store.
#include "gateway/proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapter/memory/memory_counter_store.h"
#include "adapter/memory/memory_event_sink.h"
#include "log/capture_sink.h"
#include "net/fake.h"
#include "runtime/manual_clock.h"
#include "server/http_server.h"

namespace pawl::gateway {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class CountingEntropy final : public Entropy {
 public:
  Entropy16 next() override {
    ++bytes_[15];
    return bytes_;
  }

 private:
  Entropy16 bytes_{};
};

class ProxyTest : public ::testing::Test {
 protected:
  ProxyTest() {
    config.limits.buckets = {paced("global", 9)};
    apply();
    EXPECT_TRUE(server.listen(parse_endpoint("127.0.0.1:0").value()).has_value());
    loop.accepted(client);
  }

  std::string get(std::string_view path) {
    return "GET " + std::string(path) + " HTTP/1.1\r\nHost: h\r\nX-Tenant-Id: acme\r\n\r\n";
  }
  // Sends a request and gives the fresh connection it goes out on.
  std::shared_ptr<net::FakeStream> send(std::string_view bytes) {
    client->receive(bytes);
    return loop.accept_connect();
  }
  std::string outcome() {
    const audit::Event last = sink.events().back();
    for (const auto& [name, value] : last.details) {
      if (name == "outcome") return *value.if_string();
    }
    return "none";
  }
  void pass(Duration time) {
    clock.advance(time);
    for (const auto& tick : loop.ticks) tick();
  }

  // One a second, and `burst` more at once.
  static config::Bucket paced(std::string name, std::int64_t burst) {
    return {.name = std::move(name),
            .algorithm = config::Algorithm::token_bucket,
            .rate = limit::Rate{1, Duration::seconds(1)},
            .burst = burst};
  }
  void apply() { context.settings = make_settings(config); }

  config::Config config;
  ManualClock clock;
  CountingEntropy entropy;
  MemoryCounterStore counters{clock};
  MemoryEventSink sink;
  Engine engine{{clock, counters, sink}};
  metrics::Registry registry;
  log::CaptureSink lines;
  log::Output output{clock, lines, {}};
  Telemetry telemetry{registry, log::Logger(output)};
  net::FakeLoop loop;
  UpstreamPool pool{loop};
  LoopContext context{.loop = loop,
                      .engine = engine,
                      .clock = clock,
                      .entropy = entropy,
                      .telemetry = telemetry,
                      .pool = pool,
                      .settings = nullptr};
  server::HttpServer server{loop, clock, {.make_handler = [this](server::Connection& c) {
                              return std::make_shared<Proxy>(context, c);
                            }}};
  std::shared_ptr<net::FakeStream> client = std::make_shared<net::FakeStream>();
};

constexpr std::string_view ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

TEST_F(ProxyTest, TakesARequestThereAndBackWithItsLimitHeaders) {
  const auto upstream = send(get("/a"));
  EXPECT_THAT(upstream->sent, StartsWith("GET /a HTTP/1.1\r\nHost: h\r\n"));
  EXPECT_THAT(upstream->sent, HasSubstr("\r\nX-Tenant-Id: acme\r\n"));
  EXPECT_THAT(upstream->sent, HasSubstr("X-Forwarded-For: 192.0.2.7\r\n"));
  upstream->receive(ok);
  EXPECT_THAT(client->sent, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(client->sent, HasSubstr("RateLimit: \"global\";r=9;t=1\r\n"));
  EXPECT_THAT(client->sent, HasSubstr("X-RateLimit-Remaining: 9\r\n"));
  EXPECT_TRUE(client->sent.ends_with("\r\n\r\nhi"));
  EXPECT_EQ(outcome(), "applied");
  EXPECT_EQ(telemetry.allowed.value(), 1u);
  EXPECT_EQ(sink.events().size(), 2u);
}

TEST_F(ProxyTest, ReadsAnAnswerHoweverItIsCut) {
  const auto upstream = send(get("/a"));
  for (const char c : ok) upstream->receive({&c, 1});
  EXPECT_TRUE(client->sent.ends_with("\r\n\r\nhi")) << client->sent;
}

TEST_F(ProxyTest, UsesAKeptAliveConnectionAgain) {
  const auto upstream = send(get("/a"));
  upstream->receive(ok);
  client->receive(get("/b"));
  EXPECT_TRUE(loop.connecting.empty());
  EXPECT_THAT(upstream->sent, HasSubstr("GET /b HTTP/1.1"));
}

TEST_F(ProxyTest, DoesNotUseAConnectionAgainThatSaidMoreThanItsAnswer) {
  const auto upstream = send(get("/a"));
  upstream->receive(std::string(ok) + "HTTP/1.1 200 Poison\r\n\r\n");
  EXPECT_TRUE(upstream->closed);
  EXPECT_THAT(client->sent, Not(HasSubstr("Poison")));
}

TEST_F(ProxyTest, TheElevenInARowGetTenAnswersAndA429) {
  std::shared_ptr<net::FakeStream> upstream;
  for (int i = 0; i < 11; ++i) {
    client->receive(get("/a"));
    if (i == 0) upstream = loop.accept_connect();
    upstream->receive(ok);
  }
  EXPECT_EQ(telemetry.allowed.value(), 10u);
  EXPECT_EQ(telemetry.refused.value(), 1u);
  EXPECT_THAT(client->sent, HasSubstr("HTTP/1.1 429 Too Many Requests\r\n"));
  EXPECT_THAT(client->sent, ContainsRegex("Retry-After: [12]\r\n")) << "spread by the key";
  EXPECT_THAT(client->sent, HasSubstr("\"violated-policies\":[\"global\"]"));
  EXPECT_FALSE(client->ended()) << "a refusal does not cost the connection";
}

TEST_F(ProxyTest, TellsOfEveryBucketAndRefusesForAnyOfThem) {
  config.limits.buckets = {paced("wide", 9), paced("narrow", 0), paced("hidden", 0)};
  config.limits.buckets[2].shadow = true;
  apply();
  const auto upstream = send(get("/a"));
  upstream->receive(ok);
  EXPECT_THAT(client->sent, HasSubstr("RateLimit: \"wide\";r=9;t=1, \"narrow\";r=0;t=1\r\n"));
  EXPECT_THAT(client->sent, HasSubstr("X-RateLimit-Remaining: 0\r\n")) << "of the tightest";
  client->sent.clear();
  client->receive(get("/b"));
  EXPECT_THAT(client->sent, StartsWith("HTTP/1.1 429 "));
  EXPECT_THAT(client->sent, HasSubstr("\"violated-policies\":[\"narrow\"]"));
  EXPECT_THAT(client->sent, HasSubstr("Refused by 'narrow'"));
  EXPECT_EQ(telemetry.shadow_refused.value(), 1u);
}

TEST_F(ProxyTest, ABucketInShadowCountsAndRefusesNobody) {
  config.limits.buckets[0] = paced("hidden", 0);
  config.limits.buckets[0].shadow = true;
  apply();
  const auto upstream = send(get("/a"));
  upstream->receive(ok);
  client->receive(get("/b"));
  upstream->receive(ok);
  EXPECT_THAT(client->sent, Not(HasSubstr(" 429 ")));
  EXPECT_EQ(telemetry.allowed.value(), 2u);
  EXPECT_EQ(telemetry.shadow_refused.value(), 1u);
}

class SlotTest : public ProxyTest {
 protected:
  SlotTest() {
    config.limits.buckets = {
        {.name = "slots", .algorithm = config::Algorithm::concurrency, .slots = 1}};
    apply();
    loop.accepted(other);
  }
  // Whether another client of the same tenant gets in now.
  bool is_free() {
    other->sent.clear();
    other->receive(get("/probe"));
    const bool refused = other->sent.find(" 429 ") != std::string::npos;
    if (!refused) loop.accept_connect()->receive(ok);
    return !refused;
  }
  std::shared_ptr<net::FakeStream> other = std::make_shared<net::FakeStream>();
};

constexpr std::string_view closing =
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi";

TEST_F(SlotTest, ComesBackAfterTheAnswer) {
  const auto upstream = send(get("/a"));
  EXPECT_FALSE(is_free());
  upstream->receive(closing);
  EXPECT_TRUE(is_free());
}

TEST_F(SlotTest, ComesBackWhenTheClientLeavesOrTheUpstreamFails) {
  send(get("/a"));
  client->break_off();
  const auto upstream = [&] {
    other->receive(get("/b"));
    return loop.accept_connect();
  }();
  upstream->break_off();
  EXPECT_TRUE(is_free());
}

TEST_F(SlotTest, IsKeptForAsLongAsTheRequestTakes) {
  const auto upstream = send(
      "POST /p HTTP/1.1\r\nHost: h\r\nX-Tenant-Id: acme\r\n"
      "Content-Length: 100\r\n\r\n");
  for (int i = 0; i < 10; ++i) {  // five leases long
    client->receive("x");
    pass(Duration::seconds(15));
    pass(Duration::seconds(15));
    EXPECT_FALSE(is_free()) << i;
  }
}

// The refusal may let the next request of the connection in at once.
TEST_F(ProxyTest, RecordsTheEndOfARefusedRequestBeforeTheNextBegins) {
  client->receive(get("/a") + get("/b"));
  loop.refuse_connect();
  std::vector<std::string> recorded;
  for (const audit::Event& event : sink.events()) {
    recorded.push_back(std::string(audit::to_string(event.type)) + " " + event.operation);
  }
  EXPECT_THAT(recorded, ::testing::ElementsAre("limit GET /a", "request GET /a", "limit GET /b"));
}

TEST_F(ProxyTest, StreamsABodyAsItComesAndChunksItAnew) {
  const auto upstream =
      send("POST /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  EXPECT_TRUE(upstream->take_sent().ends_with("\r\n\r\n3\r\nabc\r\n"));
  client->receive("1\r\nd\r\n0\r\nTrailer: x\r\n\r\n");
  EXPECT_EQ(upstream->sent, "1\r\nd\r\n0\r\n\r\n");
}

TEST_F(ProxyTest, HoldsTheClientBackWhileTheUpstreamTakesNothing) {
  const auto upstream = send("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 9000000\r\n\r\n");
  upstream->stalled = true;
  const std::string block(64 * 1024, 'x');
  int blocks = 0;
  while (!client->paused && blocks < 100) {
    client->receive(block);
    ++blocks;
  }
  EXPECT_LE(blocks, 6) << "the queue has a bound";
  upstream->drain();
  EXPECT_FALSE(client->paused);
}

TEST_F(ProxyTest, HoldsTheUpstreamBackWhileTheClientTakesNothing) {
  const auto upstream = send(get("/a"));
  client->stalled = true;
  upstream->receive("HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n");
  for (int i = 0; i < 6; ++i) upstream->receive(std::string(64 * 1024, 'x'));
  EXPECT_TRUE(upstream->paused);
  client->drain();
  EXPECT_FALSE(upstream->paused);
}

TEST_F(ProxyTest, AConnectionHeldBackForOneClientServesTheNext) {
  const auto upstream = send(get("/a"));
  client->stalled = true;
  const std::string body(300 * 1024, 'x');
  upstream->receive("HTTP/1.1 200 OK\r\nContent-Length: 307200\r\n\r\n" + body);
  client->drain();
  client->sent.clear();
  client->receive(get("/b"));
  EXPECT_THAT(upstream->sent, HasSubstr("GET /b"));
  upstream->receive(ok);
  EXPECT_THAT(client->sent, StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(ProxyTest, AnswersAnOpenEndedAnswerInChunks) {
  const auto upstream = send(get("/a"));
  upstream->receive("HTTP/1.1 200 OK\r\n\r\nabc");
  upstream->break_off();
  EXPECT_TRUE(client->sent.ends_with("\r\n\r\n3\r\nabc\r\n0\r\n\r\n")) << client->sent;
  EXPECT_EQ(outcome(), "applied");
  EXPECT_FALSE(client->ended());
}

TEST_F(ProxyTest, PassesOverInterimAnswers) {
  const auto upstream = send(get("/a"));
  upstream->receive("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + std::string(ok));
  EXPECT_THAT(client->sent, StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(ProxyTest, SaysThatTheUpstreamIsUnreachable) {
  client->receive("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx");
  loop.refuse_connect();
  EXPECT_THAT(client->sent, StartsWith("HTTP/1.1 502 Bad Gateway\r\n"));
  EXPECT_THAT(client->sent, HasSubstr("ERR_UPSTREAM_UNREACHABLE"));
  EXPECT_THAT(client->sent, HasSubstr("it is safe to send this again"));
  EXPECT_EQ(outcome(), "not_applied");
}

TEST_F(ProxyTest, AWriteCutOffAfterItLeftIsUnknownAndNotSentAgain) {
  const auto upstream = send("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx");
  upstream->receive(ok);
  client->sent.clear();
  client->receive("POST /q HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx");
  upstream->break_off();
  EXPECT_TRUE(loop.connecting.empty()) << "a write must not be sent twice";
  EXPECT_THAT(client->sent, StartsWith("HTTP/1.1 502 "));
  EXPECT_THAT(client->sent, HasSubstr("look before you send it again"));
  EXPECT_EQ(outcome(), "unknown");
}

TEST_F(ProxyTest, AReadOnADeadKeptAliveConnectionIsSentOnceMore) {
  const auto upstream = send(get("/a"));
  upstream->receive(ok);
  client->sent.clear();
  client->receive(get("/b"));
  upstream->break_off();
  ASSERT_EQ(loop.connecting.size(), 1u);
  const auto second = loop.accept_connect();
  EXPECT_THAT(second->sent, StartsWith("GET /b HTTP/1.1\r\n"));
  second->receive(ok);
  EXPECT_THAT(client->sent, StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(ProxyTest, AnAnswerCutInTheMiddleEndsTheClientsConnection) {
  const auto upstream = send(get("/a"));
  upstream->receive("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf");
  upstream->break_off();
  EXPECT_TRUE(client->closed);
  EXPECT_EQ(outcome(), "unknown");
}

TEST_F(ProxyTest, AnAnswerThatIsNoHttpIsNotPassedOn) {
  const auto upstream = send(get("/a"));
  upstream->receive("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n");
  EXPECT_THAT(client->sent, StartsWith("HTTP/1.1 502 "));
  EXPECT_TRUE(upstream->closed);
}

TEST_F(ProxyTest, AnUpstreamThatDoesNotAnswerInTimeIs504AndUnknown) {
  const auto upstream = send("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx");
  pass(bounds::upstream_answer_deadline - Duration::seconds(1));
  EXPECT_EQ(client->sent, "");
  pass(Duration::seconds(2));
  EXPECT_THAT(client->sent, StartsWith("HTTP/1.1 504 Gateway Timeout\r\n"));
  EXPECT_TRUE(upstream->closed);
  EXPECT_EQ(outcome(), "unknown");
}

TEST_F(ProxyTest, ASteadyUploadIsNotCutHoweverLongItTakes) {
  const auto upstream = send("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n");
  for (int i = 0; i < 9; ++i) {
    client->receive("x");
    pass(bounds::upstream_answer_deadline - Duration::seconds(1));
  }
  EXPECT_EQ(client->sent, "");
  client->receive("x");
  upstream->receive(ok);
  EXPECT_THAT(client->sent, StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(ProxyTest, AnAnswerThatStallsInTheMiddleIsCutInTheEnd) {
  const auto upstream = send(get("/a"));
  upstream->receive("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf");
  pass(bounds::upstream_answer_deadline - Duration::seconds(1));
  EXPECT_FALSE(client->ended());
  pass(Duration::seconds(2));
  EXPECT_TRUE(client->closed);
  EXPECT_TRUE(upstream->closed);
  EXPECT_EQ(outcome(), "unknown");
}

TEST_F(ProxyTest, AnAnswerWithABrokenBodyBeforeAnythingWentOnIs502) {
  const auto upstream = send(get("/a"));
  upstream->receive("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n");
  EXPECT_THAT(client->sent, StartsWith("HTTP/1.1 502 Bad Gateway\r\n"));
}

TEST_F(ProxyTest, ABodyThatMakesNoSenseIsToldAndItsOutcomeUnknown) {
  const auto upstream =
      send("POST /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  client->receive("3;x\r\n");
  EXPECT_THAT(client->sent, StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(client->sent, HasSubstr("may have been passed on"));
  EXPECT_TRUE(upstream->closed);
  EXPECT_EQ(outcome(), "unknown");
}

TEST_F(ProxyTest, ATenantThatIsNotBelievedIsNotPassedOn) {
  config.tenants.trusted_proxies = {parse_prefix("10.0.0.0/8").value()};
  apply();
  const auto upstream = send(get("/a"));
  EXPECT_THAT(upstream->sent, Not(HasSubstr("acme")));
  EXPECT_EQ(sink.events().back().correlation.tenant_id, "anonymous@192.0.2.7");
}

TEST_F(ProxyTest, AClientThatLeavesTakesTheUpstreamRequestWithIt) {
  const auto upstream = send(get("/a"));
  client->break_off();
  EXPECT_TRUE(upstream->closed);
  EXPECT_EQ(outcome(), "unknown");
}

TEST_F(ProxyTest, AClientThatLeavesWhileWeConnectSendsNothing) {
  client->receive(get("/a"));
  client->break_off();
  const auto upstream = loop.accept_connect();
  EXPECT_EQ(upstream->sent, "");
  EXPECT_TRUE(upstream->closed);
}

TEST_F(ProxyTest, AsksForATenantWhereOneIsRequired) {
  config.tenants.missing = config::MissingTenant::reject;
  apply();
  client->receive("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(client->sent, StartsWith("HTTP/1.1 401 Unauthorized\r\n"));
  EXPECT_THAT(client->sent, HasSubstr("ERR_TENANT_UNKNOWN"));
  EXPECT_THAT(client->sent, HasSubstr("X-Tenant-Id"));
  EXPECT_EQ(outcome(), "not_applied");
  EXPECT_EQ(lines.take().size(), 1u);
}

TEST_F(ProxyTest, KeepsTheClientsRequestIdOrGivesOne) {
  const auto upstream = send("GET / HTTP/1.1\r\nHost: h\r\nX-Request-Id: mine\r\n\r\n");
  EXPECT_THAT(upstream->sent, HasSubstr("X-Request-Id: mine\r\n"));
  upstream->receive(ok);
  EXPECT_THAT(client->sent, HasSubstr("X-Request-Id: mine\r\n"));
  EXPECT_EQ(sink.events().back().correlation.request_id, "mine");
  client->receive(get("/b"));
  EXPECT_THAT(sink.events().back().correlation.request_id, HasSubstr("-7"));
}

}  // namespace
}  // namespace pawl::gateway
