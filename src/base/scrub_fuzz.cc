// Goal: no bytes make the scrubber crash or hang, and it leaves nothing behind that it would mask.
// Method: what was scrubbed is scrubbed again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "base/scrub.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string clean = pawl::scrubbed(text);
  PAWL_ASSERT(pawl::holds_secret(text) == (clean != text));
  PAWL_ASSERT(!pawl::holds_secret(clean));
  return 0;
}
