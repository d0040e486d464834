// Decimal: an exact decimal number, for money, prices and sizes.
//
// Why:      0.1 has no binary floating-point form, and a venue compares digits. What was written is
//           kept: "1.10" prints as "1.10", and equals "1.1".
// Contract: never rounds. An answer that does not fit is an error; round_down_to says by name what
//           it does. Adding keeps the longer fraction, multiplying adds the fractions' lengths, and
//           zeros at a fraction's end are given up only where the answer would not fit otherwise.
// Bounds:   at most bounds::decimal_digits_max digits, of which at most bounds::decimal_scale_max
//           stand after the point.
// Threads:  a value.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "pawl/result.h"

namespace pawl {

class Decimal {
 public:
  constexpr Decimal() = default;  // 0

  // By value: "1.10" equals "1.1", though the two print differently.
  std::weak_ordering operator<=>(const Decimal& other) const;
  bool operator==(const Decimal& other) const { return (*this <=> other) == 0; }

  // Of zero, nothing but zero is a multiple. Signs do not matter.
  bool is_multiple_of(const Decimal& step) const;
  // The greatest multiple of the step that is not above this, written with the step's places where
  // they fit. The step must be greater than zero.
  Result<Decimal> round_down_to(const Decimal& step) const;

  // "-12.50": digits on both sides of a point, no exponent, no "+", no needless zero in front.
  // Minus zero is read as zero.
  friend Result<Decimal> parse_decimal(std::string_view text);
  friend std::string to_string(const Decimal& number);

  friend Result<Decimal> add(const Decimal& a, const Decimal& b);
  friend Result<Decimal> subtract(const Decimal& a, const Decimal& b);
  friend Result<Decimal> multiply(const Decimal& a, const Decimal& b);

 private:
  using Coefficient = __int128;

  constexpr Decimal(Coefficient coefficient, int scale)
      : coefficient_(coefficient), scale_(scale) {}

  // What is left of this beyond its last whole step towards zero; has the sign of this.
  Decimal remainder(const Decimal& step) const;

  Coefficient coefficient_ = 0;  // the number is coefficient × 10^-scale
  int scale_ = 0;
};

Result<Decimal> parse_decimal(std::string_view text);
std::string to_string(const Decimal& number);
Result<Decimal> add(const Decimal& a, const Decimal& b);
Result<Decimal> subtract(const Decimal& a, const Decimal& b);
Result<Decimal> multiply(const Decimal& a, const Decimal& b);

}  // namespace pawl
