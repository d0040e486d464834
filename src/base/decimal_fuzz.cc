// Two texts, parted by a blank: what is read prints as it was written, and sums and products keep
// their laws.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "base/decimal.h"
#include "base/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const std::string_view first = pawl::take_until(rest, ' ');
  const auto a = pawl::parse_decimal(first);
  const auto b = pawl::parse_decimal(rest);
  if (!a || !b) return 0;
  PAWL_ASSERT(pawl::to_string(*a) == first || *a == pawl::Decimal());  // "-0" prints as "0"

  if (const auto sum = pawl::add(*a, *b)) {
    PAWL_ASSERT(pawl::subtract(*sum, *b).value() == *a);
  }
  if (const auto product = pawl::multiply(*a, *b)) {
    PAWL_ASSERT(pawl::multiply(*b, *a).value() == *product);
  }
  if (const auto down = a->round_down_to(*b)) {
    PAWL_ASSERT(*down <= *a && down->is_multiple_of(*b));
  }
  return 0;
}
