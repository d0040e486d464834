#include "base/sha1.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

namespace pawl {
namespace {

using State = std::array<std::uint32_t, 5>;

constexpr std::size_t block_bytes = 64;

void add_block(State& state, std::string_view block) {
  std::array<std::uint32_t, 80> words;
  for (std::size_t i = 0; i < 16; ++i) {
    words[i] = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      words[i] = words[i] << 8 | static_cast<unsigned char>(block[i * 4 + j]);
    }
  }
  for (std::size_t i = 16; i < 80; ++i) {
    words[i] = std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
  }
  auto [a, b, c, d, e] = state;
  for (std::size_t i = 0; i < 80; ++i) {
    const std::uint32_t mixed = i < 20   ? ((b & c) | (~b & d)) + 0x5a827999u
                                : i < 40 ? (b ^ c ^ d) + 0x6ed9eba1u
                                : i < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcu
                                         : (b ^ c ^ d) + 0xca62c1d6u;
    const std::uint32_t next = std::rotl(a, 5) + mixed + e + words[i];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d, state[4] + e};
}

}  // namespace

std::array<std::uint8_t, 20> sha1(std::string_view bytes) {
  // The message, a one bit, zeros, and its length in bits, in whole blocks.
  std::string padded(bytes);
  padded.push_back('\x80');
  while (padded.size() % block_bytes != block_bytes - 8) padded.push_back('\0');
  const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
  for (int shift = 56; shift >= 0; shift -= 8) padded.push_back(static_cast<char>(bits >> shift));

  State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  const std::string_view all = padded;
  for (std::size_t at = 0; at < all.size(); at += block_bytes) {
    add_block(state, all.substr(at, block_bytes));
  }
  std::array<std::uint8_t, 20> digest;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::uint8_t>(state[i / 4] >> (24 - i % 4 * 8));
  }
  return digest;
}

}  // namespace pawl
