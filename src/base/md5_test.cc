// Goal: MD5 is that of RFC 1321.
// Method: its published vectors, and lengths around the end of a block.
#include "base/md5.h"

#include <gtest/gtest.h>
#include <string>

#include "base/sha256.h"

namespace pawl {
namespace {

std::string hex_of(std::string_view text) {
  return to_hex(md5(text));
}

TEST(Md5, GivesThePublishedDigests) {
  EXPECT_EQ(hex_of(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(hex_of("a"), "0cc175b9c0f1b6a831c399e269772661");
  EXPECT_EQ(hex_of("abc"), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(hex_of("message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
  EXPECT_EQ(hex_of("abcdefghijklmnopqrstuvwxyz"), "c3fcd3d76192e4007dfb496cca67e13b");
  EXPECT_EQ(hex_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"),
            "d174ab98d277d9f5a5611c2c9f419d9f");
  EXPECT_EQ(hex_of("1234567890123456789012345678901234567890123456789012345678901234567890123456789"
                   "0"),
            "57edf4a22be3c955ac49da2e2107b67a");
}

TEST(Md5, KnowsLengthsAroundTheEndOfABlock) {
  // As md5sum prints them.
  EXPECT_EQ(hex_of(std::string(55, 'x')), "04364420e25c512fd958a70738aa8f72");
  EXPECT_EQ(hex_of(std::string(56, 'x')), "668a72d5ba17f08e62dabcafad6db14b");
  EXPECT_EQ(hex_of(std::string(64, 'x')), "c1bb4f81d892b2d57947682aeb252456");
}

}  // namespace
}  // namespace pawl
