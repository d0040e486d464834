// A fast hash of bytes for tables in memory, 128 bits wide, so that tables need not keep the key.
//
// Contract: the same bytes and seed give the same hash on every machine; pinned by a test. Whoever
//           does not know the seed cannot choose keys that meet. Not for signatures: sha256.h.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace pawl {

struct Hash128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  auto operator<=>(const Hash128&) const = default;
};

namespace hash_detail {

__extension__ using Wide = unsigned __int128;

// Odd, with as many ones as zeros, spread irregularly.
inline constexpr std::uint64_t salt_a = 0x9e6c'63d0'876a'3f2b;
inline constexpr std::uint64_t salt_b = 0xd1b5'4a32'd192'ed03;
inline constexpr std::uint64_t salt_c = 0xa3b1'9535'4a39'b70d;

// Both halves of the product folded together: every bit of either side reaches every bit.
inline std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

template <class Word>
std::uint64_t word(const char* bytes) {
  Word value = 0;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

inline Hash128 finish(std::uint64_t a, std::uint64_t b, std::uint64_t length) {
  return {.high = fold(a ^ salt_b ^ length, b ^ salt_c),
          .low = fold(a ^ salt_c, b ^ salt_a ^ length)};
}

}  // namespace hash_detail

// In the header because a decision on a limit spends a good part of its time here.
inline Hash128 hash_of(std::string_view bytes, std::uint64_t seed) {
  using namespace hash_detail;
  std::uint64_t a = seed ^ salt_a;
  std::uint64_t b = seed ^ salt_b;
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left > 16; left -= 16, at += 16) {
    a = fold(a ^ word<std::uint64_t>(at), salt_b ^ word<std::uint64_t>(at + 8));
    b = fold(b ^ word<std::uint64_t>(at) ^ salt_c, a ^ word<std::uint64_t>(at + 8) ^ salt_a);
  }
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  if (left >= 8) {
    first = word<std::uint64_t>(at);
    second = word<std::uint64_t>(at + left - 8);  // overlaps the first: cheaper than a loop
  } else if (left >= 4) {
    first = word<std::uint32_t>(at);
    second = word<std::uint32_t>(at + left - 4);
  } else if (left > 0) {
    first = word<std::uint8_t>(at) | word<std::uint8_t>(at + left / 2) << 8;
    second = word<std::uint8_t>(at + left - 1);
  }
  a = fold(a ^ first, salt_c ^ second);
  b = fold(b ^ second ^ salt_a, a ^ first);
  return finish(a, b, bytes.size());
}

inline Hash128 hash_of(Hash128 number, std::uint64_t seed) {
  using namespace hash_detail;
  const std::uint64_t a = fold(seed ^ salt_a ^ number.high, salt_c ^ number.low);
  const std::uint64_t b = fold(seed ^ salt_b ^ number.low, a ^ number.high ^ salt_a);
  return finish(a, b, ~std::uint64_t{0});  // no string is that long
}

}  // namespace pawl
