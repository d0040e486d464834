// The pages of OKX's order history, for a backfill: all lists that may hold an order, one after the
// other.
//
//   orders-pending ─▶ orders-history of SPOT, MARGIN, SWAP, FUTURES, OPTION ─▶ the archive of each,
//   when the time asked for is older than the history
//
// Contract: pure. A page is named by a text that only this reads: list and ordId behind which it
//           begins. An order may be in two lists: whoever keeps them knows it by its id.
// Threads:  none.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "port/http_client.h"
#include "port/venue.h"
#include "venue/okx/okx_reading.h"

namespace pawl::okx {

struct HistoryAsk {
  Instant from = {};
  Instant to = {};
  Instant now = {};
};
struct HistoryPlace {
  std::size_t list = 0;
  std::string after = {};  // an ordId; empty: from the newest on
};

// Empty: the first page. invalid: it is none of ours.
Result<HistoryPlace> parse_place(std::string_view page, const HistoryAsk& ask);
ReadCall history_call(const HistoryAsk& ask, const HistoryPlace& place);
Result<HistoryPage> history_page(const HistoryAsk& ask, const HistoryPlace& place,
                                 const HttpAnswer& answer);

}  // namespace pawl::okx
