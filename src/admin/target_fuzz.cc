// Goal: whatever the target, reading ends, and what was read is text. Method: sizes and bytes.
#include <cstddef>
#include <cstdint>

#include "admin/target.h"
#include "base/assert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto decoded = pawl::admin::decode(text)) {
    PAWL_ASSERT(decoded->size() <= text.size());
    PAWL_ASSERT(decoded->find('\0') == std::string::npos);
  }
  const auto query = pawl::admin::parse_query(text);
  if (query) {
    for (const auto& [name, value] : *query) PAWL_ASSERT(name.size() + value.size() <= size);
  }
  return 0;
}
