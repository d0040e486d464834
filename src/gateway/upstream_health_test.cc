// Goal: each upstream is asked once an interval, and only an answer that is good in time counts as
// such. Method: a fake loop whose time the test moves; it plays the upstream.
#include "gateway/upstream_health.h"

#include <gtest/gtest.h>

#include "gateway/upstream_fixture.h"
#include "net/fake.h"

namespace pawl::gateway {
namespace {

class UpstreamHealthTest : public ::testing::Test {
 protected:
  bool is_healthy(char letter = 'a') { return upstreams.find(letter)->is_healthy(); }
  // One check, answered so; then the time until the next.
  void answer(std::string_view bytes) {
    loop.accept_connect()->receive(bytes);
    loop.advance(upstreams.health.interval);
  }
  void refuse() {
    loop.refuse_connect();
    loop.advance(upstreams.health.interval);
  }

  net::FakeLoop loop;
  UpstreamsFixture upstreams;
  UpstreamHealth health{loop};
};

constexpr std::string_view well = "HTTP/1.1 204 No Content\r\n\r\n";
constexpr std::string_view sick = "HTTP/1.1 503 Service Unavailable\r\n\r\n";

TEST_F(UpstreamHealthTest, AsksForThePathOnceAnInterval) {
  health.watch(upstreams.list("a"));
  const auto stream = loop.accept_connect();
  EXPECT_EQ(stream->sent,
            "GET /healthz HTTP/1.1\r\nHost: a.test\r\nUser-Agent: pawl\r\n"
            "Connection: close\r\n\r\n");
  stream->receive(well);
  EXPECT_TRUE(stream->closed);
  loop.advance(Duration::milliseconds(4999));
  EXPECT_EQ(loop.targets.size(), 1u);
  loop.advance(Duration::milliseconds(1));
  EXPECT_EQ(loop.targets.size(), 2u);
}

TEST_F(UpstreamHealthTest, GivesItUpAfterFailuresInARowAndTakesItBack) {
  health.watch(upstreams.list("a"));
  answer(sick);
  answer(well);
  answer(sick);
  EXPECT_TRUE(is_healthy());
  answer(sick);
  EXPECT_FALSE(is_healthy());
  answer(well);
  EXPECT_TRUE(is_healthy());
  EXPECT_EQ(upstreams.changes,
            "a.test:80 is sick: it answered with 503. a.test:80 is well. it answered with 204");
}

TEST_F(UpstreamHealthTest, EveryOtherEndIsAFailure) {
  const std::pair<std::function<void(net::FakeStream&)>, std::string> cases[] = {
      {[](net::FakeStream& s) { s.receive("SSH-2.0-OpenSSH\r\n"); },
       "the status line is not VERSION CODE REASON"},
      {[](net::FakeStream& s) { s.break_off(); }, "it closed the connection without an answer"},
      {[this](net::FakeStream& s) {
         s.receive("HTTP/1.1 2");
         loop.advance(Duration::seconds(1));
         EXPECT_TRUE(s.closed);
       },
       "no answer in time"},
      {[](net::FakeStream& s) { s.receive("HTTP/1.1 302 Found\r\n\r\n"); }, "it answered with 302"},
  };
  upstreams.health.unhealthy_after = 1;
  char letter = 'a';
  for (const auto& [end, reason] : cases) {
    upstreams.changes.clear();
    health.watch(upstreams.list(std::string(1, letter)));
    end(*loop.accept_connect());
    EXPECT_EQ(upstreams.changes,
              std::string(1, letter) + ".test:80 is sick: " + std::string(reason) + ". ");
    ++letter;
  }
}

TEST_F(UpstreamHealthTest, AConnectThatNeverEndsIsAFailureAndItsLateEndIsNoNews) {
  health.watch(upstreams.list("a"));
  loop.advance(Duration::seconds(5));
  loop.advance(Duration::seconds(1));
  EXPECT_FALSE(is_healthy()) << "two timeouts";
  loop.advance(Duration::seconds(4));
  const auto late = loop.accept_connect();
  EXPECT_TRUE(late->closed) << "the third check is another connection";
  EXPECT_FALSE(is_healthy());
}

TEST_F(UpstreamHealthTest, WithoutAPathAConnectionIsEnough) {
  upstreams.health.path.clear();
  health.watch(upstreams.list("a"));
  refuse();
  refuse();
  EXPECT_FALSE(is_healthy());
  const auto stream = loop.accept_connect();
  EXPECT_TRUE(is_healthy());
  EXPECT_EQ(stream->sent, "");
  EXPECT_TRUE(stream->closed);
}

TEST_F(UpstreamHealthTest, ANewListEndsTheChecksOfTheOldOne) {
  health.watch(upstreams.list("a"));
  const auto old = loop.accept_connect();
  health.watch(upstreams.list("b"));
  EXPECT_TRUE(old->closed);
  EXPECT_EQ(loop.targets.back().host, "b.test");
  loop.accept_connect()->receive(well);
  loop.advance(Duration::seconds(5));
  EXPECT_EQ(loop.targets.size(), 3u);
  EXPECT_EQ(loop.targets.back().host, "b.test");
}

}  // namespace
}  // namespace pawl::gateway
