// Goal: no bytes make the reader of answers crash, hang, or see an order that is not named.
// Method: the first two bytes choose status and completeness, the rest is the body.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/assert.h"
#include "venue/saxo/saxo_answer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  constexpr int statuses[] = {200, 201, 202, 400, 401, 403, 404, 409, 429, 500, 503, 0};
  const pawl::HttpAnswer answer{
      .status = statuses[data[0] % std::size(statuses)],
      .body = std::string(reinterpret_cast<const char*>(data) + 2, size - 2),
      .complete = data[1] % 2 == 0};
  const pawl::Instant now;
  const auto placed = pawl::saxo::place_answer(answer, "ref", now);
  if (placed.sent == pawl::order::Sent::accepted) {
    PAWL_ASSERT(answer.complete && answer.status < 202);
    PAWL_ASSERT(pawl::saxo::is_order_id(placed.order_id));
  }
  if (placed.sent == pawl::order::Sent::refused) PAWL_ASSERT(placed.order_id.empty());
  (void)pawl::saxo::change_answer(answer, "1", now);
  (void)pawl::saxo::cancel_answer(answer, "1", now);
  (void)pawl::saxo::precheck_answer(answer, now);
  return 0;
}
