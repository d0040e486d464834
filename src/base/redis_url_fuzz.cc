// Any bytes: what parses can be printed without its password and read back to the same servers.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "base/redis_url.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto url = pawl::redis::parse_redis_url(text);
  if (!url) return 0;
  PAWL_ASSERT(!url->servers.empty());
  PAWL_ASSERT(url->cluster || url->servers.size() == 1);
  PAWL_ASSERT(url->tls || url->ca_file.empty());
  const auto again = pawl::redis::parse_redis_url(pawl::redis::to_string(*url));
  PAWL_ASSERT(again && again->servers == url->servers && again->database == url->database);
  PAWL_ASSERT(again->tls == url->tls && again->cluster == url->cluster);
  return 0;
}
