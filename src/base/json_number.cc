#include "base/json_number.h"

#include <charconv>
#include <cmath>

#include "base/assert.h"
#include "base/text.h"

namespace pawl::json {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Takes digits off the front; says how many.
std::size_t skip_digits(std::string_view& rest) {
  std::size_t count = 0;
  while (count < rest.size() && is_digit(rest[count])) ++count;
  rest.remove_prefix(count);
  return count;
}

bool skip_any_of(std::string_view& rest, std::string_view characters) {
  if (rest.empty() || characters.find(rest.front()) == std::string_view::npos) return false;
  rest.remove_prefix(1);
  return true;
}

// A positive value as digits d₁d₂…dₖ and the place of the point: 0.d₁d₂…dₖ × 10^point.
struct Digits {
  std::string digits;
  int point;
};

Digits shortest_digits(double value) {
  char text[32];
  const auto written =
      std::to_chars(text, text + sizeof(text), value, std::chars_format::scientific);
  PAWL_ASSERT(written.ec == std::errc());
  // d.ddde±xx; the fraction is missing when one digit is enough.
  const std::string_view all(text, written.ptr);
  const std::size_t e = all.find('e');
  PAWL_ASSERT(e != std::string_view::npos);
  Digits result{.digits = std::string(all.substr(0, 1)), .point = 0};
  if (e > 1) result.digits.append(all.substr(2, e - 2));
  const char* exponent = text + e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(exponent, written.ptr, result.point);
  ++result.point;
  return result;
}

}  // namespace

bool is_number(std::string_view text) {
  skip_any_of(text, "-");
  const bool leading_zero = !text.empty() && text.front() == '0';
  const std::size_t whole = skip_digits(text);
  if (whole == 0 || (leading_zero && whole > 1)) return false;
  if (skip_any_of(text, ".") && skip_digits(text) == 0) return false;
  if (skip_any_of(text, "eE")) {
    skip_any_of(text, "+-");
    if (skip_digits(text) == 0) return false;
  }
  return text.empty();
}

std::string shortest(double value) {
  PAWL_ASSERT(std::isfinite(value));
  if (value == 0) return "0";
  std::string out = value < 0 ? "-" : "";
  const auto [digits, point] = shortest_digits(std::fabs(value));
  const int count = static_cast<int>(digits.size());
  // The bounds 21 and -6 are those of ECMAScript's Number::toString.
  if (point > 21 || point <= -6) {
    out.append(digits, 0, 1);
    if (count > 1) out.append(".").append(digits, 1);
    out.append(point > 0 ? "e+" : "e");
    append_number(out, point - 1);
  } else if (point <= 0) {
    out.append("0.").append(static_cast<std::size_t>(-point), '0').append(digits);
  } else if (point < count) {
    const auto whole = static_cast<std::size_t>(point);
    out.append(digits, 0, whole).append(".").append(digits, whole);
  } else {
    out.append(digits).append(static_cast<std::size_t>(point - count), '0');
  }
  return out;
}

Result<std::string> canonical_number(std::string_view text) {
  if (!is_number(text)) {
    return failure(Code::invalid, "'" + std::string(text) + "' is not a JSON number");
  }
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc()) {
    return failure(Code::invalid, "the number " + std::string(text) +
                                      " is outside the range of a double; write it as a string");
  }
  return shortest(value);
}

}  // namespace pawl::json
