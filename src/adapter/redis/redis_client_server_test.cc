// Goal: with real servers, one and a cluster, the client is fast to resume and honest about what it
// does not know. Method: the test run's servers for what harms nobody; servers of the test's own
// where one is killed, paused, or a cluster is changed.
#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <latch>
#include <map>
#include <string>
#include <thread>

#include "adapter/redis/redis_client.h"
#include "adapter/redis/redis_server_fixture.h"
#include "adapter/redis/slots.h"
#include "net/certificates_fixture.h"

namespace pawl::redis {
namespace {

constexpr Duration long_deadline = Duration::seconds(30);

class ClientTest : public ::testing::Test {
 protected:
  std::unique_ptr<Client> connect(const std::string& text) {
    const auto url = parse_redis_url(text);
    EXPECT_TRUE(url.has_value()) << text;
    auto client = Client::make(*url, clock);
    EXPECT_TRUE(client.has_value()) << client.error().message;
    return std::move(*client);
  }
  // The second word is the key.
  static Result<Reply> run(Client& client, const std::vector<std::string>& words,
                           Duration deadline = long_deadline) {
    const std::vector<std::string_view> views(words.begin(), words.end());
    return client.call_and_wait(views, words.size() > 1 ? words[1] : "", deadline);
  }
  static std::string text(Client& client, const std::vector<std::string>& words) {
    const auto reply = run(client, words);
    return reply ? to_string(*reply) : "error: " + reply.error().message;
  }
  static ::testing::AssertionResult is_up(Client& client) {
    return eventually([&] { return client.health().up; }) << ", " << client.health().detail;
  }
  // One of its own, so that runs do not meet.
  static std::string fresh_key(const std::string& name) {
    static int count = 0;
    return "pawl-test:" + std::to_string(getpid()) + ":" + std::to_string(++count) + ":" + name;
  }

