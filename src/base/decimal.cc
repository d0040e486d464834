#include "base/decimal.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/bounds.h"
#include "base/text.h"

namespace pawl {
namespace {

using Wide = __int128;

constexpr auto powers_of_ten = [] {
  std::array<Wide, bounds::decimal_digits_max + 1> powers{1};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

constexpr Wide power_of_ten(int exponent) {
  return powers_of_ten[static_cast<std::size_t>(exponent)];
}

// The first coefficient that has too many digits.
constexpr Wide limit = power_of_ten(bounds::decimal_digits_max);

bool fits(Wide coefficient) {
  return coefficient > -limit && coefficient < limit;
}

// The coefficient of the same number at another scale; nothing when digits would be lost or the
// type is too narrow.
std::optional<Wide> rescaled(Wide coefficient, int from, int to) {
  if (to < from) {
    const Wide divisor = power_of_ten(from - to);
    if (coefficient % divisor != 0) return std::nullopt;
    return coefficient / divisor;
  }
  Wide scaled = 0;
  if (__builtin_mul_overflow(coefficient, power_of_ten(to - from), &scaled)) return std::nullopt;
  return scaled;
}

std::unexpected<Error> does_not_fit(const Decimal& a, const char* sign, const Decimal& b) {
  return failure(Code::invalid, to_string(a) + sign + to_string(b) + " has more than " +
                                    std::to_string(bounds::decimal_digits_max) +
                                    " digits, or more than " +
                                    std::to_string(bounds::decimal_scale_max) + " after the point");
}

std::unexpected<Error> not_a_decimal(std::string_view text, std::string_view why) {
  return failure(Code::invalid,
                 std::string("'").append(text).append("' is not a decimal number: ").append(why));
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

Result<Decimal> parse_decimal(std::string_view text) {
  const bool negative = text.starts_with('-');
  std::string_view fraction = text.substr(negative ? 1 : 0);
  const bool has_point = fraction.find('.') != std::string_view::npos;
  const std::string_view whole = take_until(fraction, '.');
  if (!is_digits(whole) || (has_point && !is_digits(fraction))) {
    return not_a_decimal(text, "write it as in 12.50 or -3");
  }
  if (whole.size() > 1 && whole.front() == '0') {
    return not_a_decimal(text, "it begins with a needless zero");
  }
  if (fraction.size() > bounds::decimal_scale_max) {
    return not_a_decimal(text, "it has more than " + std::to_string(bounds::decimal_scale_max) +
                                   " digits after the point");
  }
  Wide coefficient = 0;
  for (const std::string_view part : {whole, fraction}) {
    for (const char c : part) {
      coefficient = coefficient * 10 + (c - '0');
      if (!fits(coefficient)) {
        return not_a_decimal(
            text, "it has more than " + std::to_string(bounds::decimal_digits_max) + " digits");
      }
    }
  }
  return Decimal(negative ? -coefficient : coefficient, static_cast<int>(fraction.size()));
}

std::string to_string(const Decimal& number) {
  const bool negative = number.coefficient_ < 0;
  Wide left = negative ? -number.coefficient_ : number.coefficient_;
  std::string backwards;
  for (int place = 0; left > 0 || place <= number.scale_; ++place) {
    if (place == number.scale_ && place > 0) backwards.push_back('.');
    backwards.push_back(static_cast<char>('0' + static_cast<int>(left % 10)));
    left /= 10;
  }
  if (negative) backwards.push_back('-');
  return {backwards.rbegin(), backwards.rend()};
}

std::weak_ordering Decimal::operator<=>(const Decimal& other) const {
  // Whole part and fraction apart: at one common scale the coefficients might not fit.
  const auto whole = [](const Decimal& d) { return d.coefficient_ / power_of_ten(d.scale_); };
  const auto fraction = [](const Decimal& d) {
    return d.coefficient_ % power_of_ten(d.scale_) *
           power_of_ten(bounds::decimal_scale_max - d.scale_);
  };
  const std::weak_ordering by_whole = whole(*this) <=> whole(other);
  return by_whole != 0 ? by_whole : fraction(*this) <=> fraction(other);
}

Result<Decimal> add(const Decimal& a, const Decimal& b) {
  // At the longer scale one of them may need more room than there is; then zeros at the other's end
  // can be given up.
  for (int scale = std::max(a.scale_, b.scale_); scale >= 0; --scale) {
    const auto left = rescaled(a.coefficient_, a.scale_, scale);
    const auto right = rescaled(b.coefficient_, b.scale_, scale);
    Wide sum = 0;
    if (!left || !right || __builtin_add_overflow(*left, *right, &sum)) continue;
    int sum_scale = scale;
    while (!fits(sum) && sum_scale > 0 && sum % 10 == 0) {
      sum /= 10;
      --sum_scale;
    }
    if (fits(sum)) return Decimal(sum, sum_scale);
  }
  return does_not_fit(a, " + ", b);
}

Result<Decimal> subtract(const Decimal& a, const Decimal& b) {
  return add(a, Decimal(-b.coefficient_, b.scale_));
}

Result<Decimal> multiply(const Decimal& a, const Decimal& b) {
  // The product is high × limit + low, made from halves of 17 digits, so that no step overflows.
  constexpr Wide half = power_of_ten(bounds::decimal_digits_max / 2);
  static_assert(half * half == limit);
  const bool negative = (a.coefficient_ < 0) != (b.coefficient_ < 0);
  const Wide left = a.coefficient_ < 0 ? -a.coefficient_ : a.coefficient_;
  const Wide right = b.coefficient_ < 0 ? -b.coefficient_ : b.coefficient_;
  const Wide middle = (left / half) * (right % half) + (left % half) * (right / half);
  const Wide lower = (left % half) * (right % half) + middle % half * half;
  Wide high = (left / half) * (right / half) + middle / half + lower / limit;
  Wide low = lower % limit;

  int scale = a.scale_ + b.scale_;
  while (high > 0 || scale > bounds::decimal_scale_max) {
    if (scale == 0 || low % 10 != 0) return does_not_fit(a, " × ", b);
    low = high % 10 * (limit / 10) + low / 10;
    high /= 10;
    --scale;
  }
  return Decimal(negative ? -low : low, scale);
}

Decimal Decimal::remainder(const Decimal& step) const {
  if (scale_ >= step.scale_) {
    const auto divisor = rescaled(step.coefficient_, step.scale_, scale_);
    // A step too large for the type is larger than any number.
    return divisor ? Decimal(coefficient_ % *divisor, scale_) : *this;
  }
  Wide left = coefficient_ % step.coefficient_;
  for (int scale = scale_; scale < step.scale_; ++scale) left = left * 10 % step.coefficient_;
  return Decimal(left, step.scale_);
}

bool Decimal::is_multiple_of(const Decimal& step) const {
  if (step.coefficient_ == 0) return coefficient_ == 0;
  return remainder(step).coefficient_ == 0;
}

Result<Decimal> Decimal::round_down_to(const Decimal& step) const {
  if (step.coefficient_ <= 0) {
    return failure(Code::invalid,
                   "cannot round to steps of " + to_string(step) + "; a step is greater than zero");
  }
  const Decimal left = remainder(step);
  Decimal rounded = PAWL_TRY(subtract(*this, left));
  if (left.coefficient_ < 0) rounded = PAWL_TRY(subtract(rounded, step));
  const auto in_places = rescaled(rounded.coefficient_, rounded.scale_, step.scale_);
  if (in_places && fits(*in_places)) return Decimal(*in_places, step.scale_);
  return rounded;
}

}  // namespace pawl
