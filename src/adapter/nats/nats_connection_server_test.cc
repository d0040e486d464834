// Goal: with a real server, a write is kept exactly when its condition holds, a lost server is told
// from a refusal, and what could forget is refused. Method: the test run's server for what harms
// nobody; servers of the test's own where one is killed, paused or set up otherwise.
#include <gtest/gtest.h>
#include <thread>

#include "adapter/nats/nats_connection.h"
#include "adapter/nats/nats_server_fixture.h"
#include "net/certificates_fixture.h"

namespace pawl::nats {
namespace {

StreamForm form_of(const NatsUrl& url, bool last_of_each = true) {
  return {.name = url.name, .subjects = url.name + ".>", .last_of_each_subject = last_of_each};
}

Until soon() {
  return from_now(Duration::seconds(30));
}

struct Opened {
  explicit Opened(NatsUrl at, bool last_of_each = true)
      : url(std::move(at)),
        connection(open_soon([&] { return Connection::open(url, form_of(url, last_of_each)); })) {}

  Result<std::uint64_t> put(const std::string& data, std::uint64_t after) const {
    return connection->put({.subject = url.name + ".one", .data = data, .after = after}, soon());
  }
  Result<std::optional<Kept>> last() const { return connection->last(url.name + ".one", soon()); }

