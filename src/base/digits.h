// The decimal digits of a number, eight at a time: records of the audit log are full of moments in
// nanoseconds, and to_chars() takes two digits after the other.
//
// Contract: pure. Writes what std::to_chars() does; there must be room for digits_room bytes,
//           whatever the number.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pawl {

inline constexpr std::size_t digits_room = 24;

// Of a number below 100,000,000, a byte each, the first digit in the lowest; as values, not as
// characters.
constexpr std::uint64_t eight_digits(std::uint64_t number) {
  // Two numbers of four digits side by side, four of two, eight of one. The factors divide by 100
  // and by 10 what is that small.
  const std::uint64_t fours = number / 10'000 | (number % 10'000) << 32;
  const std::uint64_t hundreds = (fours * 10'486 >> 20) & 0x0000'007F'0000'007F;
  const std::uint64_t twos = hundreds | (fours - 100 * hundreds) << 16;
  const std::uint64_t tens = (twos * 103 >> 10) & 0x000F'000F'000F'000F;
  return tens | (twos - 10 * tens) << 8;
}

// Gives the end of what was written.
inline char* put_digits(char* to, std::uint64_t number) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::uint64_t characters = 0x3030'3030'3030'3030;
  constexpr std::uint64_t eight = 100'000'000;
  if (number >= eight) {
    to = put_digits(to, number / eight);
    const std::uint64_t digits = eight_digits(number % eight) | characters;
    std::memcpy(to, &digits, sizeof(digits));
    return to + sizeof(digits);
  }
  // Without the zeros in front; the last digit stays, be it one.
  const std::uint64_t digits = eight_digits(number);
  const auto zeros = static_cast<unsigned>(std::countr_zero(digits | std::uint64_t{1} << 56)) / 8;
  const std::uint64_t shown = (digits | characters) >> (8 * zeros);
  std::memcpy(to, &shown, sizeof(shown));
  return to + (sizeof(shown) - zeros);
}

inline char* put_digits(char* to, std::int64_t number) {
  const auto bits = static_cast<std::uint64_t>(number);
  if (number >= 0) return put_digits(to, bits);
  *to = '-';
  return put_digits(to + 1, 0 - bits);
}

}  // namespace pawl
