// Any bytes: a URL that is read is printed without a key, and has a bucket.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "base/s3_url.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto url = pawl::parse_s3_url({reinterpret_cast<const char*>(data), size});
  if (!url) return 0;
  PAWL_ASSERT(!url->bucket.empty());
  PAWL_ASSERT(url->endpoint.find('@') == std::string::npos);
  PAWL_ASSERT(pawl::to_string(*url).starts_with("s3://"));
  return 0;
}
