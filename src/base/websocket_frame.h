// Frames of the WebSocket protocol (RFC 6455): bytes to messages, messages to bytes, and the answer
// to a handshake.
//
// Why:      OKX tells of orders over a WebSocket. This is all of the protocol that either side
//           needs for it, and it is pure, so a fuzzer can have it.
// Contract: pure. feed() takes bytes off the front of its input, gives the next whole message when
//           there is one, and asks for more bytes otherwise; the pieces of a message are put
//           together, and a ping between them comes at its place. However the bytes are cut, the
//           messages are the same. After an error nothing more is read: the connection is closed
//           with the code that it names.
// Bounds:   a message over bounds::websocket_message_bytes_max is too_big.
// Threads:  a reader belongs to one connection.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::websocket {

enum class Opcode : std::uint8_t {
  continuation = 0,
  text = 1,
  binary = 2,
  close = 8,
  ping = 9,
  pong = 10,
};

enum class CloseCode : std::uint16_t {
  normal = 1000,
  going_away = 1001,
  protocol_error = 1002,
  unsupported = 1003,
  bad_text = 1007,
  policy = 1008,
  too_big = 1009,
};

struct Message {
  Opcode opcode = Opcode::text;  // never a continuation
  std::string payload = {};
  bool operator==(const Message&) const = default;
};

using Mask = std::array<std::uint8_t, 4>;

// What a client sends is masked, what a server sends is not; either side must refuse the other.
enum class From : std::uint8_t { client, server };

class FrameReader {
 public:
  explicit FrameReader(From from) : from_(from) {}

  // Nothing: all of the bytes were taken, and more are needed.
  std::expected<std::optional<Message>, CloseCode> feed(std::string_view& bytes);

 private:
  struct Head {
    bool is_last = false;
    Opcode opcode = Opcode::text;
    std::uint64_t payload_bytes = 0;
    std::optional<Mask> mask = {};
  };

  bool take_head(std::string_view& bytes);
  std::optional<CloseCode> check(const Head& head) const;
  std::expected<Head, CloseCode> read_head() const;
  std::expected<std::optional<Message>, CloseCode> end_of_frame();

  From from_;
  std::string head_bytes_;  // of the frame that is under way
  std::optional<Head> head_;
  std::string control_;              // payload of a control frame
  std::optional<Message> assembly_;  // a message whose last piece has not come
};

// One frame with a whole message; with a mask when a client sends it.
std::string frame(Opcode opcode, std::string_view payload, std::optional<Mask> mask = {});
std::string close_frame(CloseCode code, std::string_view reason, std::optional<Mask> mask = {});

// Sec-WebSocket-Accept for a Sec-WebSocket-Key.
std::string accept_of(std::string_view key);

}  // namespace pawl::websocket
