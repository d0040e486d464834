#include "base/websocket_frame.h"

#include <algorithm>
#include <utility>

#include "base/base64.h"
#include "base/bounds.h"
#include "base/sha1.h"
#include "base/utf8.h"

namespace pawl::websocket {
namespace {

constexpr std::uint8_t last_bit = 0x80;
constexpr std::uint8_t reserved_bits = 0x70;
constexpr std::uint8_t opcode_bits = 0x0F;
constexpr std::uint8_t mask_bit = 0x80;
constexpr std::uint8_t length_bits = 0x7F;
constexpr std::uint8_t two_byte_length = 126;
constexpr std::uint8_t eight_byte_length = 127;
constexpr std::size_t control_bytes_max = 125;
constexpr std::size_t mask_bytes = 4;
// RFC 6455, section 1.3: what a server adds to the client's key.
constexpr std::string_view handshake_salt = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

bool is_control(Opcode opcode) {
  return static_cast<std::uint8_t>(opcode) >= static_cast<std::uint8_t>(Opcode::close);
}

bool is_known(std::uint8_t opcode) {
  return opcode <= static_cast<std::uint8_t>(Opcode::binary) ||
         (opcode >= static_cast<std::uint8_t>(Opcode::close) &&
          opcode <= static_cast<std::uint8_t>(Opcode::pong));
}

std::uint8_t byte_at(std::string_view bytes, std::size_t place) {
  return static_cast<std::uint8_t>(bytes[place]);
}

// Of a head, judged by as much of it as is there.
std::size_t head_size(std::string_view head) {
  if (head.size() < 2) return 2;
  const std::uint8_t length = byte_at(head, 1) & length_bits;
  const std::size_t more = length == two_byte_length ? 2 : length == eight_byte_length ? 8 : 0;
  return 2 + more + ((byte_at(head, 1) & mask_bit) != 0 ? mask_bytes : 0);
}

std::uint64_t number_of(std::string_view bytes) {
  std::uint64_t number = 0;
  for (const char c : bytes) number = number << 8 | static_cast<std::uint8_t>(c);
  return number;
}

void append_big_endian(std::string& out, std::uint64_t number, int bytes) {
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) {
    out.push_back(static_cast<char>(number >> shift));
  }
}

// Those that an application may send (RFC 6455, section 7.4).
bool may_close_with(std::uint64_t code) {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
         (code >= 3000 && code <= 4999);
}

std::optional<CloseCode> check_close(std::string_view payload) {
  if (payload.empty()) return std::nullopt;
  if (payload.size() == 1 || !may_close_with(number_of(payload.substr(0, 2)))) {
    return CloseCode::protocol_error;
  }
  if (!is_utf8(payload.substr(2))) return CloseCode::bad_text;
  return std::nullopt;
}

}  // namespace

// Takes what is missing of the head; true when it is whole.
bool FrameReader::take_head(std::string_view& bytes) {
  for (;;) {
    const std::size_t wanted = head_size(head_bytes_);
    if (head_bytes_.size() == wanted) return true;
    const std::size_t taken = std::min(wanted - head_bytes_.size(), bytes.size());
    if (taken == 0) return false;
    head_bytes_.append(bytes.substr(0, taken));
    bytes.remove_prefix(taken);
  }
}

std::optional<CloseCode> FrameReader::check(const Head& head) const {
  if (head.mask.has_value() != (from_ == From::client)) return CloseCode::protocol_error;
  if (is_control(head.opcode)) {
    const bool is_sound = head.is_last && head.payload_bytes <= control_bytes_max;
    return is_sound ? std::nullopt : std::optional(CloseCode::protocol_error);
  }
  if ((head.opcode == Opcode::continuation) != assembly_.has_value()) {
    return CloseCode::protocol_error;
  }
  const std::size_t before = assembly_ ? assembly_->payload.size() : 0;
  if (head.payload_bytes > bounds::websocket_message_bytes_max - before) return CloseCode::too_big;
  return std::nullopt;
}

