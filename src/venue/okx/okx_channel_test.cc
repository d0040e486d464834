// Goal: the order channel is there whenever OKX is, tells every order, and says why it is lost.
// Method: the test plays OKX and the clock.
#include "venue/okx/okx_channel.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "core/http/head.h"
#include "net/fake.h"
#include "venue/okx/okx_fixture.h"

namespace pawl::okx {
namespace {

using websocket::From;
using websocket::Opcode;

constexpr std::string_view logged_in = R"({"event":"login","code":"0","msg":"","connId":"a"})";
constexpr std::string_view subscribed = R"({"event":"subscribe","arg":{"channel":"orders"}})";

class OkxChannelTest : public ::testing::Test {
 protected:
  // Answers the handshake of the oldest attempt.
  void upgrade() {
    stream = loop.accept_connect();
    reader = websocket::FrameReader(From::client);
    const std::string asked = stream->take_sent();
    http::RequestHead head;
    ASSERT_EQ(http::parse_request(asked, head).value(), http::HeadProgress::complete);
    ASSERT_TRUE(head.is_websocket());
    const std::string accept = websocket::accept_of(*head.fields.find("sec-websocket-key"));
    stream->receive(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Accept: " +
        accept + "\r\n\r\n");
  }
  void say(std::string_view text) { stream->receive(websocket::frame(Opcode::text, text)); }
  // What the channel has sent since; masked, or it is none.
  std::vector<websocket::Message> heard() {
    std::vector<websocket::Message> messages;
    const std::string bytes = stream->take_sent();
    std::string_view rest = bytes;
    while (true) {
      auto message = reader.feed(rest);
      EXPECT_TRUE(message.has_value()) << "a frame that a client must not send";
      if (!message || !*message) return messages;
      messages.push_back(std::move(**message));
    }
  }
  void open() {
    upgrade();
    say(logged_in);
    say(subscribed);
    heard();
    notes.clear();
  }
  void push(std::string_view id, std::string_view state) {
    say(R"({"arg":{"channel":"orders","instType":"ANY"},"data":[)" + order_row(id, "ref1", state) +
        "]}");
  }

  net::FakeLoop loop;
  CountingEntropy entropy;
  std::vector<order::VenueOrder> told;
  std::vector<std::string> notes;
  std::shared_ptr<net::FakeStream> stream;
  websocket::FrameReader reader{From::client};
  std::unique_ptr<OkxChannel> channel = std::make_unique<OkxChannel>(
      OkxChannel::Options{.url = parse_channel_url("ws://okx.test:8443/ws/v5/private").value(),
                          .credentials = test_credentials},
      OkxChannel::Ports{.loop = loop,
                        .entropy = entropy,
                        .venue_now = [] { return Instant::from_ns(1'704'876'947'000'000'000); },
                        .told = [this](order::VenueOrder o) { told.push_back(std::move(o)); },
                        .note = [this](const std::string& text) { notes.push_back(text); }});
};

TEST_F(OkxChannelTest, LogsInSubscribesAndTells) {
  EXPECT_EQ(loop.targets.at(0), (Target{.host = "okx.test", .port = 8443}));
  upgrade();
  const auto login = heard();
  ASSERT_EQ(login.size(), 1u);
  EXPECT_EQ(login[0].payload,
            login_message(test_credentials, Instant::from_ns(1'704'876'947'000'000'000)).reveal());
  say(logged_in);
  const auto asked = heard();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].payload, subscription());
  say(subscribed);
  EXPECT_EQ(notes, std::vector<std::string>{"the order channel of OKX is open"});
  push("77", "live");
  push("77", "filled");
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[1].order_id, "77");
  EXPECT_EQ(told[1].life, order::Life::filled);
}

TEST_F(OkxChannelTest, BytesMayComeInAnyPieces) {
  stream = loop.accept_connect();
  http::RequestHead head;
  const std::string asked = stream->take_sent();
  ASSERT_TRUE(http::parse_request(asked, head).has_value());
  std::string all =
      "HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Accept: " +
      websocket::accept_of(*head.fields.find("sec-websocket-key")) + "\r\n\r\n";
  all += websocket::frame(Opcode::text, logged_in);
  all += websocket::frame(Opcode::text, subscribed);
  all += websocket::frame(Opcode::text, R"({"arg":{"channel":"orders"},"data":[)" +
                                            order_row("77", "ref1", "filled") + "]}");
  for (const char c : all) stream->receive(std::string(1, c));
  EXPECT_EQ(told.size(), 1u);
}

TEST_F(OkxChannelTest, SaysPingBeforeOkxHangsUp) {
  open();
  loop.advance(Duration::seconds(24));
  EXPECT_TRUE(heard().empty());
  loop.advance(Duration::seconds(1));
  const auto pings = heard();
  ASSERT_EQ(pings.size(), 1u);
  EXPECT_EQ(pings[0].payload, "ping");
  say("pong");
  loop.advance(Duration::seconds(24));
  EXPECT_TRUE(heard().empty());
  loop.advance(Duration::seconds(1));
  EXPECT_EQ(heard().size(), 1u);
  EXPECT_FALSE(stream->closed);
}

