// Pen: writes one piece behind the other into room that was made for all of them at once.
//
// Why:      a head of HTTP, or a record of the audit log, is put together from dozens of short
//           pieces. To ask a string for room each time costs more than the piece.
// Contract: who gives less room than is needed ends the program (PAWL_ASSERT).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "base/digits.h"

namespace pawl {

class Pen {
 public:
  Pen(char* begin, std::size_t bytes) : begin_(begin), at_(begin), end_(begin + bytes) {}

  std::size_t written() const { return static_cast<std::size_t>(at_ - begin_); }
  std::string_view text() const { return {begin_, written()}; }

  // As it is. Inlined, so that a literal is a few moves.
  [[gnu::always_inline]] Pen& put(std::string_view words) {
    PAWL_ASSERT(words.size() <= room());
    // Words that were never set point nowhere, where memcpy must not be sent.
    if (!words.empty()) std::memcpy(at_, words.data(), words.size());
    at_ += words.size();
    return *this;
  }
  Pen& number(std::int64_t number) {
    PAWL_ASSERT(digits_room <= room());
    at_ = put_digits(at_, number);
    return *this;
  }
  // In place of the last byte.
  void end_with(char mark) { at_[-1] = mark; }

 private:
  std::size_t room() const { return static_cast<std::size_t>(end_ - at_); }

  char* begin_;
  char* at_;
  char* end_;
};

// Behind what is there: what `write` does with a pen that has room for so many bytes.
template <class Write>
void append_with_pen(std::string& out, std::size_t bytes, const Write& write) {
  const std::size_t begin = out.size();
  out.resize_and_overwrite(begin + bytes, [&](char* text, std::size_t) {
    Pen pen(text + begin, bytes);
    write(pen);
    return begin + pen.written();
  });
}

}  // namespace pawl
