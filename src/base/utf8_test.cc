// Goal: exactly the sequences of RFC 3629 are characters.
// Method: the first and last of each length, each kind of malformed bytes, and every code point
//         there and back.
#include "base/utf8.h"

#include <gtest/gtest.h>
#include <ostream>

namespace pawl {

bool operator==(const Utf8Character& a, const Utf8Character& b) {
  return a.code == b.code && a.bytes == b.bytes;
}
void PrintTo(const Utf8Character& c, std::ostream* out) {
  *out << static_cast<std::uint32_t>(c.code) << " in " << c.bytes;
}

namespace {

using namespace std::string_view_literals;

TEST(Utf8, ReadsTheFirstAndTheLastOfEachLength) {
  EXPECT_EQ(first_utf8_character("\0"sv), (Utf8Character{0, 1}));
  EXPECT_EQ(first_utf8_character("\x7F"), (Utf8Character{0x7F, 1}));
  EXPECT_EQ(first_utf8_character("\xC2\x80"), (Utf8Character{0x80, 2}));
  EXPECT_EQ(first_utf8_character("\xDF\xBF"), (Utf8Character{0x7FF, 2}));
  EXPECT_EQ(first_utf8_character("\xE0\xA0\x80"), (Utf8Character{0x800, 3}));
  EXPECT_EQ(first_utf8_character("\xED\x9F\xBF"), (Utf8Character{0xD7FF, 3}));
  EXPECT_EQ(first_utf8_character("\xEE\x80\x80"), (Utf8Character{0xE000, 3}));
  EXPECT_EQ(first_utf8_character("\xEF\xBF\xBF"), (Utf8Character{0xFFFF, 3}));
  EXPECT_EQ(first_utf8_character("\xF0\x90\x80\x80"), (Utf8Character{0x10000, 4}));
  EXPECT_EQ(first_utf8_character("\xF4\x8F\xBF\xBF"), (Utf8Character{0x10FFFF, 4}));
}

TEST(Utf8, RefusesWhatIsMalformed) {
  for (const std::string_view text : {
           ""sv,                                                 //
           "\x80"sv, "\xBF"sv,                                   // no lead
           "\xC0\x80"sv, "\xC1\xBF"sv, "\xE0\x9F\xBF"sv,         // overlong
           "\xF0\x8F\xBF\xBF"sv,                                 //
           "\xED\xA0\x80"sv, "\xED\xBF\xBF"sv,                   // surrogates
           "\xF4\x90\x80\x80"sv, "\xF5\x80\x80\x80"sv,           // past the end
           "\xFE"sv, "\xFF"sv,                                   //
           "\xC2"sv, "\xE2\x82"sv, "\xF0\x9F\x98"sv,             // cut short
           "\xC2\x41"sv, "\xE2\x82\x41"sv, "\xF0\x9F\x98\x41"sv  // followed by something else
       }) {
    EXPECT_EQ(first_utf8_character(text).bytes, 0u) << testing::PrintToString(text);
  }
}

TEST(Utf8, ReadsBackEveryCodePointItWrites) {
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    if (code == 0xD800) code = 0xE000;
    std::string text;
    append_utf8(text, code);
    const Utf8Character read = first_utf8_character(text);
    if (read.code != code || read.bytes != text.size()) {
      FAIL() << "wrote " << static_cast<std::uint32_t>(code) << ", read "
             << testing::PrintToString(read);
    }
  }
}

TEST(Utf8, WritesNoSurrogate) {
  std::string text;
  EXPECT_DEATH(append_utf8(text, 0xD800), "");
  EXPECT_DEATH(append_utf8(text, 0x110000), "");
}

TEST(Utf8, PutsASignInPlaceOfEveryByteThatIsNoCharacter) {
  EXPECT_EQ(well_formed(""), "");
  EXPECT_EQ(well_formed("a\0b é€😀"sv), "a\0b é€😀"sv);
  EXPECT_EQ(well_formed("caf\xE9"sv), "caf\uFFFD");
  EXPECT_EQ(well_formed("\xE2\x82 \xFF!"sv), "\uFFFD\uFFFD \uFFFD!");
}

TEST(Utf8, TellsWhatIsTextAllThrough) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("a\0b é€😀"sv));
  EXPECT_FALSE(is_utf8("é\xE2\x82"sv));
  EXPECT_FALSE(is_utf8("caf\xE9!"sv));
}

TEST(Utf8, TellsWhatCanBePrinted) {
  EXPECT_TRUE(is_printable(""));
  EXPECT_TRUE(is_printable(" a\u00a0é€😀"));
  for (const std::string_view text :
       {"\x1f"sv, "a\0"sv, "a\x7f"sv, "\u0080"sv, "\u009f"sv, "\xff"sv}) {
    EXPECT_FALSE(is_printable(text)) << text;
  }
}

}  // namespace
}  // namespace pawl
