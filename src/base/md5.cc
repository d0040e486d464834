#include "base/md5.h"

#include <bit>
#include <cstddef>
#include <string>

namespace pawl {
namespace {

using State = std::array<std::uint32_t, 4>;

constexpr std::size_t block_bytes = 64;

// The first 32 bits of |sin(i + 1)| behind its point.
constexpr std::array<std::uint32_t, 64> sines = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
constexpr std::array<std::array<int, 4>, 4> turns = {
    {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}}};

void add_block(State& state, std::string_view block) {
  std::array<std::uint32_t, 16> words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = 0;
    for (std::size_t j = 4; j-- > 0;) {
      words[i] = words[i] << 8 | static_cast<unsigned char>(block[i * 4 + j]);
    }
  }
  auto [a, b, c, d] = state;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::size_t round = i / 16;
    const std::uint32_t mixed = round == 0   ? (b & c) | (~b & d)
                                : round == 1 ? (d & b) | (~d & c)
                                : round == 2 ? b ^ c ^ d
                                             : c ^ (b | ~d);
    constexpr std::array<std::size_t, 4> steps = {1, 5, 3, 7};
    constexpr std::array<std::size_t, 4> starts = {0, 1, 5, 0};
    const std::uint32_t word = words[(steps[round] * i + starts[round]) % 16];
    const std::uint32_t turned = std::rotl(a + mixed + sines[i] + word, turns[round][i % 4]);
    a = d;
    d = c;
    c = b;
    b = b + turned;
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d};
}

}  // namespace

std::array<std::uint8_t, 16> md5(std::string_view bytes) {
  State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
  for (; bytes.size() >= block_bytes; bytes.remove_prefix(block_bytes)) {
    add_block(state, bytes.substr(0, block_bytes));
  }
  // The rest, a one bit, zeros, and the length in bits, in whole blocks.
  std::string padded(bytes);
  padded.push_back('\x80');
  while (padded.size() % block_bytes != block_bytes - 8) padded.push_back('\0');
  for (int shift = 0; shift < 64; shift += 8) padded.push_back(static_cast<char>(bits >> shift));
  const std::string_view rest = padded;
  for (std::size_t at = 0; at < rest.size(); at += block_bytes) {
    add_block(state, rest.substr(at, block_bytes));
  }
  std::array<std::uint8_t, 16> digest;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::uint8_t>(state[i / 4] >> (i % 4 * 8));
  }
  return digest;
}

}  // namespace pawl
