// Goal: the checksum is the published one, and sees what it must see.
// Method: published values; random texts bit by bit as the definition has it, in pieces, damaged.
#include "base/crc32c.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace pawl {
namespace {

// The definition: a division of polynomials, one bit after the other.
std::uint32_t slow_crc32c(std::string_view bytes) {
  std::uint32_t sum = 0xFFFF'FFFF;
  for (const char byte : bytes) {
    sum ^= static_cast<std::uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) sum = (sum & 1) != 0 ? sum >> 1 ^ 0x82F6'3B78 : sum >> 1;
  }
  return ~sum;
}

std::string counted(int from, int step) {
  std::string bytes;
  for (int i = 0; i < 32; ++i) bytes.push_back(static_cast<char>(from + i * step));
  return bytes;
}

// RFC 3720, B.4; the first is the check value that catalogues of such sums give.
TEST(Crc32c, GivesThePublishedValues) {
  EXPECT_EQ(crc32c("123456789"), 0xE306'9283);
  EXPECT_EQ(crc32c(""), 0U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A91'36AA);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62A8'AB43);
  EXPECT_EQ(crc32c(counted(0, 1)), 0x46DD'794E);
  EXPECT_EQ(crc32c(counted(31, -1)), 0x113F'DB5C);
}

RC_GTEST_PROP(Crc32c, IsWhatTheDefinitionSaysInPiecesToo, (const std::string& bytes)) {
  RC_ASSERT(crc32c(bytes) == slow_crc32c(bytes));
  const std::string_view all = bytes;
  const auto cut = *rc::gen::inRange(std::size_t{0}, bytes.size() + 1);
  RC_ASSERT(crc32c(all.substr(cut), crc32c(all.substr(0, cut))) == crc32c(bytes));
}

RC_GTEST_PROP(Crc32c, NoticesDamageOfAFewBytes, (std::string bytes, std::uint32_t damage)) {
  bytes += "....";
  RC_PRE(damage != 0U);
  const std::uint32_t before = crc32c(bytes);
  const auto place = *rc::gen::inRange(std::size_t{0}, bytes.size() - 3);
  for (std::size_t i = 0; i < 4; ++i) {
    bytes[place + i] = static_cast<char>(bytes[place + i] ^ static_cast<char>(damage >> (8 * i)));
  }
  RC_ASSERT(crc32c(bytes) != before);
}

}  // namespace
}  // namespace pawl
