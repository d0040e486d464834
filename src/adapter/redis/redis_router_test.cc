// Goal: a cluster's redirections are followed, its map is kept right, and what a server refuses is
// an error that says what became of the command. Method: the test plays the nodes.
#include "adapter/redis/redis_router.h"

#include <gtest/gtest.h>
#include <map>
#include <string>

#include "base/bounds.h"
#include "net/fake.h"
#include "runtime/manual_clock.h"

namespace pawl::redis {
namespace {

using Nodes = std::vector<std::shared_ptr<net::FakeStream>>;

constexpr std::string_view slots_command = "*2\r\n$7\r\nCLUSTER\r\n$5\r\nSLOTS\r\n";
constexpr std::string_view asking_command = "*1\r\n$6\r\nASKING\r\n";
constexpr std::string_view ping_command = "*1\r\n$4\r\nPING\r\n";

std::string range(int first, int last, const std::string& host, int port) {
  return "*3\r\n:" + std::to_string(first) + "\r\n:" + std::to_string(last) + "\r\n*2\r\n$" +
         std::to_string(host.size()) + "\r\n" + host + "\r\n:" + std::to_string(port) + "\r\n";
}
// All slots below `cut` are a's, the others b's.
std::string map_of_two(int cut) {
  return "*2\r\n" + range(0, cut - 1, "a", 1) + range(cut, 16383, "b", 2);
}

class RouterTest : public ::testing::Test {
 protected:
  void begin(std::string_view text) {
    url = parse_redis_url(text).value();
    router = std::make_unique<Router>(
        Surroundings{.loop = loop, .clock = clock, .url = url, .tls = nullptr},
        [this](bool up, std::string detail) {
          is_up = up;
          health = std::move(detail);
        });
  }
  std::shared_ptr<net::FakeStream> accept() {
    auto stream = loop.accept_connect();
    EXPECT_EQ(stream->take_sent(), ping_command);
    stream->receive("+PONG\r\n");
    return stream;
  }
  // A cluster of a (slots 0 … 8191) and b, both known and up.
  void begin_cluster() {
    begin("redis+cluster://a:1,b:2");
    a = accept();
    EXPECT_EQ(a->take_sent(), slots_command);
    b = accept();
    EXPECT_EQ(b->take_sent(), "") << "one is asked, not all";
    a->receive(map_of_two(8192));
    EXPECT_TRUE(is_up) << health;
  }
  void call(int number, std::uint16_t slot, Duration deadline = Duration::seconds(1)) {
    auto bytes = std::make_shared<const std::string>("<" + std::to_string(number) + ">");
    router->send({.bytes = *bytes,
                  .deadline = clock.steady_now() + deadline,
                  .done =
                      [this, number](Result<Reply> reply) {
                        EXPECT_FALSE(answers.contains(number)) << "a call ends once";
                        answers.emplace(number, std::move(reply));
                      },
                  .kept = bytes,
                  .slot = slot});
  }
  void advance(Duration by) {
    clock.advance(by);
    loop.advance(by);
  }

