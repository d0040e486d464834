// Goal: base64 is the published one, and nothing else reads as it.
// Method: the vectors of RFC 4648; random bytes there and back; texts that are almost right.
#include "base/base64.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace pawl {
namespace {

std::string base64_of(std::string_view bytes) {
  return to_base64({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

TEST(Base64, GivesThePublishedTexts) {
  EXPECT_EQ(base64_of(""), "");
  EXPECT_EQ(base64_of("f"), "Zg==");
  EXPECT_EQ(base64_of("fo"), "Zm8=");
  EXPECT_EQ(base64_of("foo"), "Zm9v");
  EXPECT_EQ(base64_of("foob"), "Zm9vYg==");
  EXPECT_EQ(base64_of("\xfb\xff\xbf"), "+/+/");
}

TEST(Base64, ReadsOneTextForEachSequenceOfBytes) {
  for (const char* text : {"Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Zm 9", "Zm9-",
                           "Z===", "=Zg=", "Zg==Zg==", "Zm9v\n"}) {
    EXPECT_FALSE(parse_base64(text)) << text;
  }
}

RC_GTEST_PROP(Base64, ReadsBackWhatItWrote, (const std::string& bytes)) {
  const auto read = parse_base64(base64_of(bytes));
  RC_ASSERT(read.has_value());
  RC_ASSERT(*read == bytes);
}

}  // namespace
}  // namespace pawl
