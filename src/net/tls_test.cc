// Goal: TLS carries bytes whole between two sides that may trust each other, and nobody else is let
// in. Method: both ends in memory over fake connections, certificates of a test authority; for the
// way through real sockets, both ends in one loop.
#include "net/tls.h"

#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>

#include "net/certificates_fixture.h"
#include "net/fake.h"

namespace pawl::net {
namespace {

struct Side final : StreamHandler {
  void on_data(std::string_view bytes) override {
    received.append(bytes);
    if (data) data();
  }
  void on_drained() override { ++drained; }
  void on_closed() override { closed = true; }

  std::shared_ptr<FakeStream> plain = std::make_shared<FakeStream>();
  StreamPtr stream;
  std::optional<Result<void>> greeting;
  std::string received;
  int drained = 0;
  bool closed = false;
  std::function<void()> data;
};

class TlsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    certificates_ = std::make_unique<Certificates>("DNS:redis.test,DNS:*.redis.test,IP:127.0.0.1");
  }
  static void TearDownTestSuite() { certificates_.reset(); }
  TlsTest() { loop.hold_posted = true; }

  // Carries bytes to and fro until both are silent.
  void carry(std::size_t piece = std::string::npos) {
    while (!client.plain->sent.empty() || !server.plain->sent.empty()) {
      deliver(client.plain->take_sent(), *server.plain, piece);
      deliver(server.plain->take_sent(), *client.plain, piece);
    }
    loop.run_posted();
    for (const Side* side : {&client, &server}) side->plain->hand_on();
  }
  static void deliver(std::string_view bytes, FakeStream& to, std::size_t piece) {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
      to.receive(bytes.substr(0, piece));
    }
  }

  void begin(const std::string& host, const std::string& ca_file) {
    const auto greeted = [](Side& side) {
      return [&side](Result<void> how) { side.greeting = std::move(how); };
    };
    const auto trust = Tls::client(ca_file, offers);
    ASSERT_TRUE(trust.has_value()) << trust.error().message;
    const auto identity = Tls::server(certificates_->certificate(), certificates_->key(), speaks);
    ASSERT_TRUE(identity.has_value()) << identity.error().message;
    client.stream = (*trust)->connect(loop, client.plain, host, greeted(client)).value();
    server.stream = (*identity)->accept(loop, server.plain, greeted(server)).value();
  }
  // A connection ready for use.
  void open(std::size_t piece = std::string::npos) {
    begin("redis.test", certificates_->ca());
    carry(piece);
    for (Side* side : {&client, &server}) {
      ASSERT_TRUE(side->greeting.has_value());
      ASSERT_TRUE(side->greeting->has_value()) << side->greeting->error().message;
      side->stream->start(*side);
    }
    carry();
  }
  // What the client says against it; empty when it lets the server in.
  std::string refusal(const std::string& host, const std::string& ca_file) {
    begin(host, ca_file);
    carry();
    if (!client.greeting) return "no verdict";
    if (*client.greeting) return "";
    EXPECT_TRUE(client.plain->closed);
    EXPECT_EQ(client.greeting->error().outcome, Outcome::not_applied);
    return client.greeting->error().message;
  }

  static std::unique_ptr<Certificates> certificates_;
  FakeLoop loop;
  Tls::Protocol offers = Tls::Protocol::any;  // the client's protocol
  Tls::Protocol speaks = Tls::Protocol::any;  // the server's
  Side client;
  Side server;
};
std::unique_ptr<Certificates> TlsTest::certificates_;

TEST_F(TlsTest, CarriesBytesBothWaysAndInTheDark) {
  open();
  client.stream->send("a secret question");
  EXPECT_EQ(client.plain->sent.find("secret"), std::string::npos);
  carry();
  server.stream->send("an answer");
  carry();
  EXPECT_EQ(server.received, "a secret question");
  EXPECT_EQ(client.received, "an answer");
}

TEST_F(TlsTest, DoesNotMindWhereThePiecesAreCut) {
  open(1);
  const std::string text(40'000, 'x');
  client.stream->send(text);
  carry(7);
  EXPECT_EQ(server.received, text);
}

TEST_F(TlsTest, CarriesWhatIsLargerThanARecord) {
  open();
  std::string large(5 * 1024 * 1024, '\0');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 7 + i / 251);
  client.stream->send(large);
  carry(64 * 1024);
  EXPECT_TRUE(server.received == large);
}

TEST_F(TlsTest, LetsInTheHostItAskedFor) {
  for (const char* host : {"redis.test", "REDIS.test", "a.redis.test", "127.0.0.1"}) {
    client = Side();
    server = Side();
    EXPECT_EQ(refusal(host, certificates_->ca()), "") << host;
  }
}