  net::FakeLoop loop;
  ManualClock clock;
  RedisUrl url;
  bool is_up = false;
  std::string health;
  std::map<int, Result<Reply>> answers;
  std::shared_ptr<net::FakeStream> a;
  std::shared_ptr<net::FakeStream> b;
  std::unique_ptr<Router> router;
};

TEST_F(RouterTest, OneServerGetsEverythingAndItsHealthIsTold) {
  begin("redis://cache:7000");
  const auto server = accept();
  EXPECT_TRUE(is_up);
  EXPECT_EQ(health, "connected to redis://cache:7000/0");
  call(1, any_slot);
  call(2, 77);
  EXPECT_EQ(server->take_sent(), "<1><2>");
  server->receive("+OK\r\n:2\r\n");
  EXPECT_EQ(to_string(answers.at(1).value()), "OK");
  server->break_off();
  EXPECT_FALSE(is_up);
  EXPECT_EQ(health, "redis cache:7000: the server closed the connection");
}

TEST_F(RouterTest, ARefusalOfTheServerIsAnErrorWithItsWords) {
  const struct {
    const char* text;
    Code code;
    Outcome outcome;
  } cases[] = {
      {"LOADING Redis is loading the dataset in memory", Code::unavailable, Outcome::not_applied},
      {"READONLY You can't write against a read only replica.", Code::unavailable,
       Outcome::not_applied},
      {"CLUSTERDOWN The cluster is down", Code::unavailable, Outcome::not_applied},
      {"NOAUTH Authentication required.", Code::refused, Outcome::not_applied},
      {"NOSCRIPT No matching script. Please use EVAL.", Code::not_found, Outcome::not_applied},
      {"WRONGTYPE Operation against a key", Code::refused, Outcome::not_applied},
      {"ERR user_script:1: Script attempted to access x script: 1234, on @user_script:1.",
       Code::refused, Outcome::unknown},
      {"", Code::refused, Outcome::not_applied},
  };
  begin("redis://cache");
  const auto server = accept();
  for (int i = 0; const auto& [text, code, outcome] : cases) {
    call(++i, any_slot);
    server->receive("-" + std::string(text) + "\r\n");
    ASSERT_FALSE(answers.at(i).has_value()) << text;
    const Error& error = answers.at(i).error();
    EXPECT_EQ(error.code, code) << text;
    EXPECT_EQ(error.outcome, outcome) << text;
    EXPECT_EQ(error.message, "redis cache:6379: " + std::string(text));
  }
}

TEST_F(RouterTest, ACommandGoesToTheNodeThatHasItsSlot) {
  begin_cluster();
  call(1, 0);
  call(2, 8191);
  call(3, 8192);
  call(4, 16383);
  EXPECT_EQ(a->take_sent(), "<1><2>");
  EXPECT_EQ(b->take_sent(), "<3><4>");
}

TEST_F(RouterTest, BeforeTheMapIsKnownAnyNodeIsAskedAndRedirects) {
  begin("redis+cluster://a:1");
  call(1, 9000);
  a = accept();
  EXPECT_EQ(a->take_sent(), "<1>" + std::string(slots_command));
  a->receive("-MOVED 9000 b:2\r\n" + map_of_two(8192));
  b = accept();
  EXPECT_EQ(b->take_sent(), "<1>");
  b->receive(":1\r\n");
  EXPECT_TRUE(answers.at(1).has_value());
}

TEST_F(RouterTest, AMovedSlotIsRememberedAndTheMapIsAskedAgain) {
  begin_cluster();
  call(1, 100);
  a->take_sent();
  a->receive("-MOVED 100 b:2\r\n");
  EXPECT_EQ(b->take_sent(), "<1>");
  call(2, 100);
  EXPECT_EQ(b->take_sent(), "<2>");
  call(3, 101);
  EXPECT_EQ(a->take_sent(), "<3>");
  advance(Duration::milliseconds(100));
  EXPECT_EQ(b->take_sent(), slots_command) << "the other node this time";
}

TEST_F(RouterTest, AMoveToAnUnknownNodeConnectsToIt) {
  begin_cluster();
  call(1, 100);
  a->receive("-MOVED 100 c:3\r\n");
  ASSERT_EQ(loop.connecting.size(), 1u);
  EXPECT_EQ(loop.targets.back(), (net::Target{"c", 3}));
  const auto c = accept();
  EXPECT_EQ(c->take_sent(), "<1>");
}

TEST_F(RouterTest, AnAskIsFollowedOnceAndNotRemembered) {
  begin_cluster();
  call(1, 100);
  a->take_sent();
  a->receive("-ASK 100 b:2\r\n");
  EXPECT_EQ(b->take_sent(), std::string(asking_command) + "<1>");
  b->receive("+OK\r\n:1\r\n");
  EXPECT_EQ(*answers.at(1).value().integer(), 1);
  call(2, 100);
  EXPECT_EQ(a->take_sent(), "<2>");
}

TEST_F(RouterTest, RedirectionsThatGoRoundEndInAnErrorThatNothingWasApplied) {
  begin_cluster();
  call(1, 100);
  for (int i = 0; i < bounds::redis_resends_max && answers.empty(); ++i) {
    (i % 2 == 0 ? a : b)->receive(i % 2 == 0 ? "-MOVED 100 b:2\r\n" : "-MOVED 100 a:1\r\n");
  }
  EXPECT_TRUE(answers.empty());
  b->receive("-MOVED 100 a:1\r\n");
  ASSERT_FALSE(answers.at(1).has_value());
  EXPECT_EQ(answers.at(1).error().outcome, Outcome::not_applied);
  EXPECT_EQ(answers.at(1).error().code, Code::unavailable);
}

TEST_F(RouterTest, TryAgainMeansALittleLater) {
  begin_cluster();
  call(1, 100);
  a->take_sent();
  a->receive("-TRYAGAIN Multiple keys request during rehashing of slot\r\n");
  EXPECT_EQ(a->take_sent(), "");
  advance(Duration::milliseconds(20));
  EXPECT_EQ(a->take_sent(), "<1>");
  a->receive(":1\r\n");
  EXPECT_TRUE(answers.at(1).has_value());
}

TEST_F(RouterTest, AClusterThatStaysDownIsAnErrorInTheEnd) {
  begin_cluster();
  call(1, 100);
  for (int i = 0; i < 20 && answers.empty(); ++i) {
    if (a->take_sent().find("<1>") != std::string::npos) {
      a->receive("-CLUSTERDOWN Hash slot not served\r\n");
    }
    advance(Duration::milliseconds(20));
  }
  ASSERT_FALSE(answers.at(1).has_value());
  EXPECT_EQ(answers.at(1).error().outcome, Outcome::not_applied);
  EXPECT_NE(answers.at(1).error().message.find("CLUSTERDOWN"), std::string::npos);
}

TEST_F(RouterTest, ACallThatWaitsToBeSentAgainKeepsItsDeadline) {
  begin_cluster();
  call(1, 100, Duration::milliseconds(10));
  a->take_sent();
  a->receive("-TRYAGAIN later\r\n");
  advance(Duration::milliseconds(20));
  EXPECT_EQ(a->take_sent(), "");
  ASSERT_FALSE(answers.at(1).has_value());
  EXPECT_EQ(answers.at(1).error().outcome, Outcome::not_applied);
}

TEST_F(RouterTest, ANodeThatDiesIsNoticedAndItsHeirIsFound) {
  begin_cluster();
  advance(Duration::seconds(2));
  b->break_off();
  EXPECT_FALSE(is_up);
  EXPECT_NE(health.find("redis b:2"), std::string::npos);
  advance(Duration());
  loop.refuse_connect();
  call(1, 9000);
  ASSERT_FALSE(answers.at(1).has_value());
  EXPECT_EQ(answers.at(1).error().outcome, Outcome::not_applied);

  advance(Duration::milliseconds(100));
  EXPECT_EQ(a->take_sent(), slots_command);
  a->receive(map_of_two(8192));  // nobody has taken over yet
  EXPECT_FALSE(is_up);
  advance(Duration::seconds(1));
  EXPECT_EQ(a->take_sent(), slots_command);
  a->receive("*2\r\n" + range(0, 8191, "a", 1) + range(8192, 16383, "c", 3));
  while (loop.targets.back() != net::Target{"c", 3}) loop.refuse_connect();
  while (loop.connecting.size() > 1) loop.refuse_connect();
  const auto c = accept();
  EXPECT_TRUE(is_up) << health;
  call(2, 9000);
  EXPECT_EQ(c->take_sent(), "<2>");
}

TEST_F(RouterTest, SlotsWithoutANodeMakeItIll) {
  begin("redis+cluster://a:1");
  a = accept();
  a->receive("*1\r\n" + range(0, 16382, "a", 1));
  EXPECT_FALSE(is_up);
  EXPECT_EQ(health, "1 slots of the cluster have no node");
}

TEST_F(RouterTest, ANodeThatLeftTheClusterIsForgotten) {
  begin("redis+cluster://a:1");
  a = accept();
  a->receive(map_of_two(8192));
  b = accept();
  call(1, 9000);
  b->receive("-MOVED 9000 a:1\r\n");
  a->receive(":1\r\n");
  b->take_sent();
  advance(Duration::milliseconds(100));
  EXPECT_EQ(b->take_sent(), slots_command);
  b->receive("*1\r\n" + range(0, 16383, "a", 1));
  EXPECT_TRUE(b->closed);
  EXPECT_FALSE(a->closed);
  EXPECT_TRUE(is_up) << health;
}

TEST_F(RouterTest, NonsenseInsteadOfAMapLeavesTheOldOne) {
  begin_cluster();
  call(1, 100);
  a->receive("-MOVED 100 b:2\r\n");
  advance(Duration::milliseconds(100));
  b->take_sent();
  b->receive(":1\r\n*1\r\n:7\r\n");
  call(2, 101);
  EXPECT_NE(a->take_sent().find("<2>"), std::string::npos);
}

TEST_F(RouterTest, ClosingEndsEveryCall) {
  begin_cluster();
  call(1, 0);
  call(2, 9000);
  call(3, 5);
  a->receive(":1\r\n-TRYAGAIN x\r\n");
  router->close();
  EXPECT_TRUE(answers.at(1).has_value());
  EXPECT_EQ(answers.at(2).error().outcome, Outcome::unknown);
  EXPECT_EQ(answers.at(3).error().outcome, Outcome::not_applied);
}

}  // namespace
}  // namespace pawl::redis