std::expected<FrameReader::Head, CloseCode> FrameReader::read_head() const {
  const std::string_view bytes = head_bytes_;
  const std::uint8_t first = byte_at(bytes, 0);
  const std::uint8_t second = byte_at(bytes, 1);
  if ((first & reserved_bits) != 0 || !is_known(first & opcode_bits)) {
    return std::unexpected(CloseCode::protocol_error);
  }
  Head head{.is_last = (first & last_bit) != 0, .opcode = Opcode(first & opcode_bits)};
  const bool is_masked = (second & mask_bit) != 0;
  const std::string_view longer = bytes.substr(2, bytes.size() - 2 - (is_masked ? mask_bytes : 0));
  head.payload_bytes = longer.empty() ? second & length_bits : number_of(longer);
  // A length takes the shortest of its three forms.
  const std::uint64_t least = longer.empty() ? 0 : longer.size() == 2 ? two_byte_length : 0x10000;
  if (head.payload_bytes < least) return std::unexpected(CloseCode::protocol_error);
  if (is_masked) {
    Mask mask;
    std::copy_n(bytes.end() - mask_bytes, mask_bytes, mask.begin());
    head.mask = mask;
  }
  if (const auto wrong = check(head)) return std::unexpected(*wrong);
  return head;
}

std::expected<std::optional<Message>, CloseCode> FrameReader::end_of_frame() {
  const Head head = *std::exchange(head_, std::nullopt);
  head_bytes_.clear();
  if (is_control(head.opcode)) {
    Message message{.opcode = head.opcode, .payload = std::exchange(control_, {})};
    if (head.opcode == Opcode::close) {
      if (const auto wrong = check_close(message.payload)) return std::unexpected(*wrong);
    }
    return message;
  }
  if (!head.is_last) return std::nullopt;
  Message message = *std::exchange(assembly_, std::nullopt);
  if (message.opcode == Opcode::text && !is_utf8(message.payload)) {
    return std::unexpected(CloseCode::bad_text);
  }
  return message;
}

std::expected<std::optional<Message>, CloseCode> FrameReader::feed(std::string_view& bytes) {
  for (;;) {
    if (!head_) {
      if (!take_head(bytes)) return std::nullopt;
      auto head = read_head();
      if (!head) return std::unexpected(head.error());
      head_ = *head;
      if (!is_control(head->opcode) && !assembly_) assembly_ = Message{.opcode = head->opcode};
    }
    std::string& payload = is_control(head_->opcode) ? control_ : assembly_->payload;
    const auto taken = std::min<std::uint64_t>(head_->payload_bytes, bytes.size());
    for (const char c : bytes.substr(0, taken)) {
      const std::uint8_t key = head_->mask ? head_->mask->front() : 0;
      payload.push_back(static_cast<char>(static_cast<std::uint8_t>(c) ^ key));
      if (head_->mask)
        std::rotate(head_->mask->begin(), head_->mask->begin() + 1, head_->mask->end());
    }
    bytes.remove_prefix(taken);
    head_->payload_bytes -= taken;
    if (head_->payload_bytes > 0) return std::nullopt;
    auto message = end_of_frame();
    if (!message || *message) return message;
  }
}

std::string frame(Opcode opcode, std::string_view payload, std::optional<Mask> mask) {
  std::string out;
  out.reserve(payload.size() + 14);
  out.push_back(static_cast<char>(last_bit | static_cast<std::uint8_t>(opcode)));
  const std::uint8_t masked = mask ? mask_bit : 0;
  if (payload.size() < two_byte_length) {
    out.push_back(static_cast<char>(masked | payload.size()));
  } else if (payload.size() < 0x10000) {
    out.push_back(static_cast<char>(masked | two_byte_length));
    append_big_endian(out, payload.size(), 2);
  } else {
    out.push_back(static_cast<char>(masked | eight_byte_length));
    append_big_endian(out, payload.size(), 8);
  }
  if (!mask) return out.append(payload);
  out.append(mask->begin(), mask->end());
  for (std::size_t i = 0; i < payload.size(); ++i) {
    out.push_back(static_cast<char>(byte_at(payload, i) ^ (*mask)[i % mask_bytes]));
  }
  return out;
}

std::string close_frame(CloseCode code, std::string_view reason, std::optional<Mask> mask) {
  std::string payload;
  append_big_endian(payload, static_cast<std::uint64_t>(code), 2);
  payload.append(reason.substr(0, control_bytes_max - 2));
  return frame(Opcode::close, payload, mask);
}

std::string accept_of(std::string_view key) {
  std::string salted(key);
  salted.append(handshake_salt);
  return to_base64(sha1(salted));
}

}  // namespace pawl::websocket
