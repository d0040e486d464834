#include "emulator/core/gzip.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace pawl::emulator {
namespace {

constexpr std::size_t block_max = 65'535;  // RFC 1951: of a stored block

std::uint32_t crc32(std::string_view text) {
  std::uint32_t crc = ~0U;
  for (const char c : text) {
    crc ^= static_cast<std::uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0xedb8'8320U : 0U);
  }
  return ~crc;
}

// The lowest byte first.
void append(std::string& out, std::uint32_t number, int bytes) {
  for (; bytes > 0; --bytes, number >>= 8) out.push_back(static_cast<char>(number & 0xff));
}

}  // namespace

std::string gzipped(std::string_view text) {
  // Magic, deflate, no flags, no time, no hint, system unknown.
  std::string out("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff", 10);
  const std::uint32_t crc = crc32(text);
  const auto whole = static_cast<std::uint32_t>(text.size());
  do {
    const std::string_view block = text.substr(0, block_max);
    text.remove_prefix(block.size());
    const auto length = static_cast<std::uint32_t>(block.size());
    out.push_back(text.empty() ? '\x01' : '\x00');  // the last one?
    append(out, length, 2);
    append(out, ~length & 0xffff, 2);
    out += block;
  } while (!text.empty());
  append(out, crc, 4);
  append(out, whole, 4);
  return out;
}

}  // namespace pawl::emulator