TEST_F(TlsTest, RefusesAnotherHost) {
  for (const char* host : {"mail.test", "redis.test.evil", "127.0.0.2", "::1", "a.b.redis.test"}) {
    client = Side();
    server = Side();
    const std::string why = refusal(host, certificates_->ca());
    EXPECT_NE(why.find("certificate verify failed"), std::string::npos) << host << ": " << why;
    EXPECT_NE(why.find("mismatch"), std::string::npos) << host << ": " << why;
  }
}

TEST_F(TlsTest, RefusesAnAuthorityItWasNotTold) {
  const Certificates others("DNS:redis.test");
  std::string why = refusal("redis.test", others.ca());
  EXPECT_NE(why.find("certificate verify failed"), std::string::npos) << why;
  client = Side();
  server = Side();
  why = refusal("redis.test", "");  // the system's authorities
  EXPECT_NE(why.find("certificate verify failed"), std::string::npos) << why;
}

TEST_F(TlsTest, SaysWhichFileItCannotUse) {
  const auto missing = Tls::client("/nonexistent/ca.pem");
  ASSERT_FALSE(missing.has_value());
  EXPECT_NE(missing.error().message.find("/nonexistent/ca.pem"), std::string::npos);
  EXPECT_NE(missing.error().message.find("No such file"), std::string::npos)
      << missing.error().message;
  EXPECT_FALSE(Tls::client(certificates_->key()).has_value()) << "a key is no certificate";
  EXPECT_FALSE(Tls::server(certificates_->key(), certificates_->key()).has_value());
  EXPECT_FALSE(Tls::server(certificates_->ca(), certificates_->key()).has_value())
      << "the key of another certificate";
}

TEST_F(TlsTest, SaysThatAKeyBelongsToAnotherCertificate) {
  const Certificates others("DNS:redis.test");
  const auto identity = Tls::server(certificates_->certificate(), others.key());
  ASSERT_FALSE(identity.has_value());
  EXPECT_NE(identity.error().message.find("the key in " + others.key() + " is not the one of"),
            std::string::npos)
      << identity.error().message;
}

TEST_F(TlsTest, AKeyWithAPasswordIsRefusedAndNobodyIsAskedForIt) {
  const std::string locked = certificates_->file("locked.key");
  const std::string command = "openssl ec -aes128 -passout pass:secret -in " +
                              certificates_->key() + " -out " + locked + " 2>/dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const auto identity = Tls::server(certificates_->certificate(), locked);
  ASSERT_FALSE(identity.has_value());
  EXPECT_NE(identity.error().message.find(locked), std::string::npos) << identity.error().message;
}

TEST_F(TlsTest, NamesTheProtocolWhereOneIsTold) {
  using enum Tls::Protocol;
  for (const auto& [offered, spoken] : {std::pair(http, http), {any, http}, {http, any}}) {
    client = Side();
    server = Side();
    offers = offered;
    speaks = spoken;
    EXPECT_EQ(refusal("redis.test", certificates_->ca()), "");
  }
}

TEST_F(TlsTest, ALookSeesThroughIt) {
  open();
  EXPECT_TRUE(client.stream->is_quiet());
  client.plain->quiet = false;
  EXPECT_FALSE(client.stream->is_quiet());
  client.plain->quiet = true;
  client.stream->pause();
  server.stream->send("unread");
  const std::string bytes = server.plain->take_sent();
  client.plain->paused = false;  // it was on its way
  client.plain->receive(bytes);
  EXPECT_FALSE(client.stream->is_quiet());
}

TEST_F(TlsTest, ACloseNotifyEndsTheOtherSide) {
  open();
  client.stream->send("last words");
  client.stream->say_goodbye();
  EXPECT_TRUE(client.plain->said_goodbye);
  carry();
  EXPECT_EQ(server.received, "last words");
  EXPECT_TRUE(server.closed);
  EXPECT_TRUE(server.plain->closed);
  EXPECT_FALSE(client.closed);
}

TEST_F(TlsTest, ABrokenConnectionEndsIt) {
  open();
  server.plain->break_off();
  EXPECT_TRUE(server.closed);
  EXPECT_FALSE(client.closed);
}

TEST_F(TlsTest, GarbageInsteadOfAGreetingIsAnErrorWithAReason) {
  begin("redis.test", certificates_->ca());
  client.plain->receive("-ERR unknown command, this is no TLS server\r\n");
  ASSERT_TRUE(client.greeting.has_value());
  ASSERT_FALSE(client.greeting->has_value());
  EXPECT_NE(client.greeting->error().message.find("wrong version number"), std::string::npos)
      << client.greeting->error().message;
}

TEST_F(TlsTest, ASpoiledByteEndsTheConnectionAndIsNeverHandedOn) {
  open();
  client.stream->send("transfer 100");
  std::string bytes = client.plain->take_sent();
  bytes[bytes.size() - 1] ^= 1;
  server.plain->receive(bytes);
  EXPECT_EQ(server.received, "");
  EXPECT_TRUE(server.closed);
}

