// Goal: what is made is gzip.
// Method: bytes pinned from RFC 1952 and a known checksum; the end-to-end tests unpack it with
// Python's own reader.
#include "emulator/core/gzip.h"

#include <gtest/gtest.h>

namespace pawl::emulator {
namespace {

using namespace std::string_literals;

TEST(Gzip, HasHeadBlockChecksumAndLength) {
  // The CRC-32 of "123456789" is cbf43926.
  EXPECT_EQ(gzipped("123456789"),
            "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
            "\x01\x09\x00\xf6\xff"
            "123456789"
            "\x26\x39\xf4\xcb\x09\x00\x00\x00"s);
}

TEST(Gzip, OfNothingIsOneEmptyBlock) {
  EXPECT_EQ(gzipped("").size(), 10U + 5U + 8U);
}

TEST(Gzip, ALongTextTakesSeveralBlocks) {
  const std::string text(65'535 + 1, 'x');
  EXPECT_EQ(gzipped(text).size(), 10U + 2 * 5U + text.size() + 8U);
}

}  // namespace
}  // namespace pawl::emulator