  RealClock clock;
};

TEST_F(ClientTest, TenThousandPipelinedCallsAreAnsweredInOrder) {
  const auto client = connect(server_of_run("PAWL_TEST_REDIS"));
  const std::string key = fresh_key("order");
  constexpr int many = 10'000;
  std::vector<std::int64_t> found;  // the client's thread alone, until the latch opens
  std::latch all(many);
  const std::string_view command[] = {"INCR", key};
  for (int i = 0; i < many; ++i) {
    client->call(command, key, long_deadline, [&](Result<Reply> reply) {
      found.push_back(reply && reply->integer() != nullptr ? *reply->integer() : -1);
      all.count_down();
    });
  }
  all.wait();
  for (int i = 0; i < many; ++i) ASSERT_EQ(found[static_cast<std::size_t>(i)], i + 1);
  EXPECT_EQ(text(*client, {"DEL", key}), "1");
}

TEST_F(ClientTest, ManyThreadsShareOneClient) {
  const auto client = connect(server_of_run("PAWL_TEST_REDIS"));
  const std::string key = fresh_key("threads");
  constexpr int threads = 4;
  constexpr int each = 500;
  std::vector<std::thread> running;
  std::atomic<int> failed = 0;
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([&, field = std::to_string(t)] {
      std::int64_t last = 0;
      for (int i = 0; i < each; ++i) {
        const auto reply = run(*client, {"HINCRBY", key, field, "1"});
        if (!reply || *reply->integer() != ++last) ++failed;
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(text(*client, {"HLEN", key}), "4");
  EXPECT_EQ(text(*client, {"DEL", key}), "1");
}

TEST_F(ClientTest, CarriesLargeValuesAndRefusalsAmongGoodAnswers) {
  const auto client = connect(server_of_run("PAWL_TEST_REDIS"));
  const std::string key = fresh_key("large");
  const std::string large(4 * 1024 * 1024, 'x');
  EXPECT_EQ(text(*client, {"SET", key, large}), "OK");
  const auto refused = run(*client, {"LPUSH", key, "x"});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::refused);
  EXPECT_NE(refused.error().message.find("WRONGTYPE"), std::string::npos);
  const auto value = run(*client, {"GET", key});
  ASSERT_TRUE(value.has_value());
  EXPECT_TRUE(*value->text() == large);
  const auto unknown = run(*client, {"EVALSHA", std::string(40, '0'), "0"});
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().code, Code::not_found);
  const auto half =
      run(*client, {"EVAL", "redis.call('DEL', KEYS[1]); redis.call('NOSUCH')", "1", key});
  ASSERT_FALSE(half.has_value());
  EXPECT_EQ(half.error().outcome, Outcome::unknown) << half.error().message;
  EXPECT_EQ(text(*client, {"EXISTS", key}), "0") << "the first half of the script was applied";
}

TEST_F(ClientTest, UsesTheDatabaseOfTheUrl) {
  RedisServer server;
  const auto zero = connect("redis://" + server.address());
  const auto five = connect("redis://" + server.address() + "/5");
  ASSERT_TRUE(is_up(*zero) && is_up(*five));
  EXPECT_EQ(text(*five, {"SET", "k", "v"}), "OK");
  EXPECT_EQ(text(*zero, {"EXISTS", "k"}), "0");
  EXPECT_EQ(text(*five, {"EXISTS", "k"}), "1");
}

TEST_F(ClientTest, LogsInAndSaysWhenThePasswordIsWrong) {
  RedisServer server({"--requirepass", "right", "--user", "pawl", "on", ">other", "~*", "+@all"});
  const auto right = connect("redis://:right@" + server.address());
  const auto named = connect("redis://pawl:other@" + server.address());
  ASSERT_TRUE(is_up(*right) && is_up(*named));
  EXPECT_EQ(text(*right, {"ACL", "WHOAMI"}), "\"default\"");
  EXPECT_EQ(text(*named, {"ACL", "WHOAMI"}), "\"pawl\"");
  for (const std::string login : {":wr0ng@", "pawl:wr0ng@", ""}) {
    const auto client = connect("redis://" + login + server.address());
    EXPECT_TRUE(eventually([&] {
      const std::string detail = client->health().detail;
      return detail.find(login.empty() ? "NOAUTH" : "WRONGPASS") != std::string::npos;
    })) << client->health().detail;
    const auto reply = run(*client, {"PING"});
    ASSERT_FALSE(reply.has_value());
    EXPECT_EQ(reply.error().outcome, Outcome::not_applied);
    EXPECT_EQ(reply.error().message.find("wr0ng"), std::string::npos);
    EXPECT_FALSE(client->health().up);
  }
}

TEST_F(ClientTest, SpeaksTlsAndRefusesAServerItCannotTrust) {
  const net::Certificates own("IP:127.0.0.1");
  const net::Certificates others("IP:127.0.0.1");
  RedisServer server({"--tls-port", "PORT", "--port", "0", "--tls-auth-clients", "no",
                      "--tls-cert-file", own.certificate(), "--tls-key-file", own.key(),
                      "--tls-ca-cert-file", own.ca()});
  const auto client = connect("rediss://" + server.address() + "?ca=" + own.ca());
  ASSERT_TRUE(is_up(*client)) << server.log();
  const std::string large(1024 * 1024, 'x');
  EXPECT_EQ(text(*client, {"SET", "k", large}), "OK");
  EXPECT_EQ(text(*client, {"GET", "k"}).size(), large.size() + 2);

  const auto has_trouble = [&](const std::string& url, const std::string& words) {
    const auto suspicious = connect(url);
    return eventually([&] { return suspicious->health().detail.find(words) != std::string::npos; })
           << ", " << suspicious->health().detail;
  };
  EXPECT_TRUE(has_trouble("rediss://" + server.address() + "?ca=" + others.ca(),
                          "certificate verify failed"));
  EXPECT_TRUE(
      has_trouble("rediss://localhost:" + server.port() + "?ca=" + own.ca(), "hostname mismatch"));
  EXPECT_TRUE(has_trouble("redis://" + server.address(), "closed the connection"));
  EXPECT_FALSE(Client::make(parse_redis_url("rediss://h?ca=/nonexistent").value(), clock));
}

// The server syncs before it answers, so what it keeps can be compared with what was said.
TEST_F(ClientTest, AServerKilledMidwayLosesNoAnswerAndNothingIsAppliedBehindOurBack) {
  RedisServer server({"--appendonly", "yes", "--appendfsync", "always"});
  const auto client = connect("redis://" + server.address());
  ASSERT_TRUE(is_up(*client));
  Ends ends;
  const std::string_view command[] = {"INCR", "count"};
  kill_midway(server, 20'000, ends,
              [&](auto done) { client->call(command, "count", long_deadline, std::move(done)); });
  EXPECT_FALSE(client->health().up);

  server.start();
  ASSERT_TRUE(is_up(*client)) << server.log();
  const auto reply = run(*client, {"GET", "count"});
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  const int kept = std::stoi(*reply->text());
  EXPECT_GE(kept, ends.applied);
  EXPECT_LE(kept, ends.applied + ends.unknown);
}

TEST_F(ClientTest, WhileTheServerIsAwayCallsFailAtOnceAndSayWhere) {
  RedisServer server;
  const auto client = connect("redis://" + server.address());
  ASSERT_TRUE(is_up(*client));
  const Instant up_since = client->health().since;
  server.kill();
  ASSERT_TRUE(eventually([&] {
    return client->health().detail.find("Connection refused") != std::string::npos;
  })) << client->health().detail;
  EXPECT_GT(client->health().since, up_since);
  const SteadyInstant before = clock.steady_now();
  const auto reply = run(*client, {"PING"});
  EXPECT_LT(clock.steady_now() - before, Duration::seconds(5)) << "not at the deadline";
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().code, Code::unavailable);
  EXPECT_EQ(reply.error().outcome, Outcome::not_applied);
  EXPECT_NE(reply.error().message.find(server.address()), std::string::npos);
}

TEST_F(ClientTest, ASlowServerCostsNoMoreThanTheDeadlineAndLaterAnswersAreTheirOwn) {
  RedisServer server;
  const auto client = connect("redis://" + server.address());
  ASSERT_TRUE(is_up(*client));
  EXPECT_EQ(text(*client, {"SET", "k", "v"}), "OK");
  EXPECT_EQ(text(*client, {"CLIENT", "PAUSE", "400", "ALL"}), "OK");
  const auto late = run(*client, {"INCR", "n"}, Duration::milliseconds(50));
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().outcome, Outcome::unknown);
  EXPECT_EQ(late.error().code, Code::unavailable);
  EXPECT_NE(late.error().message.find("no answer in time"), std::string::npos);
  EXPECT_EQ(text(*client, {"GET", "k"}), "\"v\"");
  EXPECT_EQ(text(*client, {"GET", "n"}), "\"1\"") << "it was applied, as 'unknown' allows";
}

TEST_F(ClientTest, EndingTheClientEndsEveryCall) {
  RedisServer server;
  auto client = connect("redis://" + server.address());
  ASSERT_TRUE(is_up(*client));
  EXPECT_EQ(text(*client, {"CLIENT", "PAUSE", "10000", "ALL"}), "OK");
  int ended = 0;
  const std::string_view command[] = {"PING"};
  for (int i = 0; i < 1000; ++i) {
    client->call(command, "", long_deadline, [&](const Result<Reply>& reply) {
      EXPECT_FALSE(reply.has_value());
      ++ended;
    });
  }
  client.reset();
  EXPECT_EQ(ended, 1000);
}

TEST_F(ClientTest, AClustersKeysAreSpreadOverAllNodesAndFoundAgain) {
  const std::string url = server_of_run("PAWL_TEST_REDIS_CLUSTER");
  const auto client = connect(url);
  constexpr int many = 300;
  const std::string prefix = fresh_key("cluster");
  for (int i = 0; i < many; ++i) {
    const std::string key = prefix + std::to_string(i);
    ASSERT_EQ(text(*client, {"SET", key, std::to_string(i), "EX", "60"}), "OK") << i;
  }
  ASSERT_TRUE(is_up(*client));
  for (int i = 0; i < many; ++i) {
    ASSERT_EQ(text(*client, {"GET", prefix + std::to_string(i)}), '"' + std::to_string(i) + '"');
  }
  const RedisUrl parsed = parse_redis_url(url).value();
  for (const net::Target& target : parsed.servers) {
    const auto node = connect("redis://" + to_string(target));
    const auto size = run(*node, {"DBSIZE"});
    ASSERT_TRUE(size.has_value());
    EXPECT_GT(*size->integer(), many / 10) << to_string(target);
  }
  EXPECT_EQ(text(*client, {"MSET", "{" + prefix + "}a", "1", "{" + prefix + "}b", "2"}), "OK")
      << "keys with one hash tag lie in one slot";
}

class ClusterTest : public ClientTest {
 protected:
  static void SetUpTestSuite() {
    cluster_ = std::make_unique<RedisCluster>();
    ASSERT_TRUE(cluster_->meet());
  }
  static void TearDownTestSuite() { cluster_.reset(); }

