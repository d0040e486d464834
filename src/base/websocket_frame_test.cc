// Goal: messages survive the framing of RFC 6455 however they are cut, and what breaks its rules
// is refused with the code that it asks for.
// Method: the RFC's own examples, good frames with one thing spoilt, and random messages in random
// pieces.
#include "base/websocket_frame.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <vector>

#include "base/bounds.h"

namespace pawl::websocket {
namespace {

constexpr Mask some_mask = {0x37, 0xfa, 0x21, 0x3d};

std::string bytes(std::initializer_list<int> values) {
  std::string out;
  for (const int value : values) out.push_back(static_cast<char>(value));
  return out;
}

struct Heard {
  std::vector<Message> messages = {};
  std::optional<CloseCode> error = {};
};

Heard hear(FrameReader& reader, std::string_view input) {
  Heard heard;
  for (;;) {
    const auto message = reader.feed(input);
    if (!message) {
      heard.error = message.error();
      return heard;
    }
    if (!*message) return heard;
    heard.messages.push_back(**message);
  }
}

Heard hear(std::string_view input, From from = From::client) {
  FrameReader reader(from);
  return hear(reader, input);
}

TEST(WebSocketHandshake, IsAnsweredAsInTheRfc) {
  EXPECT_EQ(accept_of("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST(WebSocketFrame, IsThatOfTheRfc) {
  EXPECT_EQ(frame(Opcode::text, "Hello"), bytes({0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f}));
  EXPECT_EQ(frame(Opcode::text, "Hello", some_mask),
            bytes({0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58}));
  EXPECT_EQ(frame(Opcode::binary, std::string(256, 'x')).substr(0, 4),
            bytes({0x82, 0x7e, 0x01, 0x00}));
  EXPECT_EQ(frame(Opcode::binary, std::string(65'536, 'x')).substr(0, 10),
            bytes({0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0}));
}

TEST(WebSocketReader, PutsPiecesTogetherAndGivesAPingBetweenThem) {
  const std::string pieces =
      bytes({0x01, 0x03, 'H', 'e', 'l', 0x89, 0x01, '!', 0x80, 0x02, 'l', 'o'});
  const Heard heard = hear(pieces, From::server);
  const std::vector<Message> expected = {{.opcode = Opcode::ping, .payload = "!"},
                                         {.opcode = Opcode::text, .payload = "Hello"}};
  EXPECT_EQ(heard.messages, expected);
  EXPECT_FALSE(heard.error);
}

TEST(WebSocketReader, RefusesWhatBreaksTheRules) {
  const auto error_of = [](const std::string& input) { return hear(input, From::server).error; };
  EXPECT_EQ(error_of(bytes({0xc1, 0x00})), CloseCode::protocol_error) << "a reserved bit";
  EXPECT_EQ(error_of(bytes({0x83, 0x00})), CloseCode::protocol_error) << "an opcode nobody knows";
  EXPECT_EQ(error_of(bytes({0x80, 0x00})), CloseCode::protocol_error) << "continues nothing";
  EXPECT_EQ(error_of(bytes({0x01, 0x00, 0x01, 0x00})), CloseCode::protocol_error)
      << "a message within a message";
  EXPECT_EQ(error_of(bytes({0x09, 0x00})), CloseCode::protocol_error) << "a ping in pieces";
  EXPECT_EQ(error_of(bytes({0x89, 0x7e, 0x00, 0x7e})), CloseCode::protocol_error) << "a long ping";
  EXPECT_EQ(error_of(bytes({0x81, 0x7e, 0x00, 0x05})), CloseCode::protocol_error)
      << "a length in a longer form than it needs";
  EXPECT_EQ(error_of(bytes({0x81, 0x7f, 0, 0, 0, 0, 0, 0, 1, 0})), CloseCode::protocol_error);
  EXPECT_EQ(error_of(bytes({0x81, 0x02, 0xc3, 0x28})), CloseCode::bad_text);
  EXPECT_EQ(error_of(bytes({0x81, 0x7f, 0, 0, 0, 0, 0, 0x10, 0, 1})), CloseCode::too_big);
  EXPECT_EQ(error_of(bytes({0x88, 0x01, 0x03})), CloseCode::protocol_error) << "half a code";
  EXPECT_EQ(error_of(bytes({0x88, 0x02, 0x03, 0xed})), CloseCode::protocol_error)
      << "1005 is never sent";
  EXPECT_EQ(error_of(bytes({0x88, 0x03, 0x03, 0xe8, 0xff})), CloseCode::bad_text);
}

TEST(WebSocketReader, WantsMasksOfClientsAndOfNobodyElse) {
  EXPECT_EQ(hear(frame(Opcode::text, "a"), From::client).error, CloseCode::protocol_error);
  EXPECT_EQ(hear(frame(Opcode::text, "a", some_mask), From::server).error,
            CloseCode::protocol_error);
}

TEST(WebSocketReader, BoundsAMessageByTheSumOfItsPieces) {
  std::string half =
      frame(Opcode::binary, std::string(bounds::websocket_message_bytes_max / 2, 'x'));
  half[0] = 0x02;  // more follows
  std::string rest =
      frame(Opcode::continuation, std::string(bounds::websocket_message_bytes_max / 2, 'x'));
  EXPECT_EQ(hear(half + rest, From::server).messages.size(), 1U);
  rest = frame(Opcode::continuation, std::string(bounds::websocket_message_bytes_max / 2 + 1, 'x'));
  EXPECT_EQ(hear(half + rest, From::server).error, CloseCode::too_big);
}

TEST(WebSocketClose, TellsItsCodeAndReason) {
  const Heard heard = hear(close_frame(CloseCode::going_away, "bye"), From::server);
  ASSERT_EQ(heard.messages.size(), 1U);
  EXPECT_EQ(heard.messages[0].opcode, Opcode::close);
  EXPECT_EQ(heard.messages[0].payload, bytes({0x03, 0xe9, 'b', 'y', 'e'}));
}

RC_GTEST_PROP(WebSocketReader, HearsTheSameHoweverTheBytesAreCut, ()) {
  const auto payloads = *rc::gen::container<std::vector<std::string>>(
      rc::gen::container<std::string>(rc::gen::inRange<char>(' ', '~')));
  std::string all;
  std::vector<Message> sent;
  for (const std::string& payload : payloads) {
    sent.push_back({.opcode = Opcode::text, .payload = payload});
    all += frame(Opcode::text, payload, some_mask);
  }
  FrameReader reader(From::client);
  std::vector<Message> heard;
  std::string_view rest = all;
  while (!rest.empty()) {
    const auto size = *rc::gen::inRange<std::size_t>(1, rest.size() + 1);
    for (const Message& message : hear(reader, rest.substr(0, size)).messages) {
      heard.push_back(message);
    }
    rest.remove_prefix(size);
  }
  RC_ASSERT(heard == sent);
}

}  // namespace
}  // namespace pawl::websocket
