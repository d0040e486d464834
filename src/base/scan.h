// Looks for the first byte of a kind, sixteen at a time: most texts have none, and every record of
// the audit log is made of such texts.
//
// Contract: pure. A kind is a function object that says of several bytes which are of it:
//
//             template <class Bytes> Bytes operator()(const char* at) const;
//
//           with Bytes one of those below, taken with bytes_at() and compared with equal() and
//           below(). It may look at the byte before `at`, too, when `from` is not 0.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace pawl {

// As many bytes as are compared and combined at once. What compares them gives all bits of those
// for which it holds.
using OneByte = std::uint8_t;
typedef std::uint8_t FourBytes __attribute__((vector_size(4)));
typedef std::uint8_t EightBytes __attribute__((vector_size(8)));
typedef std::uint8_t SixteenBytes __attribute__((vector_size(16)));

template <class Bytes>
Bytes bytes_at(const char* at) {
  Bytes bytes;
  std::memcpy(&bytes, at, sizeof(bytes));
  return bytes;
}

template <class Bytes>
Bytes equal(Bytes bytes, char to) {
  const auto byte = static_cast<std::uint8_t>(to);
  if constexpr (std::same_as<Bytes, OneByte>) {
    return bytes == byte ? 0xFF : 0;
  } else {
    return std::bit_cast<Bytes>(bytes == Bytes{} + byte);
  }
}

template <class Bytes>
Bytes below(Bytes bytes, std::uint8_t bound) {
  if constexpr (std::same_as<Bytes, OneByte>) {
    return bytes < bound ? 0xFF : 0;
  } else {
    return std::bit_cast<Bytes>(bytes < Bytes{} + bound);
  }
}

// The first byte that is not 0, or how many there are.
template <class Bytes>
std::size_t first_of(Bytes found) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::size_t bits_a_byte = 8;
  using Word = std::conditional_t<sizeof(Bytes) < 8, std::uint32_t, std::uint64_t>;
  std::size_t before = 0;
  for (const auto word : std::bit_cast<std::array<Word, sizeof(Bytes) / sizeof(Word)>>(found)) {
    if (word != 0) return before + static_cast<std::size_t>(std::countr_zero(word)) / bits_a_byte;
    before += sizeof(word);
  }
  return before;
}

// The place of the first at or behind `from`, or the end.
template <class Kind>
std::size_t find_byte(std::string_view text, std::size_t from, const Kind& kind) {
  const std::size_t size = text.size();
  const std::size_t all = size - from;
  std::size_t at = from;
  // At `place`, and the end when there is none.
  const auto look = [&]<class Bytes>(Bytes, std::size_t place) {
    const std::size_t found = first_of(kind.template operator()<Bytes>(text.data() + place));
    return found < sizeof(Bytes) ? place + found : size;
  };
  for (; size - at >= 16; at += 16) {
    if (const std::size_t found = look(SixteenBytes(), at); found < size) return found;
  }
  // The last ones are looked at together with some that were seen, where there are so many.
  if (at == size) return size;
  if (all >= 16) return look(SixteenBytes(), size - 16);
  if (all >= 8) return std::min(look(EightBytes(), at), look(EightBytes(), size - 8));
  if (all >= 4) return std::min(look(FourBytes(), at), look(FourBytes(), size - 4));
  while (at < size && kind.template operator()<OneByte>(text.data() + at) == 0) ++at;
  return at;
}

// What a JSON string on one line cannot have as it is: all but blanks and visible ASCII, and '"'
// and '\'.
struct Escaped {
  template <class Bytes>
  Bytes operator()(const char* at) const {
    const auto bytes = bytes_at<Bytes>(at);
    return static_cast<Bytes>(below(bytes, 0x20) | ~below(bytes, 0x7F) | equal(bytes, '"') |
                              equal(bytes, '\\'));
  }
};

}  // namespace pawl