TEST_F(TlsTest, AConnectionThatEndsDuringTheGreetingSaysSo) {
  begin("redis.test", certificates_->ca());
  client.plain->break_off();
  ASSERT_TRUE(client.greeting.has_value());
  ASSERT_FALSE(client.greeting->has_value());
  EXPECT_NE(client.greeting->error().message.find("closed"), std::string::npos);
}

TEST_F(TlsTest, WhoGivesUpTheGreetingHearsNoMoreOfIt) {
  begin("redis.test", certificates_->ca());
  client.stream->close();
  EXPECT_TRUE(client.plain->closed);
  begin("redis.test", certificates_->ca());
  client.plain->closed = false;
  client.stream.reset();
  EXPECT_TRUE(client.plain->closed);
  EXPECT_FALSE(client.greeting.has_value());
}

TEST_F(TlsTest, WhilePausedNothingIsHandedOnAndAfterwardsAllOfIt) {
  open();
  server.data = [&] { server.stream->pause(); };
  client.stream->send("one");
  client.stream->send("two");
  carry();
  EXPECT_EQ(server.received, "one");
  EXPECT_TRUE(server.plain->paused);
  server.data = nullptr;
  server.stream->resume();
  EXPECT_EQ(server.received, "one") << "not during the call";
  loop.run_posted();
  EXPECT_EQ(server.received, "onetwo");
}

TEST_F(TlsTest, AHandlerMayCloseAndDropItInTheMiddleOfData) {
  open();
  client.stream->send("one");
  client.stream->send("two");
  server.data = [&] {
    server.stream->close();
    server.stream.reset();
  };
  carry();
  EXPECT_EQ(server.received, "one");
  EXPECT_FALSE(server.closed);
}

TEST_F(TlsTest, TellsWhatWaitsAndWhenItIsGone) {
  open();
  client.plain->stalled = true;
  client.stream->send("slow");
  EXPECT_GT(client.stream->queued_bytes(), 4u);
  client.plain->drain();
  EXPECT_EQ(client.stream->queued_bytes(), 0u);
  EXPECT_EQ(client.drained, 1);
}

TEST_F(TlsTest, WhatTheServerSaysFirstIsKeptUntilSomebodyListens) {
  begin("redis.test", certificates_->ca());
  server.greeting.reset();
  while (!client.plain->sent.empty() && !server.greeting) {
    deliver(client.plain->take_sent(), *server.plain, std::string::npos);
    if (server.greeting) break;
    deliver(server.plain->take_sent(), *client.plain, std::string::npos);
  }
  server.stream->start(server);
  server.stream->send("welcome");
  carry();
  EXPECT_EQ(client.received, "");
  client.stream->start(client);
  EXPECT_EQ(client.received, "") << "not during the call";
  client.plain->hand_on();
  EXPECT_EQ(client.received, "welcome");
}

TEST_F(TlsTest, WhatCameBeforeAnEndIsHandedOnFirst) {
  open();
  server.data = [&] { server.stream->pause(); };
  client.stream->send("one");
  client.stream->send("two");
  carry();
  server.plain->resume();  // an end that is read at once
  server.plain->break_off();
  EXPECT_EQ(server.received, "one");
  EXPECT_FALSE(server.stream->is_quiet());
  server.data = nullptr;
  server.stream->resume();
  EXPECT_FALSE(server.closed);
  loop.run_posted();
  EXPECT_EQ(server.received, "onetwo");
  EXPECT_TRUE(server.closed);
}

TEST_F(TlsTest, WorksOverRealSockets) {
  const auto real = Loop::make();
  const auto trust = Tls::client(certificates_->ca()).value();
  const auto identity = Tls::server(certificates_->certificate(), certificates_->key()).value();
  const std::string large(3 * 1024 * 1024, 'x');
  const auto where = real->listen(parse_endpoint("127.0.0.1:0").value(), [&](StreamPtr plain) {
    server.stream = identity
                        ->accept(*real, std::move(plain),
                                 [&](Result<void> how) {
                                   ASSERT_TRUE(how.has_value()) << how.error().message;
                                   server.stream->start(server);
                                 })
                        .value();
  });
  server.data = [&] {
    if (server.received.size() == large.size()) real->stop();
  };
  real->connect({"127.0.0.1", where->port}, Duration::seconds(5), [&](Result<StreamPtr> plain) {
    ASSERT_TRUE(plain.has_value());
    client.stream = trust
                        ->connect(*real, *plain, "127.0.0.1",
                                  [&](Result<void> how) {
                                    ASSERT_TRUE(how.has_value()) << how.error().message;
                                    client.stream->start(client);
                                    client.stream->send(large);
                                  })
                        .value();
  });
  real->every(Duration::seconds(20), [&] { real->stop(); });
  real->run();
  EXPECT_TRUE(server.received == large) << server.received.size();
  client.stream.reset();  // before their loop
  server.stream.reset();
}

}  // namespace
}  // namespace pawl::net