TEST_F(OkxChannelTest, ASilentConnectionIsGivenUp) {
  open();
  loop.advance(Duration::seconds(25));
  loop.advance(Duration::seconds(10));
  EXPECT_TRUE(stream->closed);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0],
            "the order channel of OKX (okx.test:8443) is lost: it fell silent; next attempt in 1s, "
            "orders are polled meanwhile");
  loop.advance(Duration::seconds(1));
  EXPECT_EQ(loop.targets.size(), 2u);
}

TEST_F(OkxChannelTest, AnswersThePingOfTheProtocol) {
  open();
  stream->receive(websocket::frame(Opcode::ping, "are you there"));
  const auto answer = heard();
  ASSERT_EQ(answer.size(), 1u);
  EXPECT_EQ(answer[0], (websocket::Message{.opcode = Opcode::pong, .payload = "are you there"}));
}

TEST_F(OkxChannelTest, ComesBackLaterAndLaterAndSoonAfterASuccess) {
  loop.refuse_connect();
  for (const int wait : {1, 2, 4, 8, 16, 32, 60, 60}) {
    const std::size_t before = loop.targets.size();
    loop.advance(Duration::seconds(wait) - Duration::milliseconds(1));
    EXPECT_EQ(loop.targets.size(), before) << wait;
    loop.advance(Duration::milliseconds(1));
    ASSERT_EQ(loop.targets.size(), before + 1) << wait;
    loop.refuse_connect();
  }
  loop.advance(Duration::seconds(60));
  open();
  stream->break_off();
  loop.advance(Duration::seconds(1));
  open();
  push("77", "filled");
  EXPECT_EQ(told.size(), 1u);
}

TEST_F(OkxChannelTest, MakesANewConnectionAtOnceWhenOkxIsAboutToHangUp) {
  open();
  say(R"({"event":"notice","code":"64008","msg":"the connection will soon be closed"})");
  EXPECT_TRUE(stream->closed);
  ASSERT_EQ(loop.targets.size(), 2u);
  open();
  push("77", "filled");
  EXPECT_EQ(told.size(), 1u);
}

TEST_F(OkxChannelTest, ALoginThatIsRefusedIsNotedWithoutItsSecrets) {
  upgrade();
  say(R"({"event":"error","code":"60009","msg":"Login failed."})");
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("OKX refused: 60009: Login failed."), std::string::npos);
  for (const char* secret : {"the-key", "the-secret", "the-passphrase"}) {
    EXPECT_EQ(notes[0].find(secret), std::string::npos);
  }
  EXPECT_TRUE(stream->closed);
}

TEST_F(OkxChannelTest, WhoeverDoesNotLetItInIsLeft) {
  stream = loop.accept_connect();
  loop.advance(Duration::seconds(10));
  EXPECT_TRUE(stream->closed);
  EXPECT_NE(notes.at(0).find("it did not let us in within 10s"), std::string::npos);
}

TEST_F(OkxChannelTest, WhatIsNoWebSocketIsLeft) {
  for (const std::string& answer :
       {std::string("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"),
        std::string("SSH-2.0-nothing\r\n\r\n"), "HTTP/1.1 101 " + std::string(20'000, 'x')}) {
    stream = loop.accept_connect();
    stream->receive(answer);
    EXPECT_TRUE(stream->closed) << answer.substr(0, 20);
    loop.advance(Duration::seconds(60));
  }
}

TEST_F(OkxChannelTest, AFrameThatBreaksTheProtocolEndsTheConnection) {
  open();
  stream->receive(websocket::frame(Opcode::text, "masked", websocket::Mask{1, 2, 3, 4}));
  EXPECT_TRUE(stream->closed);
  EXPECT_NE(notes.at(0).find("it broke the protocol, close code 1002"), std::string::npos);
  loop.advance(Duration::seconds(1));
  open();
  stream->receive(std::string("\x81\x7f\x00\x00\x00\x7f\x00\x00\x00\x00", 10));
  EXPECT_TRUE(stream->closed);
  EXPECT_NE(notes.at(0).find("close code 1009"), std::string::npos) << "a message without an end";
}

TEST_F(OkxChannelTest, NothingIsToldAfterACloseInTheSameBytes) {
  open();
  stream->receive(websocket::close_frame(websocket::CloseCode::going_away, "") +
                  websocket::frame(Opcode::text, R"({"arg":{"channel":"orders"},"data":[)" +
                                                     order_row("77", "ref1", "filled") + "]}"));
  EXPECT_TRUE(told.empty());
  EXPECT_NE(notes.at(0).find("it hung up"), std::string::npos);
}

TEST_F(OkxChannelTest, RowsThatCannotBeReadAreNoted) {
  open();
  say(R"({"arg":{"channel":"orders"},"data":[{"ordId":"77"}]})");
  EXPECT_TRUE(told.empty());
  EXPECT_EQ(notes.size(), 1u);
  EXPECT_FALSE(stream->closed);
}

TEST_F(OkxChannelTest, MayEndAtAnyTime) {
  channel.reset();
  EXPECT_TRUE(loop.accept_connect()->closed) << "an attempt under way";
  EXPECT_TRUE(notes.empty());
}

}  // namespace
}  // namespace pawl::okx
