// Goal: the code is the published one, for keys of every length.
// Method: the test cases of RFC 4231, and two keys around the length of a block.
#include "base/hmac.h"

#include <gtest/gtest.h>
#include <string>

namespace pawl {
namespace {

std::string hex_of(std::string_view key, std::string_view message) {
  return to_hex(hmac_sha256(key, message));
}

TEST(Hmac, GivesThePublishedCodes) {
  EXPECT_EQ(hex_of(std::string(20, '\x0b'), "Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hex_of("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hex_of(std::string(20, '\xaa'), std::string(50, '\xdd')),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  EXPECT_EQ(
      hex_of(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First"),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Hmac, HashesOnlyKeysThatAreLongerThanABlock) {
  const std::string block(64, 'k');
  const Digest hashed = sha256(block);
  EXPECT_NE(hex_of(block, "m"),
            hex_of({reinterpret_cast<const char*>(hashed.data()), hashed.size()}, "m"));
  EXPECT_EQ(hex_of("short", "m"), hex_of(std::string("short") + std::string(59, '\0'), "m"));
}

}  // namespace
}  // namespace pawl