  static RedisServer& node(std::size_t index) { return cluster_->node(index); }
  static std::string id(std::size_t index) { return cluster_->id(index); }
  static std::string url() { return cluster_->url(); }

  static std::unique_ptr<RedisCluster> cluster_;
};
std::unique_ptr<RedisCluster> ClusterTest::cluster_;

TEST_F(ClusterTest, ASlotThatMovesIsFollowedWhileAndAfterItMoves) {
  const auto client = connect(url());
  ASSERT_TRUE(is_up(*client));
  const std::string slot = std::to_string(key_slot("{tag}"));
  ASSERT_EQ(text(*client, {"SET", "{tag}old", "1"}), "OK");
  std::size_t from = 0;
  while (node(from).cli("EXISTS {tag}old") != "1") ++from;
  const std::size_t to = from == 1 ? 2 : 1;

  node(to).cli("CLUSTER SETSLOT " + slot + " IMPORTING " + id(from));
  node(from).cli("CLUSTER SETSLOT " + slot + " MIGRATING " + id(to));
  EXPECT_EQ(text(*client, {"GET", "{tag}old"}), "\"1\"") << "not moved yet";
  EXPECT_EQ(text(*client, {"SET", "{tag}new", "2"}), "OK") << "ASK";
  EXPECT_EQ(node(to).cli("CLUSTER COUNTKEYSINSLOT " + slot), "1");
  EXPECT_EQ(text(*client, {"GET", "{tag}new"}), "\"2\"") << "ASK again";

  const auto torn = run(*client, {"MGET", "{tag}old", "{tag}new"});
  ASSERT_FALSE(torn.has_value());
  EXPECT_EQ(torn.error().outcome, Outcome::not_applied);
  EXPECT_NE(torn.error().message.find("TRYAGAIN"), std::string::npos) << torn.error().message;

  EXPECT_EQ(node(from).cli("MIGRATE 127.0.0.1 " + node(to).port() + " {tag}old 0 5000"), "OK");
  for (const std::size_t end : {to, from}) {
    EXPECT_EQ(node(end).cli("CLUSTER SETSLOT " + slot + " NODE " + id(to)), "OK");
  }
  EXPECT_EQ(text(*client, {"MGET", "{tag}old", "{tag}new"}), "[\"1\", \"2\"]") << "MOVED";
  EXPECT_EQ(text(*client, {"DEL", "{tag}old", "{tag}new"}), "2");
  EXPECT_TRUE(is_up(*client));
}

TEST_F(ClusterTest, ManyCallsAtOnceAreEachAnsweredByTheRightNode) {
  const auto client = connect(url());
  constexpr int many = 10'000;
  std::latch all(many);
  std::atomic<int> wrong = 0;
  for (int i = 0; i < many; ++i) {
    const std::string number = std::to_string(i);
    const std::string key = "many" + number;
    const std::string_view command[] = {"INCRBY", key, number};
    client->call(command, key, long_deadline, [&, i](const Result<Reply>& reply) {
      if (!reply || reply->integer() == nullptr || *reply->integer() != i) ++wrong;
      all.count_down();
    });
  }
  all.wait();
  EXPECT_EQ(wrong, 0);
}

TEST_F(ClusterTest, AKilledNodeIsNoticedAndItsReplicaTakesOver) {
  const auto client = connect(url());
  ASSERT_TRUE(is_up(*client));
  int number = 0;
  while (key_slot("k" + std::to_string(number)) > 5460) ++number;
  const std::string key = "k" + std::to_string(number);
  ASSERT_EQ(text(*client, {"SET", key, "kept"}), "OK");
  ASSERT_EQ(node(0).cli("WAIT 1 5000"), "1");

  node(0).kill();
  ASSERT_TRUE(eventually([&] { return !client->health().up; }));
  const auto away = run(*client, {"GET", key});
  if (!away) {
    EXPECT_EQ(away.error().code, Code::unavailable);
  }
  ASSERT_TRUE(eventually([&] {
    const auto reply = run(*client, {"GET", key});
    return reply && *reply == Reply(Reply::Kind::string, "kept");
  })) << client->health().detail;
  ASSERT_TRUE(is_up(*client));
  EXPECT_EQ(text(*client, {"SET", key, "new"}), "OK");
}

}  // namespace
}  // namespace pawl::redis
