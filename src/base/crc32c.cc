#include "base/crc32c.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

namespace pawl {
namespace {

constexpr std::uint32_t polynomial = 0x82F6'3B78;  // its bits in reverse
constexpr std::size_t at_once = 8;

using Table = std::array<std::uint32_t, 256>;

// The first: what a byte does to the sum. The n-th: what it does when n more bytes follow; so eight
// bytes are looked up at once instead of one after the other.
constexpr std::array<Table, at_once> make_tables() {
  std::array<Table, at_once> tables = {};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum & 1) * polynomial;
    tables[0][byte] = sum;
  }
  for (std::size_t n = 1; n < at_once; ++n) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t sum = tables[n - 1][byte];
      tables[n][byte] = sum >> 8 ^ tables[0][sum & 0xFF];
    }
  }
  return tables;
}

constexpr std::array<Table, at_once> tables = make_tables();

}  // namespace

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) {
  static_assert(std::endian::native == std::endian::little);
  std::uint32_t sum = ~before;
  for (; bytes.size() >= at_once; bytes.remove_prefix(at_once)) {
    std::uint64_t eight;
    std::memcpy(&eight, bytes.data(), sizeof(eight));
    eight ^= sum;
    sum = 0;
    for (std::size_t i = 0; i < at_once; ++i) {
      sum ^= tables[at_once - 1 - i][eight >> (8 * i) & 0xFF];
    }
  }
  for (const char byte : bytes) {
    sum = sum >> 8 ^ tables[0][(sum ^ static_cast<std::uint8_t>(byte)) & 0xFF];
  }
  return ~sum;
}

}  // namespace pawl
