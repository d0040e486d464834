// Goal: what is encoded is what RFC 3986 asks for, and comes back the same.
// Method: examples, and a property over any bytes.
#include "base/percent.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace pawl {
namespace {

TEST(Percent, EncodesAllButUnreservedCharacters) {
  EXPECT_EQ(percent_encoded("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(percent_encoded("a b/c+d=é"), "a%20b%2Fc%2Bd%3D%C3%A9");
  EXPECT_EQ(percent_encoded("a/b c", "/"), "a/b%20c");
}

TEST(Percent, DecodesEitherCaseAndLeavesAPlusAlone) {
  EXPECT_EQ(percent_decoded("%2f%2F+"), "//+");
}

TEST(Percent, DecodesNothingThatIsCut) {
  for (const std::string_view text : {"%", "a%2", "%zz", "%-1"}) {
    EXPECT_EQ(percent_decoded(text), std::nullopt) << text;
  }
}

RC_GTEST_PROP(Percent, BringsBackWhatWasEncoded, (const std::string& text)) {
  RC_ASSERT(percent_decoded(percent_encoded(text)) == text);
}

}  // namespace
}  // namespace pawl
