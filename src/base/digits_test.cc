// Goal: the digits are those of the number. Method: around every power of ten and two, and all of a
// stretch, beside std::to_chars().
#include "base/digits.h"

#include <charconv>
#include <gtest/gtest.h>
#include <limits>
#include <string_view>

namespace pawl {
namespace {

template <class Number>
void expect_same(Number number) {
  char expected[digits_room];
  char put[digits_room];
  const char* const expected_end = std::to_chars(expected, expected + digits_room, number).ptr;
  const char* const end = put_digits(put, number);
  ASSERT_EQ(std::string_view(put, end), std::string_view(expected, expected_end));
}

TEST(Digits, AreThoseOfTheNumber) {
  for (std::uint64_t number = 0; number < 200'000; ++number) {
    expect_same(number);
    expect_same(99'990'000 + number);
  }
  for (std::uint64_t power = 10; power <= 10'000'000'000'000'000'000U / 10; power *= 10) {
    for (const std::uint64_t number : {power - 1, power, power + 1, 9 * power, 7 * power + 3}) {
      expect_same(number);
    }
  }
  for (int bit = 0; bit < 64; ++bit) {
    expect_same(std::uint64_t{1} << bit);
    expect_same((std::uint64_t{1} << bit) - 1);
    expect_same(static_cast<std::int64_t>(std::uint64_t{1} << bit));
    expect_same(-static_cast<std::int64_t>((std::uint64_t{1} << bit) >> 1));
  }
  expect_same(std::numeric_limits<std::uint64_t>::max());
  expect_same(std::numeric_limits<std::int64_t>::min());
}

}  // namespace
}  // namespace pawl
