// Goal: a write with a key is gathered, sent once, on record before its client hears, and given
// again from the record; whatever leaves or breaks meanwhile. Method: as proxy_test.cc, with the
// store in memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gateway/proxy.h"
#include "gateway/proxy_fixture.h"

namespace pawl::gateway {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view made =
    "HTTP/1.1 201 Created\r\nContent-Type: text/plain\r\nLocation: /o/1\r\nSet-Cookie: s=1\r\n"
    "Content-Length: 4\r\n\r\nmade";

class ProxyWriteTest : public ProxyTest {
 protected:
  static std::string post(std::string_view body, std::string_view key = "k1",
                          std::string_view tenant = "acme") {
    return "POST /orders?x=1 HTTP/1.1\r\nHost: h\r\nX-Tenant-Id: " + std::string(tenant) +
           "\r\nIdempotency-Key: " + std::string(key) +
           "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
  }
  // What the client gets for a request that needs no upstream.
  std::string told(std::string_view bytes) {
    client->sent.clear();
    client->receive(bytes);
    EXPECT_TRUE(loop.connecting.empty()) << "it was sent";
    return client->sent;
  }
  std::shared_ptr<net::FakeStream> other_client() {
    auto other = std::make_shared<net::FakeStream>();
    loop.accepted(other);
    return other;
  }
  Result<idempotency::Record> kept(std::string key = "POST /orders k1") {
    Result<idempotency::Record> found = failure(Code::not_found, "");
    records.get({.scope = "acme", .key = std::move(key)},
                [&](Result<idempotency::Record> got) { found = std::move(got); });
    return found;
  }
};

TEST_F(ProxyWriteTest, IsSentOnceAndGivenAgain) {
  const auto upstream = send(post("a"));
  EXPECT_THAT(upstream->sent, HasSubstr("\r\nIdempotency-Key: k1\r\n")) << "passed on";
  EXPECT_TRUE(upstream->sent.ends_with("\r\n\r\na"));
  upstream->receive(made);
  EXPECT_THAT(client->sent, StartsWith("HTTP/1.1 201 Created\r\n"));
  EXPECT_THAT(client->sent, HasSubstr("Set-Cookie: s=1"));
  EXPECT_THAT(client->sent, Not(HasSubstr("Idempotent-Replay")));
  const std::string again = told(post("a"));
  EXPECT_THAT(again, StartsWith("HTTP/1.1 201 Created\r\n"));
  EXPECT_THAT(again, HasSubstr("\r\nIdempotent-Replay: true\r\nIdempotent-Replayed: true\r\n"));
  EXPECT_THAT(again, HasSubstr("\r\nLocation: /o/1\r\n"));
  EXPECT_THAT(again, Not(HasSubstr("Set-Cookie")));
  EXPECT_TRUE(again.ends_with("\r\n\r\nmade")) << again;
}

TEST_F(ProxyWriteTest, AReplayCostsNoQuota) {
  send(post("a"))->receive(made);
  const std::size_t limits = std::size_t(telemetry.allowed.value());
  for (int i = 0; i < 50; ++i) EXPECT_THAT(told(post("a")), StartsWith("HTTP/1.1 201"));
  EXPECT_EQ(telemetry.allowed.value(), limits);
  EXPECT_EQ(telemetry.refused.value(), 0u);
  EXPECT_EQ(kept().value().replays, 50u);
}

TEST_F(ProxyWriteTest, ARefusalByTheLimitsBurnsNoKey) {
  config.limits.buckets = {paced("global", 0)};
  apply();
  const auto upstream = send(post("a"));
  upstream->receive(made);
  EXPECT_THAT(told(post("a", "k2")), StartsWith("HTTP/1.1 429"));
  pass(Duration::seconds(1));
  client->sent.clear();
  client->receive(post("a", "k2"));
  upstream->receive(made);
  EXPECT_THAT(client->sent, StartsWith("HTTP/1.1 201"));
}

TEST_F(ProxyWriteTest, TenantsNeverSeeEachOthersAnswers) {
  const auto upstream = send(post("a"));
  upstream->receive(made);
  client->receive(post("a", "k1", "umbrella"));
  EXPECT_THAT(upstream->sent, HasSubstr("X-Tenant-Id: umbrella"));
}

TEST_F(ProxyWriteTest, AnotherBodyIsAMismatchOrAnIntentOfItsOwn) {
  const auto upstream = send(post("a"));
  upstream->receive(made);
  EXPECT_THAT(told(post("b")), HasSubstr("ERR_IDEMPOTENCY_MISMATCH"));
  EXPECT_THAT(client->sent, StartsWith("HTTP/1.1 422"));
  config.idempotency.on_mismatch = request::OnMismatch::conflict;
  apply();
  EXPECT_THAT(told(post("b")), StartsWith("HTTP/1.1 409"));
  config.idempotency.on_mismatch = request::OnMismatch::separate;
  apply();
  client->receive(post("b"));
  EXPECT_TRUE(upstream->sent.ends_with("\r\n\r\nb"));
}

TEST_F(ProxyWriteTest, OneUnderWayIsAConflict) {
  const auto upstream = send(post("a"));
  const auto other = other_client();
  other->receive(post("a"));
  EXPECT_THAT(other->sent, StartsWith("HTTP/1.1 409"));
  EXPECT_THAT(other->sent, HasSubstr("\r\nRetry-After: 1\r\n"));
  EXPECT_THAT(other->sent, HasSubstr("ERR_IDEMPOTENCY_IN_FLIGHT"));
}

TEST_F(ProxyWriteTest, AClientThatLeavesDoesNotStopIt) {
  loop.hold_posted = true;
  const auto upstream = send(post("a"));
  client->break_off();
  EXPECT_FALSE(upstream->closed);
  ASSERT_EQ(context.detached.size(), 1u);
  const std::weak_ptr<Proxy> left = *context.detached.begin();
  upstream->receive(made);
  loop.run_posted();
  EXPECT_TRUE(context.detached.empty());
  EXPECT_TRUE(left.expired()) << "nobody keeps it, nor the connection";
  EXPECT_EQ(load.requests, 0);
  EXPECT_EQ(load.held_bytes, 0u);
  const auto again = other_client();
  again->receive(post("a"));
  EXPECT_THAT(again->sent, HasSubstr("Idempotent-Replay: true"));
  EXPECT_TRUE(again->sent.ends_with("made"));
}

TEST_F(ProxyWriteTest, AChunkedBodyIsGatheredWhole) {
  client->receive(
      "POST /orders HTTP/1.1\r\nHost: h\r\nX-Tenant-Id: acme\r\nIdempotency-Key: k1\r\n"
      "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n");
  EXPECT_TRUE(loop.connecting.empty()) << "not before its end";
  client->receive("1\r\nc\r\n0\r\n\r\n");
  const auto upstream = loop.accept_connect();
  EXPECT_TRUE(upstream->sent.ends_with("\r\n\r\n3\r\nabc\r\n0\r\n\r\n")) << upstream->sent;
}

TEST_F(ProxyWriteTest, ABodyThatWaitsIsAskedForAtOnceUnlessItIsRefused) {
  config.idempotency.body_limit = 3;
  apply();
  const auto head = [](std::string_view size) {
    return "POST /orders HTTP/1.1\r\nHost: h\r\nX-Tenant-Id: acme\r\nIdempotency-Key: k1\r\n"
           "Expect: 100-continue\r\nContent-Length: " +
           std::string(size) + "\r\n\r\n";
  };
  client->receive(head("1"));
  EXPECT_EQ(client->sent, "HTTP/1.1 100 Continue\r\n\r\n");
  const auto upstream = send("a");
  EXPECT_THAT(upstream->sent, Not(HasSubstr("Expect"))) << "the body is there";
  const auto other = other_client();
  other->receive(head("4"));
  EXPECT_THAT(other->sent, StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(other->sent, Not(HasSubstr("100 Continue")));
}

TEST_F(ProxyWriteTest, ABodyAboveTheLimitIsRefused) {
  config.idempotency.body_limit = 3;
  apply();
  EXPECT_THAT(told(post("abcd")), StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(client->sent, HasSubstr("idempotency.body_limit"));
  EXPECT_EQ(load.held_bytes, 0u);
}

TEST_F(ProxyWriteTest, ALargeAnswerLeavesATombstoneAndStreamsOn) {
  config.idempotency.body_limit = 3;
  apply();
  const auto upstream = send(post("a"));
  upstream->receive("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  EXPECT_EQ(client->sent, "") << "it may still be small";
  upstream->receive("1\r\nd\r\n");
  EXPECT_THAT(client->sent, StartsWith("HTTP/1.1 200 OK\r\n"));
  ASSERT_TRUE(kept());
  EXPECT_TRUE(kept()->response.tombstone) << "before it is all there";
  upstream->receive("1\r\ne\r\n0\r\n\r\n");
  EXPECT_THAT(client->sent, HasSubstr("\r\nd\r\n1\r\ne\r\n0\r\n\r\n"));
  EXPECT_THAT(told(post("a")), HasSubstr("ERR_IDEMPOTENCY_NOT_REPLAYABLE"));
}

class StreamedWrite : public ProxyWriteTest {
 protected:
  // Too much of its answer has come, and is being put on record.
  StreamedWrite() {
    config.idempotency.body_limit = 3;
    apply();
    upstream = send(post("a"));
    records.holding = true;
    upstream->receive("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabcd");
    EXPECT_TRUE(upstream->paused);
    EXPECT_EQ(client->sent, "") << "not before it is on record";
  }
  void on_record() {
    records.holding = false;
    records.answer();
  }
  std::shared_ptr<net::FakeStream> upstream;
};

TEST_F(StreamedWrite, AsksForNoMoreUntilItIsOnRecord) {
  client->drain();  // of what it was told before
  EXPECT_TRUE(upstream->paused);
  upstream->receive("ef");
  on_record();
  upstream->hand_on();
  EXPECT_TRUE(client->sent.ends_with("\r\n\r\nabcdef")) << client->sent;
  EXPECT_EQ(load.held_bytes, 0u);
}

TEST_F(StreamedWrite, AnUpstreamThatLeavesMeanwhileIsSeenAfterwards) {
  upstream->receive("e");
  upstream->break_off();
  on_record();
  upstream->hand_on();
  EXPECT_TRUE(client->sent.ends_with("abcde"));
  EXPECT_TRUE(client->closed) << "half an answer";
  EXPECT_TRUE(kept()->response.tombstone);
}

TEST_F(ProxyWriteTest, BodiesThatFindNoRoomAreTurnedAway) {
  const auto first = client;
  first->receive(post(std::string(9, 'x')).substr(0, post(std::string(9, 'x')).size() - 1));
  load.held_bytes += bounds::held_bytes_max;
  first->receive("x");
  EXPECT_THAT(first->sent, StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(first->sent, HasSubstr("ERR_OVERLOADED"));
  EXPECT_EQ(load.held_bytes, bounds::held_bytes_max) << "its own came back";
}

TEST_F(ProxyWriteTest, AnAnswerThatFindsNoRoomStreamsOnAndIsProtectedAllTheSame) {
  const auto upstream = send(post("a"));
  load.held_bytes += 2 * bounds::held_bytes_max;
  upstream->receive("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab");
  EXPECT_TRUE(client->sent.ends_with("ab"));
  EXPECT_TRUE(kept()->response.tombstone);
}

TEST_F(ProxyWriteTest, OneLeftByASlowClientTimesOutAllTheSame) {
  loop.hold_posted = true;
  client->stalled = true;
  const auto upstream = send(get("/before"));
  upstream->receive("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
  client->receive(post("a"));
  EXPECT_THAT(upstream->sent, HasSubstr("POST /orders"));
  client->break_off();
  const auto left = context.detached;
  for (const Duration wait : {Duration(), Duration::seconds(61)}) {
    clock.advance(wait);
    for (const auto& proxy : left) proxy->on_tick(clock.steady_now());
  }
  EXPECT_TRUE(upstream->closed);
  EXPECT_EQ(kept()->status, idempotency::Status::unknown);
  loop.run_posted();
}

TEST_F(ProxyWriteTest, OneThatIsCutOffAtTheEndIsPutOnRecordAsUnknown) {
  loop.hold_posted = true;
  const auto upstream = send(post("a"));
  client->break_off();
  const auto detached = context.detached;
  ASSERT_EQ(detached.size(), 1u);
  (*detached.begin())->cut_off();
  EXPECT_EQ(kept()->status, idempotency::Status::unknown);
  EXPECT_EQ(outcome(), "unknown");
  loop.run_posted();
  EXPECT_TRUE(context.detached.empty());
}

// Who is known by an address alone may share it: behind a proxy, or a router.
TEST_F(ProxyWriteTest, ThoseWhoShareAnAddressGetNoAnswerOfEachOther) {
  const auto anonymous = [](std::string_view credentials) {
    return "POST /orders HTTP/1.1\r\nHost: h\r\nIdempotency-Key: k1\r\n" +
           std::string(credentials) + "Content-Length: 1\r\n\r\na";
  };
  const auto upstream = send(anonymous("Authorization: Bearer one\r\n"));
  upstream->receive(made);
  EXPECT_THAT(told(anonymous("Authorization: Bearer one\r\n")), HasSubstr("Idempotent-Replay"));
  for (const char* other : {"Authorization: Bearer two\r\n", "Cookie: session=two\r\n", ""}) {
    EXPECT_THAT(told(anonymous(other)), HasSubstr("ERR_IDEMPOTENCY_NOT_REPLAYABLE"));
    EXPECT_THAT(client->sent, Not(HasSubstr("made")));
  }
}

TEST_F(ProxyWriteTest, TheClientsOfATrustedProxyAreToldApart) {
  config.tenants.trusted_proxies = {parse_prefix("192.0.2.0/24").value()};
  apply();
  const auto from = [](std::string_view address) {
    return "POST /orders HTTP/1.1\r\nHost: h\r\nIdempotency-Key: k1\r\nX-Forwarded-For: " +
           std::string(address) + "\r\nContent-Length: 1\r\n\r\na";
  };
  const auto upstream = send(from("198.51.100.1"));
  EXPECT_THAT(upstream->sent, HasSubstr("X-Forwarded-For: 198.51.100.1, 192.0.2.7\r\n"));
  upstream->receive(made);
  upstream->sent.clear();
  client->receive(from("198.51.100.2"));
  EXPECT_TRUE(upstream->sent.ends_with("\r\n\r\na")) << "another client's, with its own key";
}

TEST_F(ProxyWriteTest, AnEndlessAnswerStreamsAtOnce) {
  const auto upstream = send(post("a"));
  upstream->receive(
      "HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream; charset=utf-8\r\n"
      "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  EXPECT_THAT(client->sent, HasSubstr("3\r\nabc\r\n"));
  EXPECT_TRUE(kept()->response.tombstone);
}

TEST_F(ProxyWriteTest, AnAnswerThatBreaksOffIsUnknownAndNotSentAgain) {
  const auto upstream = send(post("a"));
  upstream->receive("HTTP/1.1 201 Created\r\nContent-Length: 9\r\n\r\nhalf");
  upstream->break_off();
  EXPECT_THAT(client->sent, StartsWith("HTTP/1.1 502"));
  EXPECT_EQ(kept()->status, idempotency::Status::unknown);
  EXPECT_THAT(told(post("a")), HasSubstr("ERR_OUTCOME_UNKNOWN"));
}

TEST_F(ProxyWriteTest, AnUpstreamThatIsNotThereFreesTheKey) {
  client->receive(post("a"));
  loop.refuse_connect();
  EXPECT_THAT(client->sent, StartsWith("HTTP/1.1 502"));
  EXPECT_EQ(kept()->status, idempotency::Status::failed);
  client->sent.clear();
  send(post("a"))->receive(made);
  EXPECT_THAT(client->sent, StartsWith("HTTP/1.1 201"));
}

TEST_F(ProxyWriteTest, AnUnknownEndIsToldOnceByWhoeverHadIt) {
  std::vector<std::string> told_of;
  context.unknown_write = [&](const webhook::UnknownWrite& write) {
    told_of.push_back(std::string(write.tenant) + " " + std::string(write.method) + " " +
                      std::string(write.path) + " " + std::string(write.key));
  };
  send(post("a"))->receive("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
  EXPECT_THAT(told(post("a")), HasSubstr("ERR_OUTCOME_UNKNOWN"));
  EXPECT_EQ(told_of, std::vector<std::string>{"acme POST /orders k1"});
  EXPECT_THAT(lines.take(), Contains(HasSubstr("the upstream answered 503")));
}

TEST_F(ProxyWriteTest, ADeadlineOfTheUpstreamIsUnknown) {
  send(post("a"));
  pass(Duration::seconds(61));
  EXPECT_THAT(client->sent, StartsWith("HTTP/1.1 504"));
  EXPECT_EQ(kept()->status, idempotency::Status::unknown);
}

TEST_F(ProxyWriteTest, AKeyIsAskedForWhereItIsRequiredAndReadStrictly) {
  config.idempotency.require = {*request::PathPattern::parse("/orders")};
  apply();
  EXPECT_THAT(told("POST /orders HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n"),
              HasSubstr("ERR_IDEMPOTENCY_KEY_MISSING"));
  EXPECT_THAT(told(post("a", "\"unclosed")), HasSubstr("ERR_IDEMPOTENCY_KEY_INVALID"));
}

TEST_F(ProxyWriteTest, TooManyAtOnceAreTurnedAway) {
  config.server.requests = 1;
  apply();
  const auto upstream = send(get("/a"));
  const auto other = other_client();
  other->receive(get("/b"));
  EXPECT_THAT(other->sent, StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(other->sent, HasSubstr("\r\nRetry-After: 1\r\n"));
  upstream->receive("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(load.requests, 0);
  other->sent.clear();
  other->receive(get("/b"));
  upstream->receive("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  EXPECT_THAT(other->sent, StartsWith("HTTP/1.1 200"));
}

}  // namespace
}  // namespace pawl::gateway
