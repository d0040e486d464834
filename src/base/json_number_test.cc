// Goal: the grammar of RFC 8259's numbers, and RFC 8785's way of writing them.
// Method: the number table of RFC 8785, appendix B; random doubles against printf, which finds the
//         fewest digits by trying every precision.
#include "base/json_number.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <gtest/gtest.h>
#include <limits>
#include <rapidcheck/gtest.h>

namespace pawl::json {
namespace {

TEST(JsonNumber, FollowsTheGrammar) {
  for (const char* text : {"0", "-0", "1", "-1", "10", "0.5", "-0.50", "1e5", "1E5", "1e+5",
                           "1e-05", "0e0", "1.5E-10", "123456789012345678901234567890"}) {
    EXPECT_TRUE(is_number(text)) << text;
  }
  for (const char* text : {"",     "-",  "+1", "01",  "-01",   "00",    ".5",       "1.",
                           "1.e5", "e5", "1e", "1e+", "1.5.5", "1e5e5", "1e5.5",    "--1",
                           "0x1",  "1 ", " 1", "1,5", "inf",   "nan",   "Infinity", "1f"}) {
    EXPECT_FALSE(is_number(text)) << text;
  }
}

TEST(JsonNumber, PrintsTheTableOfRfc8785) {
  struct Row {
    std::uint64_t bits;
    const char* text;
  };
  for (const Row& row : {
           Row{0x0000000000000000, "0"},
           Row{0x8000000000000000, "0"},
           Row{0x0000000000000001, "5e-324"},
           Row{0x8000000000000001, "-5e-324"},
           Row{0x7fefffffffffffff, "1.7976931348623157e+308"},
           Row{0xffefffffffffffff, "-1.7976931348623157e+308"},
           Row{0x4340000000000000, "9007199254740992"},
           Row{0xc340000000000000, "-9007199254740992"},
           Row{0x4430000000000000, "295147905179352830000"},
           Row{0x44b52d02c7e14af5, "9.999999999999997e+22"},
           Row{0x44b52d02c7e14af6, "1e+23"},
           Row{0x44b52d02c7e14af7, "1.0000000000000001e+23"},
           Row{0x444b1ae4d6e2ef4e, "999999999999999700000"},
           Row{0x444b1ae4d6e2ef4f, "999999999999999900000"},
           Row{0x444b1ae4d6e2ef50, "1e+21"},
           Row{0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
           Row{0x3eb0c6f7a0b5ed8d, "0.000001"},
           Row{0x41b3de4355555553, "333333333.3333332"},
           Row{0x41b3de4355555554, "333333333.33333325"},
           Row{0x41b3de4355555555, "333333333.3333333"},
           Row{0x41b3de4355555556, "333333333.3333334"},
           Row{0x41b3de4355555557, "333333333.33333343"},
           Row{0xbecbf647612f3696, "-0.0000033333333333333333"},
           Row{0x43143ff3c1cb0959, "1424953923781206.2"},
       }) {
    EXPECT_EQ(shortest(std::bit_cast<double>(row.bits)), row.text);
    EXPECT_EQ(canonical_number(row.text).value(), row.text);
  }
}

TEST(JsonNumber, PrintsOnlyWhatIsFinite) {
  EXPECT_DEATH(shortest(std::numeric_limits<double>::infinity()), "");
  EXPECT_DEATH(shortest(std::numeric_limits<double>::quiet_NaN()), "");
}

TEST(JsonNumber, HasOneCanonicalForm) {
  for (const char* text : {"100", "1e2", "1E+2", "100.0", "0.1e3", "1000e-1"}) {
    EXPECT_EQ(canonical_number(text).value(), "100") << text;
  }
  EXPECT_EQ(canonical_number("-0.0").value(), "0");
  EXPECT_EQ(canonical_number("0e999").value(), "0");
  EXPECT_EQ(canonical_number("1.10").value(), "1.1");
}

TEST(JsonNumber, HasNoCanonicalFormOutsideTheRangeOfADouble) {
  for (const char* text : {"1e309", "-1e309", "1e-400", "-1e-400", "1e99999999999999999999"}) {
    const auto canonical = canonical_number(text);
    ASSERT_FALSE(canonical.has_value()) << text;
    EXPECT_EQ(canonical.error().message, std::string("the number ") + text +
                                             " is outside the range of a double; write it as a "
                                             "string");
  }
  for (const char* text : {"", "inf", "nan", "0x10", "1.", "abc"}) {
    EXPECT_FALSE(canonical_number(text).has_value()) << text;
  }
}

// The significant digits of a printed number, without zeros at either end.
std::string digits_of(std::string_view text) {
  std::string digits;
  for (const char c : text.substr(0, text.find('e'))) {
    if (c >= '0' && c <= '9') digits.push_back(c);
  }
  const auto first = digits.find_first_not_of('0');
  return digits.substr(first, digits.find_last_not_of('0') - first + 1);
}

RC_GTEST_PROP(JsonNumber, HasTheFewestDigitsThatReadBack, (std::uint64_t bits)) {
  const auto value = std::bit_cast<double>(bits);
  // Below a power of two the neighbours are closer than above, where printf may need a digit more.
  RC_PRE(std::isfinite(value) && (bits & 0xFFFFFFFFFFFFF) != 0);
  const std::string text = shortest(value);
  RC_ASSERT(is_number(text));
  double back = 0;
  std::from_chars(text.data(), text.data() + text.size(), back);
  RC_ASSERT(back == value);
  for (int precision = 0;; ++precision) {
    char tried[64];
    std::snprintf(tried, sizeof(tried), "%.*e", precision, value);
    double read = 0;
    std::from_chars(tried, tried + std::char_traits<char>::length(tried), read);
    if (read != value) continue;
    RC_ASSERT(digits_of(text) == digits_of(tried));
    break;
  }
}

}  // namespace
}  // namespace pawl::json
