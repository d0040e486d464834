// Any bytes: whatever is read has a name, and none of it is deeper than the bound.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "base/xml.h"

namespace {

std::size_t depth_of(const pawl::xml::Element& element) {
  PAWL_ASSERT(!element.name.empty());
  std::size_t deepest = 0;
  for (const auto& child : element.children) deepest = std::max(deepest, depth_of(child));
  return deepest + 1;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = pawl::xml::parse({reinterpret_cast<const char*>(data), size});
  if (read) PAWL_ASSERT(depth_of(*read) <= pawl::xml::depth_max);
  return 0;
}
