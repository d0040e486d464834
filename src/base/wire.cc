#include "base/wire.h"

#include "base/assert.h"
#include "base/text.h"

namespace pawl {
namespace {

constexpr unsigned bits_a_byte = 7;     // of a varint
constexpr unsigned last_byte_at = 63;   // the tenth has but one bit left
constexpr std::uint8_t goes_on = 0x80;  // another byte follows
constexpr std::uint8_t its_bits = goes_on - 1;

template <class T>
void append_fixed(std::string& out, T value) {
  char bytes[sizeof(T)];
  for (char& byte : bytes) {
    byte = static_cast<char>(value & 0xFF);
    value >>= 8;
  }
  out.append(bytes, sizeof(bytes));
}

template <class T>
T fixed_of(std::string_view bytes) {
  T value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = static_cast<T>(value << 8 | static_cast<std::uint8_t>(bytes[i]));
  }
  return value;
}

}  // namespace

void ByteWriter::u8(std::uint8_t value) {
  out_.push_back(static_cast<char>(value));
}

void ByteWriter::varint(std::uint64_t value) {
  char bytes[10];
  std::size_t count = 0;
  for (; value >= goes_on; value >>= bits_a_byte) {
    bytes[count++] = static_cast<char>(value | goes_on);
  }
  bytes[count++] = static_cast<char>(value);
  out_.append(bytes, count);
}

void ByteWriter::zigzag(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  varint(bits << 1 ^ (value < 0 ? ~std::uint64_t{0} : 0));
}

void ByteWriter::fixed32(std::uint32_t value) {
  append_fixed(out_, value);
}

void ByteWriter::fixed64(std::uint64_t value) {
  append_fixed(out_, value);
}

void ByteWriter::bytes(std::string_view value) {
  varint(value.size());
  raw(value);
}

void ByteWriter::raw(std::string_view value) {
  out_.append(value);
}

void ByteReader::fail(std::string_view what, std::size_t at) {
  if (!good()) return;
  PAWL_ASSERT(at <= at_);
  at_ = at;
  error_.append(what).append(" at byte ");
  append_number(error_, at_);
  in_ = in_.substr(0, at_);  // nothing is left
}

std::string_view ByteReader::raw(std::size_t count) {
  if (count > left()) {
    fail("it ends too early");
    return {};
  }
  const std::string_view found = in_.substr(at_, count);
  at_ += count;
  return found;
}

std::uint8_t ByteReader::u8() {
  if (at_ == in_.size()) {
    fail("it ends too early");
    return 0;
  }
  return static_cast<std::uint8_t>(in_[at_++]);
}

std::uint64_t ByteReader::varint() {
  std::uint64_t value = 0;
  std::size_t at = at_;
  for (unsigned shift = 0;; shift += bits_a_byte) {
    if (at == in_.size()) {
      fail("a number ends too early");
      return 0;
    }
    const auto byte = static_cast<std::uint8_t>(in_[at++]);
    if (shift == last_byte_at && byte > 1) {
      fail("a number is larger than 64 bits");
      return 0;
    }
    value |= static_cast<std::uint64_t>(byte & its_bits) << shift;
    if ((byte & goes_on) != 0) continue;
    if (byte == 0 && shift > 0) {
      fail("a number has a superfluous byte");
      return 0;
    }
    at_ = at;
    return value;
  }
}

std::int64_t ByteReader::zigzag() {
  const std::uint64_t bits = varint();
  return static_cast<std::int64_t>(bits >> 1 ^ (0 - (bits & 1)));
}

std::uint32_t ByteReader::fixed32() {
  return fixed_of<std::uint32_t>(raw(sizeof(std::uint32_t)));
}

std::uint64_t ByteReader::fixed64() {
  return fixed_of<std::uint64_t>(raw(sizeof(std::uint64_t)));
}

std::string_view ByteReader::bytes(std::size_t most) {
  const std::size_t begin = at_;
  const std::uint64_t count = varint();
  if (count > most || count > left()) {
    fail(count > most ? "a text is longer than it may be" : "a text goes past the end", begin);
    return {};
  }
  return raw(count);
}

}  // namespace pawl
