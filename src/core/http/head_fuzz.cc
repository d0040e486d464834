// Any bytes: the gate must not crash, must decide the same however the bytes are cut, and what it
// lets through must survive being rebuilt and read again.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/http/body.h"
#include "core/http/head.h"
#include "core/http/rewrite.h"

using namespace pawl::http;

static void require(bool condition) {
  if (!condition) std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  RequestHead head;
  const auto progress = parse_request(bytes, head);
  if (progress && *progress == HeadProgress::complete) {
    RequestHead prefix;
    const auto cut = parse_request(bytes.substr(0, head.bytes - 1), prefix);
    require(cut.has_value() && *cut == HeadProgress::needs_more);

    std::string rebuilt;
    append_upstream_request(rebuilt, head,
                            {.client_address = "::1",
                             .upstream_host = "u",
                             .request_id = "r",
                             .tenant_header = "X-Tenant-Id",
                             .tenant = "t"});
    RequestHead again;
    const auto reread = parse_request(rebuilt, again);
    if (reread.has_value()) {
      require(again.framing == head.framing && again.method == head.method);
      require(again.target == head.target && again.bytes == rebuilt.size());
    } else {
      require(reread.error().kind == Rejection::Kind::too_large);
    }

    BodyReader reader(head.framing);
    std::string_view rest = bytes.substr(head.bytes);
    while (!rest.empty() && !reader.done()) {
      const std::size_t before = rest.size();
      if (!reader.feed(rest)) return 0;
      require(rest.size() < before);
    }
  }
  ResponseHead response;
  (void)parse_response(bytes, false, response);
  return 0;
}
