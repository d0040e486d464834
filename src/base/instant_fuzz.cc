// Any bytes, as RFC 3339 and as a date of HTTP: what is read must print and read back as the same
// instant, to the precision of its form.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "base/calendar.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto instant = pawl::parse_instant(text)) {
    const auto again = pawl::parse_instant(pawl::to_string(*instant));
    // The first millisecond of the range begins outside of it.
    const bool at_the_edge = *instant < pawl::Instant::from_ns(INT64_MIN + 1'000'000);
    PAWL_ASSERT(at_the_edge || (again && *instant - *again < pawl::Duration::milliseconds(1) &&
                                *again <= *instant));
  }
  if (const auto instant = pawl::parse_http_date(text)) {
    PAWL_ASSERT(pawl::parse_http_date(pawl::http_date(*instant)).value() == *instant);
  }
  return 0;
}
