// Goal: decimal arithmetic is exact, keeps what was written, and fails exactly where an answer has
// no room. Method: pinned examples; then random numbers of every length against sums and products
// worked out
//         digit by digit on strings, as one does on paper.
#include "base/decimal.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/bounds.h"

namespace pawl {
namespace {

Decimal decimal(std::string_view text) {
  return parse_decimal(text).value();
}

// --- The second method: a sign, and digits with `places` of them after the point. ---

struct Paper {
  bool negative = false;
  std::string digits;  // highest first; no length limit
};

constexpr std::size_t places = 36;  // two fractions of 18 multiply into these

void drop_leading_zeros(std::string& digits) {
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
}

int compare_digits(std::string a, std::string b) {
  drop_leading_zeros(a);
  drop_leading_zeros(b);
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}

std::string add_digits(std::string a, std::string b) {
  const std::size_t width = std::max(a.size(), b.size()) + 1;
  a.insert(0, width - a.size(), '0');
  b.insert(0, width - b.size(), '0');
  int carry = 0;
  for (std::size_t i = width; i-- > 0;) {
    const int sum = (a[i] - '0') + (b[i] - '0') + carry;
    a[i] = static_cast<char>('0' + sum % 10);
    carry = sum / 10;
  }
  return a;
}

// a ≥ b
std::string subtract_digits(std::string a, std::string b) {
  drop_leading_zeros(b);
  b.insert(0, a.size() - b.size(), '0');
  int borrow = 0;
  for (std::size_t i = a.size(); i-- > 0;) {
    const int difference = a[i] - b[i] - borrow;
    borrow = difference < 0 ? 1 : 0;
    a[i] = static_cast<char>('0' + difference + 10 * borrow);
  }
  return a;
}

std::string multiply_digits(const std::string& a, const std::string& b) {
  std::string product;
  for (const char digit : b) {
    product.push_back('0');
    for (int times = digit - '0'; times > 0; --times) product = add_digits(product, a);
  }
  return product;
}

std::string remainder_digits(const std::string& a, const std::string& divisor) {
  std::string left;
  for (const char digit : a) {
    left.push_back(digit);
    while (compare_digits(left, divisor) >= 0) left = subtract_digits(left, divisor);
    drop_leading_zeros(left);
  }
  return left;
}

Paper on_paper(std::string text) {
  Paper paper;
  paper.negative = text.starts_with('-');
  if (paper.negative) text.erase(0, 1);
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string fraction = point < text.size() ? text.substr(point + 1) : "";
  paper.digits = text.substr(0, point) + fraction + std::string(places - fraction.size(), '0');
  return paper;
}

Paper add_on_paper(const Paper& a, const Paper& b) {
  if (a.negative == b.negative) return {a.negative, add_digits(a.digits, b.digits)};
  return compare_digits(a.digits, b.digits) >= 0
             ? Paper{a.negative, subtract_digits(a.digits, b.digits)}
             : Paper{b.negative, subtract_digits(b.digits, a.digits)};
}

int compare_on_paper(const Paper& a, const Paper& b) {
  const Paper difference = add_on_paper(a, {!b.negative, b.digits});
  if (compare_digits(difference.digits, "0") == 0) return 0;
  return difference.negative ? -1 : 1;
}

// Whether the number has room in a Decimal: enough zeros at its end, and few enough digits before.
bool fits_a_decimal(const Paper& number) {
  std::string digits = number.digits;
  drop_leading_zeros(digits);
  std::size_t scale = places;
  while (scale > 0 && !digits.empty() && digits.back() == '0') {
    digits.pop_back();
    --scale;
  }
  return digits.empty() ||
         (digits.size() <= bounds::decimal_digits_max && scale <= bounds::decimal_scale_max);
}

bool same(const Decimal& number, const Paper& paper) {
  return compare_on_paper(on_paper(to_string(number)), paper) == 0;
}

// --- Random numbers, as text: any length, with a liking for zeros and nines. ---

std::string any_digits(int count_max) {
  const auto count = *rc::gen::inRange<std::size_t>(1, static_cast<std::size_t>(count_max) + 1);
  return *rc::gen::container<std::string>(
      count,
      rc::gen::weightedOneOf<char>(
          {{2, rc::gen::just('0')}, {2, rc::gen::just('9')}, {3, rc::gen::inRange('0', ':')}}));
}

std::string any_decimal(int digits_max = bounds::decimal_digits_max) {
  std::string whole = any_digits(digits_max);
  drop_leading_zeros(whole);
  if (whole.empty()) whole = "0";
  const int room = std::min(digits_max - (whole == "0" ? 0 : static_cast<int>(whole.size())),
                            bounds::decimal_scale_max);
  std::string text = *rc::gen::element<std::string>("", "-") + whole;
  if (room > 0 && *rc::gen::arbitrary<bool>()) text += "." + any_digits(room);
  return text;
}

// --- What must hold. ---

TEST(Decimal, KeepsWhatWasWritten) {
  for (const char* text :
       {"0", "0.00", "1", "-1", "10", "1.10", "-0.5", "0.000000000000000001", "12345.678900",
        "9999999999999999999999999999999999", "-9999999999999999.999999999999999999"}) {
    EXPECT_EQ(to_string(decimal(text)), text);
  }
  EXPECT_EQ(to_string(Decimal()), "0");
  EXPECT_EQ(to_string(decimal("-0.00")), "0.00");
}

TEST(Decimal, RefusesWhatIsNotOne) {
  struct Row {
    std::string_view text;
    std::string_view why;
  };
  const std::string_view form = "write it as in 12.50 or -3";
  for (const Row& row : {
           Row{"", form},
           Row{"-", form},
           Row{".", form},
           Row{"-.", form},
           Row{".5", form},
           Row{"-.5", form},
           Row{"5.", form},
           Row{"+5", form},
           Row{"--5", form},
           Row{"1.2.3", form},
           Row{"1e5", form},
           Row{"1,000", form},
           Row{"1_000", form},
           Row{" 1", form},
           Row{"1 ", form},
           Row{"0x1", form},
           Row{"NaN", form},
           Row{"inf", form},
           Row{"1.-5", form},
           Row{"\xD9\xA1", form},  // a digit, but of another script
           Row{"00", "it begins with a needless zero"},
           Row{"01", "it begins with a needless zero"},
           Row{"-00.5", "it begins with a needless zero"},
           Row{"1.0000000000000000000", "it has more than 18 digits after the point"},
           Row{"0.0000000000000000001", "it has more than 18 digits after the point"},
           Row{"10000000000000000000000000000000000", "it has more than 34 digits"},
           Row{"99999999999999999.999999999999999999", "it has more than 34 digits"},
       }) {
    const auto parsed = parse_decimal(row.text);
    ASSERT_FALSE(parsed.has_value()) << row.text;
    EXPECT_EQ(parsed.error().code, Code::invalid);
    EXPECT_EQ(parsed.error().message,
              "'" + std::string(row.text) + "' is not a decimal number: " + std::string(row.why));
  }
}

TEST(Decimal, ComparesByValue) {
  EXPECT_EQ(decimal("1.10"), decimal("1.1"));
  EXPECT_EQ(decimal("-0"), decimal("0.000"));
  EXPECT_LT(decimal("-1.5"), decimal("-1.2"));
  EXPECT_LT(decimal("-0.5"), decimal("0.5"));
  EXPECT_GT(decimal("9999999999999999999999999999999999"), decimal("0.000000000000000001"));
}

TEST(Decimal, AddsAndMultipliesWithoutRounding) {
  EXPECT_EQ(to_string(add(decimal("0.1"), decimal("0.2")).value()), "0.3");
  EXPECT_EQ(to_string(add(decimal("1.10"), decimal("1")).value()), "2.10");
  EXPECT_EQ(to_string(subtract(decimal("1"), decimal("0.001")).value()), "0.999");
  EXPECT_EQ(to_string(multiply(decimal("50000.10"), decimal("-0.100")).value()), "-5000.01000");
  EXPECT_EQ(to_string(multiply(decimal("0"), decimal("-3.5")).value()), "0.0");
}

TEST(Decimal, GivesUpZerosRatherThanFail) {
  const Decimal great = decimal("9999999999999999999999999999999998");
  for (const char* one : {"1.00", "1.000000000000000000"}) {
    EXPECT_EQ(to_string(add(great, decimal(one)).value()), "9999999999999999999999999999999999");
  }
  EXPECT_EQ(to_string(add(decimal("99999999999999999999999999999999.95"), decimal("0.05")).value()),
            "100000000000000000000000000000000.0");
  EXPECT_EQ(to_string(multiply(decimal("1.100000000000000000"), decimal("2.0")).value()),
            "2.200000000000000000");
}

TEST(Decimal, FailsRatherThanRound) {
  EXPECT_EQ(
      add(decimal("9999999999999999999999999999999999"), decimal("0.5")).error().message,
      "9999999999999999999999999999999999 + 0.5 has more than 34 digits, or more than 18 after "
      "the point");
  EXPECT_FALSE(add(decimal("9999999999999999999999999999999999"), decimal("1")).has_value());
  EXPECT_FALSE(multiply(decimal("0.000000000000000001"), decimal("0.1")).has_value());
  EXPECT_FALSE(multiply(decimal("100000000000000000"), decimal("100000000000000000")).has_value());
  // Only the carry between the halves makes this one too long.
  EXPECT_FALSE(multiply(decimal("100000000000000010"), decimal("99999999999999999")).has_value());
}

TEST(Decimal, KnowsItsSteps) {
  EXPECT_TRUE(decimal("0.3").is_multiple_of(decimal("0.1")));
  EXPECT_TRUE(decimal("-0.30").is_multiple_of(decimal("0.1")));
  EXPECT_FALSE(decimal("0.35").is_multiple_of(decimal("0.1")));
  EXPECT_TRUE(decimal("0").is_multiple_of(decimal("0.1")));
  EXPECT_TRUE(decimal("5").is_multiple_of(decimal("-2.5")));
  EXPECT_FALSE(decimal("5").is_multiple_of(decimal("0")));
  EXPECT_TRUE(decimal("0.00").is_multiple_of(decimal("0")));
  EXPECT_FALSE(decimal("0.000000000000000001")
                   .is_multiple_of(decimal("9999999999999999999999999999999999")));
}

TEST(Decimal, RoundsDownToAStep) {
  const auto down = [](std::string_view number, std::string_view step) {
    return to_string(decimal(number).round_down_to(decimal(step)).value());
  };
  EXPECT_EQ(down("1.2345", "0.10"), "1.20");
  EXPECT_EQ(down("5", "0.01"), "5.00");
  EXPECT_EQ(down("0.09", "0.1"), "0.0");
  EXPECT_EQ(down("-1.25", "0.1"), "-1.3");
  EXPECT_EQ(down("-0.5", "1000000000000000000000000000000000"),
            "-1000000000000000000000000000000000");
  EXPECT_EQ(down("9999999999999999999999999999999999", "0.01"),
            "9999999999999999999999999999999999");
  for (const char* step : {"0", "0.0", "-0.1"}) {
    EXPECT_EQ(decimal("1").round_down_to(decimal(step)).error().message,
              "cannot round to steps of " + std::string(step) + "; a step is greater than zero");
  }
}

RC_GTEST_PROP(Decimal, EveryDecimalPrintsAsItWasWritten, ()) {
  const std::string text = any_decimal();
  const bool minus_zero =
      text.starts_with('-') && text.find_first_not_of("-.0") == std::string::npos;
  RC_ASSERT(to_string(decimal(text)) == (minus_zero ? text.substr(1) : text));
}

RC_GTEST_PROP(Decimal, ComparesAsOnPaper, ()) {
  const std::string a = any_decimal();
  const std::string b = *rc::gen::arbitrary<bool>() ? any_decimal() : any_decimal(3);
  const int on_it = compare_on_paper(on_paper(a), on_paper(b));
  RC_ASSERT((decimal(a) < decimal(b)) == (on_it < 0));
  RC_ASSERT((decimal(a) == decimal(b)) == (on_it == 0));
}

RC_GTEST_PROP(Decimal, AddsAndSubtractsAsOnPaper, ()) {
  const std::string a = any_decimal();
  const std::string b = any_decimal();
  const Paper right = on_paper(b);
  const auto check = [&](const Result<Decimal>& result, const Paper& expected) {
    RC_ASSERT(result.has_value() == fits_a_decimal(expected));
    if (result) RC_ASSERT(same(*result, expected));
  };
  check(add(decimal(a), decimal(b)), add_on_paper(on_paper(a), right));
  check(subtract(decimal(a), decimal(b)),
        add_on_paper(on_paper(a), {!right.negative, right.digits}));
}

RC_GTEST_PROP(Decimal, MultipliesAsOnPaper, ()) {
  const std::string a = any_decimal(*rc::gen::inRange(1, bounds::decimal_digits_max + 1));
  const std::string b = any_decimal(*rc::gen::inRange(1, bounds::decimal_digits_max + 1));
  const Paper left = on_paper(a);
  const Paper right = on_paper(b);
  std::string digits = multiply_digits(left.digits, right.digits);
  const std::string beyond = digits.substr(digits.size() - places);
  digits.resize(digits.size() - places);
  RC_ASSERT(beyond.find_first_not_of('0') == std::string::npos);
  const Paper product = {left.negative != right.negative, digits};

  const auto result = multiply(decimal(a), decimal(b));
  RC_ASSERT(result.has_value() == fits_a_decimal(product));
  if (result) RC_ASSERT(same(*result, product));
}

RC_GTEST_PROP(Decimal, RoundsDownAsOnPaper, ()) {
  // Below 16 digits every answer has room.
  const bool short_ones = *rc::gen::arbitrary<bool>();
  const std::string a = any_decimal(short_ones ? 15 : bounds::decimal_digits_max);
  const std::string step = any_decimal(short_ones ? 15 : bounds::decimal_digits_max);
  RC_PRE(decimal(step) > Decimal());
  const Paper number = on_paper(a);
  const std::string left = remainder_digits(number.digits, on_paper(step).digits);
  RC_ASSERT(decimal(a).is_multiple_of(decimal(step)) == left.empty());

  Paper down = {number.negative, subtract_digits(number.digits, left)};
  if (number.negative && !left.empty()) {
    down = add_on_paper(down, {true, on_paper(step).digits});
  }
  const auto result = decimal(a).round_down_to(decimal(step));
  RC_ASSERT(result.has_value() || !short_ones);
  if (result) RC_ASSERT(same(*result, down));
}

}  // namespace
}  // namespace pawl
