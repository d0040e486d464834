// ByteWriter, ByteReader: numbers and texts as bytes, the same on every machine.
//
// Format:   u8; varint (seven bits a byte, the lowest first, at most ten bytes, no superfluous
//           ones); zigzag (signed, as varint); fixed32, fixed64 (lowest byte first); bytes (varint
//           length, then so many).
// Contract: a reader never goes past its end. The first mistake makes it fail for good: everything
//           read from then on is zero or empty, nothing is left, and error() says what was wrong
//           and where ("a text goes past the end at byte 12"). So one may read a whole record and
//           look once.
// Threads:  one at a time. The bytes outlive their reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace pawl {

class ByteWriter {
 public:
  void u8(std::uint8_t value);
  void varint(std::uint64_t value);
  void zigzag(std::int64_t value);
  void fixed32(std::uint32_t value);
  void fixed64(std::uint64_t value);
  void bytes(std::string_view value);  // with its length
  void raw(std::string_view value);    // without

  // So much is to come, about.
  void expect(std::size_t bytes) { out_.reserve(out_.size() + bytes); }
  std::size_t size() const { return out_.size(); }
  const std::string& text() const { return out_; }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view in) : in_(in) {}

  std::uint8_t u8();
  std::uint64_t varint();
  std::int64_t zigzag();
  std::uint32_t fixed32();
  std::uint64_t fixed64();
  // Into the bytes that were given. `most`: a longer one is a mistake.
  std::string_view bytes(std::size_t most);
  std::string_view raw(std::size_t count);

  std::size_t at() const { return at_; }
  std::size_t left() const { return in_.size() - at_; }
  bool good() const { return error_.empty(); }
  // The caller's own finding: at this byte, or at one that was read.
  void fail(std::string_view what) { fail(what, at_); }
  void fail(std::string_view what, std::size_t at);
  const std::string& error() const { return error_; }

 private:
  std::string_view in_;
  std::size_t at_ = 0;
  std::string error_;
};

}  // namespace pawl
