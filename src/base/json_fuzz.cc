// Any bytes: what parses must print and read back as the same value, and its canonical form must be
// a fixed point.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto value = pawl::json::parse(text);
  if (!value) return 0;

  const std::string printed = pawl::json::print(*value);
  const auto again = pawl::json::parse(printed);
  PAWL_ASSERT(again && *again == *value);
  PAWL_ASSERT(printed.find('\n') == std::string::npos);

  const auto canonical = pawl::json::canonical(*value);
  if (!canonical) return 0;
  const auto canonical_value = pawl::json::parse(*canonical);
  PAWL_ASSERT(canonical_value);
  PAWL_ASSERT(pawl::json::canonical(*canonical_value).value() == *canonical);
  return 0;
}
