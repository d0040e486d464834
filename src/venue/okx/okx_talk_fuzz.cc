// Any bytes as an answer of OKX and as a message of its channel: nothing is accepted without an id,
// and every row that is read has what its readers rely on.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/assert.h"
#include "venue/okx/okx_answer.h"
#include "venue/okx/okx_talk.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using pawl::order::Sent;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> ids = {"ref1", "ref2"};
  for (const int status : {200, 400, 500}) {
    const pawl::HttpAnswer answer{.status = status, .body = text, .complete = true};
    for (const auto& placed : pawl::okx::place_answers(answer, ids)) {
      PAWL_ASSERT(placed.sent != Sent::accepted || (status == 200 && !placed.order_id.empty()));
      PAWL_ASSERT(status != 500 || placed.sent == Sent::unknown);
    }
    (void)pawl::okx::change_answer(answer);
    (void)pawl::okx::orders_of(answer, "trade/order");
  }
  for (const auto& order : pawl::okx::word_of(text).orders) {
    PAWL_ASSERT(!order.order_id.empty() && !order.instrument.empty());
  }
  (void)pawl::okx::parse_channel_url(text);
  return 0;
}
