// Goal: no body makes a reader crash, or pass what its header does not allow. Method: every reader
// reads the input; what one lets through must print and read back as the same, and a token must be
// the one text it came as.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "core/limit/api.h"

namespace {

using namespace pawl;
using namespace pawl::limit;

template <class Parse>
void read(Parse parse, std::string_view body) {
  const auto request = parse(body);
  if (!request) {
    PAWL_ASSERT(!request.error().message.empty() && request.error().message.size() <= 300);
    return;
  }
  const auto again = parse(to_json(*request));
  PAWL_ASSERT(again && *again == *request);
  if constexpr (requires { request->cost; }) {
    PAWL_ASSERT(request->cost >= 0 && request->cost <= bounds::limit_count_max);
  }
  if constexpr (requires { request->hold; }) {
    PAWL_ASSERT(request->hold > Duration() && request->hold <= bounds::limit_hold_max);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read(parse_check_request, text);
  read(parse_reserve_request, text);
  read(parse_commit_request, text);
  read(parse_cancel_request, text);
  read(parse_renew_request, text);
  if (const auto token = parse_reservation_token(text)) PAWL_ASSERT(to_string(*token) == text);
  return 0;
}
