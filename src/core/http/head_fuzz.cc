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

// What is passed on of them ends the body, and holds nothing that frames another.
static void check_trailers(std::string_view trailers) {
  std::string passed_on;
  append_last_chunk(passed_on, trailers, {});
  BodyReader reader({.kind = Framing::Kind::chunked});
  std::string_view rest = passed_on;
  require(reader.feed(rest).has_value() && reader.done() && rest.empty());
  require(reader.trailers().size() <= trailers.size());
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  RequestHead head;
  const auto progress = parse_request(bytes, head);
  if (progress && *progress == HeadProgress::complete) {
    RequestHead prefix;
    const auto cut = parse_request(bytes.substr(0, head.bytes - 1), prefix);
    require(cut.has_value() && *cut == HeadProgress::needs_more);

    // The size chooses among the settings, so that the same input always takes the same path.
    std::string rebuilt;
    append_upstream_request(rebuilt, head,
                            {.client_address = "::1",
                             .upstream_host = "u",
                             .request_id = "r",
                             .tenant_header = "X-Tenant-Id",
                             .tenant = "t",
                             .traceparent = size % 2 == 0 ? "" : "00-1-2-01",
                             .peer_trusted = size % 3 == 0,
                             .upgrades = head.is_websocket()});
    RequestHead again;
    const auto reread = parse_request(rebuilt, again);
    if (reread.has_value()) {
      require(again.framing == head.framing && again.method == head.method);
      require(again.target == head.target && again.bytes == rebuilt.size());
      require(again.is_websocket() == head.is_websocket());
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
    if (reader.done()) check_trailers(reader.trailers());
  }
  ResponseHead response;
  const auto answer = parse_response(bytes, false, response);
  if (answer && *answer == HeadProgress::complete) {
    std::string rebuilt;
    append_client_response(rebuilt, response, client_framing(response, 1, true));
    rebuilt += "\r\n";
    ResponseHead again;
    const auto reread = parse_response(rebuilt, false, again);
    require(reread.has_value() ? again.bytes == rebuilt.size()
                               : reread.error().kind == Rejection::Kind::too_large);
  }
  return 0;
}