  const NatsUrl url;
  const std::unique_ptr<Connection> connection;
};

TEST(NatsConnection, KeepsAMessageWhenItsConditionHoldsAndOnlyThen) {
  const Opened stream(fresh_url("puts"));
  ASSERT_TRUE(stream.connection);
  EXPECT_FALSE(stream.last().value().has_value());
  const std::uint64_t first = stream.put("one", 0).value();
  const std::uint64_t second = stream.put(std::string("t\0o", 3), first).value();
  EXPECT_GT(second, first);
  for (const std::uint64_t stale : {std::uint64_t{0}, first, second + 1}) {
    const auto refused = stream.put("three", stale);
    ASSERT_FALSE(refused.has_value()) << stale;
    EXPECT_EQ(refused.error().code, Code::refused);
    EXPECT_TRUE(refused.error().outcome == Outcome::not_applied);
  }
  const Kept kept = stream.last().value().value();
  EXPECT_EQ(kept.sequence, second);
  EXPECT_EQ(kept.data, std::string("t\0o", 3));
  EXPECT_EQ(kept.subject, stream.url.name + ".one");
  EXPECT_FALSE(stream.connection->at(first, soon()).value().has_value()) << "one a subject";
  EXPECT_EQ(stream.connection->at(second, soon()).value().value().data, kept.data);
}

TEST(NatsConnection, AnEmptyMessageIsAMessage) {
  const Opened stream(fresh_url("empty"));
  const std::uint64_t first = stream.put("", 0).value();
  EXPECT_EQ(stream.last().value().value().sequence, first);
  EXPECT_EQ(stream.last().value().value().data, "");
}

TEST(NatsConnection, ForgettingLeavesWhatCameLater) {
  const Opened stream(fresh_url("forget"));
  const std::string name = stream.url.name + ".one";
  const std::uint64_t first = stream.put("one", 0).value();
  const std::uint64_t second = stream.put("two", first).value();
  ASSERT_TRUE(stream.connection->forget(name, first, soon()).has_value());
  EXPECT_EQ(stream.last().value().value().sequence, second);
  ASSERT_TRUE(stream.connection->forget(name, second, soon()).has_value());
  EXPECT_FALSE(stream.last().value().has_value());
  EXPECT_FALSE(stream.put("three", second).has_value());
  EXPECT_GT(stream.put("three", 0).value(), second) << "sequences only grow";
}

TEST(NatsConnection, WalksOverAllThatFitsInOrder) {
  const Opened stream(fresh_url("walk"));
  const auto found = [&](const std::string& subjects, std::uint64_t first, std::size_t at_most) {
    std::vector<std::string> seen;
    const auto walked = stream.connection->walk(
        stream.url.name + subjects, first,
        [&](const Kept& kept) {
          seen.push_back(kept.data);
          return seen.size() < at_most;
        },
        soon());
    EXPECT_TRUE(walked.has_value()) << walked.error().message;
    return seen;
  };
  EXPECT_TRUE(found(".>", 1, 1'000).empty());
  std::vector<std::string> expected;
  std::uint64_t middle = 0;
  for (int i = 0; i < 600; ++i) {
    expected.push_back(std::to_string(i));
    const std::string name = stream.url.name + (i % 2 == 0 ? ".even." : ".odd.") + expected.back();
    const auto put =
        stream.connection->put({.subject = name, .data = expected.back(), .after = 0}, soon());
    if (i == 300) middle = put.value();
  }
  EXPECT_EQ(found(".>", 1, 1'000), expected);
  EXPECT_EQ(found(".even.>", 1, 1'000).size(), 300u);
  EXPECT_EQ(found(".>", middle, 1'000).size(), 300u);
  EXPECT_EQ(found(".>", 1, 7).size(), 7u);
  EXPECT_TRUE(found(".>", 10'000, 1'000).empty());
}

TEST(NatsConnection, TakesMessagesUpToTheBoundItTells) {
  const Opened stream(fresh_url("large"));
  const std::size_t most = stream.connection->message_bytes_max();
  EXPECT_GT(most, 1'000'000u);
  const std::uint64_t largest = stream.put(std::string(most, 'x'), 0).value();
  EXPECT_EQ(stream.last().value().value().data.size(), most);
  const auto larger = stream.put(std::string(most + 1, 'x'), largest);
  ASSERT_FALSE(larger.has_value());
  EXPECT_EQ(larger.error().code, Code::invalid);
  EXPECT_TRUE(larger.error().outcome == Outcome::not_applied);
  EXPECT_TRUE(stream.put("small", largest).has_value()) << "the connection goes on";
}

TEST(NatsConnection, CallsAfterAKillAreNotAppliedAndTheServerIsFoundAgain) {
  NatsServer server;
  const Opened stream(server.url("killed"));
  ASSERT_TRUE(stream.connection);
  const std::uint64_t first = stream.put("one", 0).value();
  server.kill();
  ASSERT_TRUE(eventually([&] { return !stream.connection->health().has_value(); }));
  const auto away = stream.put("two", first);
  ASSERT_FALSE(away.has_value());
  EXPECT_EQ(away.error().code, Code::unavailable);
  EXPECT_TRUE(away.error().outcome == Outcome::not_applied) << away.error().message;
  EXPECT_NE(away.error().message.find(server.address()), std::string::npos);
  EXPECT_FALSE(stream.last().has_value());

  server.start();
  ASSERT_TRUE(eventually([&] { return stream.last().has_value(); })) << server.log();
  EXPECT_EQ(stream.last().value().value().sequence, first) << "the second was never sent";
  EXPECT_TRUE(stream.put("two", first).has_value());
}

TEST(NatsConnection, AnAnswerThatDoesNotComeIsUnknown) {
  NatsServer server;
  const Opened stream(server.url("paused"));
  ASSERT_TRUE(stream.connection);
  server.pause();
  const auto lost = stream.connection->put({.subject = "paused.one", .data = "x", .after = 0},
                                           from_now(Duration::milliseconds(100)));
  server.go_on();
  ASSERT_FALSE(lost.has_value());
  EXPECT_EQ(lost.error().code, Code::unavailable);
  EXPECT_TRUE(lost.error().outcome == Outcome::unknown);
  EXPECT_TRUE(eventually([&] { return stream.last().value_or(std::nullopt).has_value(); }))
      << "it was kept after all";
}

TEST(NatsConnection, LogsInAndNeverTellsThePassword) {
  NatsServer server({"--user", "pawl", "--pass", "s3cret"});
  ASSERT_TRUE(Opened(server.url("login", "pawl:s3cret@")).connection);
  for (const char* login : {"pawl:wr0ng@", ":wr0ng@", ""}) {
    const auto refused = Connection::open(server.url("login", login), form_of(server.url("login")));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().message.find("wr0ng"), std::string::npos);
    EXPECT_NE(refused.error().message.find("/login: Authorization Violation"), std::string::npos)
        << refused.error().message;
  }
}

TEST(NatsConnection, SpeaksTlsAndRefusesAServerItCannotTrust) {
  const net::Certificates own("IP:127.0.0.1");
  const net::Certificates others("IP:127.0.0.1");
  NatsServer server({"--tls", "--tlscert", own.certificate(), "--tlskey", own.key()});
  const auto url = [&](const std::string& start, const std::string& end) {
    return parse_nats_url(start + ":" + server.port() + "/tls" + end).value();
  };
  const Opened stream(url("tls://127.0.0.1", "?ca=" + own.ca()));
  ASSERT_TRUE(stream.connection) << server.log();
  EXPECT_TRUE(stream.put(std::string(100'000, 'x'), 0).has_value());
  setenv("SSL_CERT_FILE", own.ca().c_str(), 1);
  EXPECT_TRUE(Connection::open(url("tls://127.0.0.1", ""), form_of(stream.url)).has_value());
  unsetenv("SSL_CERT_FILE");
  const struct {
    NatsUrl url;
    const char* says;
  } bad[] = {
      {url("tls://127.0.0.1", "?ca=" + others.ca()), "certificate"},
      {url("tls://localhost", "?ca=" + own.ca()), "hostname mismatch"},
      {url("tls://127.0.0.1", ""), "issuer"},
      {url("nats://127.0.0.1", ""), "issuer"},
      {url("tls://127.0.0.1", "?ca=/nonexistent"), "is ca= a file"},
  };
  for (const auto& [at, says] : bad) {
    const auto refused = Connection::open(at, form_of(at));
    ASSERT_FALSE(refused.has_value()) << to_string(at) << " " << at.ca_file;
    EXPECT_NE(refused.error().message.find(says), std::string::npos) << refused.error().message;
  }
}

TEST(NatsConnection, ComesBackAfterAServerThatRefusedItsLogin) {
  NatsServer server({"--user", "pawl", "--pass", "s3cret"});
  const Opened stream(server.url("relogin", "pawl:s3cret@"));
  ASSERT_TRUE(stream.connection);
  server.kill();
  server.start_with({"--user", "pawl", "--pass", "other"});
  // The library gives up for good after two refusals.
  ASSERT_TRUE(
      eventually([&] { return server.log().find("authentication error") != std::string::npos; }));
  EXPECT_FALSE(stream.connection->health().has_value());
  server.kill();
  server.start_with({"--user", "pawl", "--pass", "s3cret"});
  EXPECT_TRUE(eventually([&] { return stream.connection->seek().has_value(); }))
      << stream.connection->seek().error().message;
  EXPECT_TRUE(stream.connection->health().has_value());
  EXPECT_TRUE(stream.put("one", 0).has_value());
}

TEST(NatsConnection, SaysWhereThereIsNoServer) {
  const auto none = Connection::open(parse_nats_url("nats://127.0.0.1:1/x").value(),
                                     form_of(parse_nats_url("nats://127.0.0.1:1/x").value()));
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, Code::unavailable);
  EXPECT_NE(none.error().message.find("127.0.0.1:1"), std::string::npos);
}

TEST(NatsConnection, ReadsTheDurabilityOffTheStreamAndRefusesOneThatForgets) {
  NatsServer server;
  const auto set_up = [&](const std::string& name, const std::string& settings) {
    server.make_stream(name, settings);
    return Connection::open(server.url(name), form_of(server.url(name)));
  };
  EXPECT_EQ(Opened(server.url("fresh")).connection->durability(), Durability::process);

  const std::string one_each = R"("max_msgs_per_subject":1,"retention":"limits",)";
  const auto memory = set_up("memory", one_each + R"("storage":"memory","max_msg_size":1000)");
  ASSERT_TRUE(memory.has_value()) << memory.error().message;
  EXPECT_EQ((*memory)->durability(), Durability::none);
  EXPECT_EQ((*memory)->message_bytes_max(), 1000u - 256u) << "without headers";

  const struct {
    const char* name;
    std::string settings;
    const char* says;
  } cases[] = {
      {"aged", one_each + R"("storage":"file","max_age":3600000000000)", "by age"},
      {"oldest", one_each + R"("storage":"file","max_bytes":10000,"discard":"old")", "oldest"},
      {"history", R"("max_msgs_per_subject":5,"retention":"limits","storage":"file")", "history"},
      {"queue", R"("max_msgs_per_subject":1,"retention":"workqueue","storage":"file")", "read"},
  };
  for (const auto& [name, settings, says] : cases) {
    const auto refused = set_up(name, settings);
    ASSERT_FALSE(refused.has_value()) << name;
    EXPECT_EQ(refused.error().code, Code::invalid);
    EXPECT_NE(refused.error().message.find(says), std::string::npos) << refused.error().message;
  }
  const auto full = set_up("full", one_each + R"("storage":"file","max_msgs":1,"discard":"new")");
  ASSERT_TRUE(full.has_value()) << full.error().message;
  ASSERT_TRUE((*full)->put({.subject = "full.one", .data = "x", .after = 0}, soon()).has_value());
  const auto no_room = (*full)->put({.subject = "full.two", .data = "x", .after = 0}, soon());
  ASSERT_FALSE(no_room.has_value());
  EXPECT_EQ(no_room.error().code, Code::unavailable);
  EXPECT_TRUE(no_room.error().outcome == Outcome::not_applied) << no_room.error().message;
}

}  // namespace
}  // namespace pawl::nats
