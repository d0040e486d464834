// Goal: SHA-256 is the published function, however its input is cut, and hexadecimal reads back.
// Method: the NIST example vectors; random messages hashed whole and in random pieces.
#include "base/sha256.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace pawl {
namespace {

std::string hex_of(std::string_view bytes) {
  return to_hex(sha256(bytes));
}

TEST(Sha256, GivesThePublishedDigests) {
  EXPECT_EQ(hex_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex_of("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                   "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(hex_of(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// 55, 56, 63 and 64 bytes are where the padding changes its shape.
TEST(Sha256, DoesNotDependOnHowTheMessageIsCut) {
  for (std::size_t length = 0; length <= 200; ++length) {
    const std::string message(length, 'x');
    for (std::size_t piece = 1; piece <= 130; piece += 43) {
      Sha256 hash;
      for (std::size_t at = 0; at < length; at += piece) {
        hash.update(std::string_view(message).substr(at, piece));
      }
      ASSERT_EQ(hash.finish(), sha256(message)) << length << " bytes in pieces of " << piece;
    }
  }
}

RC_GTEST_PROP(Sha256, OfRandomPiecesIsThatOfTheWhole, (const std::vector<std::string>& pieces)) {
  Sha256 hash;
  std::string whole;
  for (const std::string& piece : pieces) {
    hash.update(piece);
    whole += piece;
  }
  RC_ASSERT(hash.finish() == sha256(whole));
}

TEST(Sha256, MayBeFinishedOnce) {
  Sha256 hash;
  (void)hash.finish();
  EXPECT_DEATH((void)hash.finish(), "");
  EXPECT_DEATH(hash.update("more"), "");
}

TEST(Digest, ReadsEitherCase) {
  const std::string lower = hex_of("abc");
  std::string upper = lower;
  for (char& c : upper) c = static_cast<char>(std::toupper(c));
  EXPECT_EQ(parse_digest(lower).value(), sha256("abc"));
  EXPECT_EQ(parse_digest(upper).value(), sha256("abc"));
}

TEST(Digest, RefusesWhatIsNot64HexadecimalDigits) {
  const std::string good = hex_of("abc");
  EXPECT_EQ(parse_digest("").error().message,
            "a SHA-256 digest is 64 hexadecimal digits, not 0 characters");
  EXPECT_FALSE(parse_digest(good.substr(1)).has_value());
  EXPECT_FALSE(parse_digest(good + "0").has_value());
  for (const std::size_t at : {0u, 1u, 62u, 63u}) {
    for (const char bad : {'g', 'G', '/', ':', '@', '`', ' ', '\0'}) {
      std::string text = good;
      text[at] = bad;
      const auto parsed = parse_digest(text);
      ASSERT_FALSE(parsed.has_value()) << text;
      EXPECT_EQ(parsed.error().message, "a SHA-256 digest is 64 hexadecimal digits; character " +
                                            std::to_string(at + 1) + " is none");
    }
  }
}

TEST(EqualInConstantTime, SeesADifferenceInEveryPlaceAndInLength) {
  const std::string secret = "correct horse battery staple";
  EXPECT_TRUE(equal_in_constant_time(secret, std::string(secret)));
  EXPECT_TRUE(equal_in_constant_time("", ""));
  EXPECT_FALSE(equal_in_constant_time(secret, secret + "x"));
  EXPECT_FALSE(equal_in_constant_time(secret, ""));
  for (std::size_t i = 0; i < secret.size(); ++i) {
    for (const int bit : {0x01, 0x80}) {
      std::string other = secret;
      other[i] = static_cast<char>(other[i] ^ bit);
      EXPECT_FALSE(equal_in_constant_time(secret, other)) << i;
    }
  }
}

}  // namespace
}  // namespace pawl
