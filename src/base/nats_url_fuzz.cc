// Any bytes: what parses can be printed without its password and read back to the same servers.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "base/bounds.h"
#include "base/nats_url.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto url = pawl::nats::parse_nats_url(text);
  if (!url) return 0;
  PAWL_ASSERT(!url->servers.empty() && url->servers.size() <= pawl::bounds::nats_servers_max);
  PAWL_ASSERT(!url->name.empty());
  PAWL_ASSERT(url->tls || url->ca_file.empty());
  PAWL_ASSERT(url->user.empty() || !url->password.empty());
  const auto again = pawl::nats::parse_nats_url(pawl::nats::to_string(*url));
  PAWL_ASSERT(again && again->servers == url->servers && again->name == url->name);
  PAWL_ASSERT(again->tls == url->tls && again->password.empty());
  return 0;
}
