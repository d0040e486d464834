// Goal: a request reaches the upstream and its answer comes back, whole, however the bytes are cut;
// each way the upstream can fail ends as the request machine says. Method: fake connections on both
// sides, a hand-moved clock, the real engine and store.
#include "gateway/proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gateway/proxy_fixture.h"

namespace pawl::gateway {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

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

TEST_F(ProxyTest, WhatNoBucketCountsIsPassedOnWithoutAWordOnLimits) {
  config.limits.buckets.front().match.methods = {"POST"};
  apply();
  const auto upstream = send(get("/a"));
  upstream->receive("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  EXPECT_THAT(client->take_sent(), Not(HasSubstr("RateLimit")));
  ASSERT_EQ(tenants->list(9, "").size(), 1u) << "it was seen all the same";
  EXPECT_EQ(telemetry.allowed.value(), 1u) << "and let through";
  client->receive(get("/b"));
  upstream->break_off();
  EXPECT_THAT(client->sent, Not(HasSubstr("RateLimit")));
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
      "Content-Length: 1000000000\r\n\r\n");
  for (int i = 0; i < 10; ++i) {  // five leases long
    client->receive(std::string(bounds::http_rate_min * 30, 'x'));
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

TEST_F(ProxyTest, TakesTrailersToTheUpstreamButForThoseThatItBelieves) {
  const auto upstream = send(
      "POST /p HTTP/1.1\r\nHost: h\r\nX-Tenant-Id: acme\r\nTransfer-Encoding: chunked\r\n\r\n");
  upstream->sent.clear();
  client->receive(
      "0\r\nX-Checksum: 9\r\nX-Tenant-Id: umbrella\r\nIdempotency-Key: k\r\nCookie: e\r\n\r\n");
  EXPECT_EQ(upstream->sent, "0\r\nX-Checksum: 9\r\n\r\n");
}

TEST_F(ProxyTest, TellsTheUpstreamWhoAskedAndHow) {
  context.scheme = "https";
  const std::string request =
      "GET /a HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 203.0.113.9\r\n"
      "X-Forwarded-Proto: gopher\r\nForwarded: for=203.0.113.9\r\n\r\n";
  const auto upstream = send(request);
  EXPECT_THAT(upstream->sent, HasSubstr("\r\nX-Forwarded-For: 192.0.2.7\r\n"));
  EXPECT_THAT(upstream->sent, HasSubstr("\r\nX-Forwarded-Proto: https\r\n"));
  EXPECT_THAT(upstream->sent, HasSubstr("\r\nForwarded: for=192.0.2.7;proto=https;host=\"h\"\r\n"));
  EXPECT_THAT(upstream->sent, HasSubstr("\r\nVia: 1.1 pawl\r\n"));
  upstream->receive(ok);
  upstream->sent.clear();
  config.tenants.trusted_proxies = {parse_prefix("192.0.2.0/24").value()};
  apply();
  client->receive(request);
  EXPECT_THAT(upstream->sent, HasSubstr("\r\nX-Forwarded-For: 203.0.113.9, 192.0.2.7\r\n"));
  EXPECT_THAT(upstream->sent, HasSubstr("\r\nX-Forwarded-Proto: gopher\r\n"));
}

TEST_F(ProxyTest, GoesOnWithTheClientsTraceOrBeginsOne) {
  const std::string trace = "0af7651916cd43dd8448eb211c80319c";
  const std::string given = "Traceparent: 00-" + trace + "-b7ad6b7169203331-01\r\n";
  const auto upstream = send("GET /a HTTP/1.1\r\nHost: h\r\n" + given + "\r\n");
  EXPECT_THAT(upstream->sent, HasSubstr(given));
  EXPECT_EQ(sink.events().back().correlation.trace_id, trace);
  upstream->receive(ok);
  upstream->sent.clear();
  client->receive(get("/b"));
  const std::string made = sink.events().back().correlation.trace_id;
  EXPECT_EQ(made.size(), 32u);
  EXPECT_THAT(upstream->sent, ContainsRegex("Traceparent: 00-" + made + "-[0-9a-f]*-01"));
  upstream->receive(ok);
  client->receive(get("/c"));
  EXPECT_NE(sink.events().back().correlation.trace_id, made);
}

constexpr std::string_view expecting =
    "POST /p HTTP/1.1\r\nHost: h\r\nX-Tenant-Id: acme\r\nContent-Length: 3\r\n"
    "Expect: 100-continue\r\n";
constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";

TEST_F(ProxyTest, AsksForABodyThatWaitsWhenTheUpstreamDoes) {
  const auto upstream = send(std::string(expecting) + "\r\n");
  EXPECT_THAT(upstream->sent, HasSubstr("\r\nExpect: 100-continue\r\n"));
  EXPECT_EQ(client->sent, "");
  upstream->receive(go_on);
  EXPECT_EQ(client->take_sent(), go_on);
  client->receive("abc");
  EXPECT_TRUE(upstream->sent.ends_with("\r\n\r\nabc"));
  upstream->receive(ok);
  EXPECT_THAT(client->sent, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_FALSE(client->ended());
}

TEST_F(ProxyTest, AsksForABodyThatWaitsWhenTheUpstreamSaysNothing) {
  const auto upstream = send(std::string(expecting) + "\r\n");
  pass(bounds::http_continue_deadline - Duration::milliseconds(1));
  EXPECT_EQ(client->sent, "");
  pass(Duration::milliseconds(1));
  EXPECT_EQ(client->sent, go_on);
  pass(Duration::seconds(1));
  EXPECT_EQ(client->sent, go_on) << "once";
  upstream->receive(go_on);
  EXPECT_EQ(client->sent, go_on) << "once";
}

TEST_F(ProxyTest, ABodyThatNobodyWantsIsNotAskedFor) {
  const auto upstream = send(std::string(expecting) + "\r\n");
  upstream->receive("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
  EXPECT_THAT(client->sent, StartsWith("HTTP/1.1 403 Forbidden\r\n"));
  EXPECT_TRUE(client->said_goodbye) << "nobody could tell whether the body comes";
  EXPECT_TRUE(upstream->closed);
  const auto other = std::make_shared<net::FakeStream>();
  config.limits.buckets = {paced("none", 0)};
  apply();
  loop.accepted(other);
  other->receive(get("/a"));
  loop.accept_connect()->receive(ok);
  other->sent.clear();
  other->receive(std::string(expecting) + "\r\n");
  EXPECT_THAT(other->sent, StartsWith("HTTP/1.1 429 "));
  EXPECT_THAT(other->sent, Not(HasSubstr("100 Continue")));
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
  pass(config.server.timeouts.answer - Duration::seconds(1));
  EXPECT_EQ(client->sent, "");
  pass(Duration::seconds(2));
  EXPECT_THAT(client->sent, StartsWith("HTTP/1.1 504 Gateway Timeout\r\n"));
  EXPECT_TRUE(upstream->closed);
  EXPECT_EQ(outcome(), "unknown");
}

TEST_F(ProxyTest, ASteadyUploadIsNotCutHoweverLongItTakes) {
  const std::string piece(bounds::http_rate_min * 60, 'x');
  const auto upstream =
      send("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(10 * piece.size()) +
           "\r\n\r\n");
  for (int i = 0; i < 9; ++i) {
    client->receive(piece);
    pass(config.server.timeouts.answer - Duration::seconds(1));
  }
  EXPECT_EQ(client->sent, "");
  client->receive(piece);
  upstream->receive(ok);
  EXPECT_THAT(client->sent, StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(ProxyTest, AnAnswerThatStallsInTheMiddleIsCutInTheEnd) {
  const auto upstream = send(get("/a"));
  upstream->receive("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf");
  pass(config.server.timeouts.answer - Duration::seconds(1));
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
