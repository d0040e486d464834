// Answers of OKX, read: the envelope, what became of orders that were sent, and rows of orders.
//
//   {"code":"0","msg":"","data":[{"clOrdId","ordId","sCode":"0","sMsg":""}],"inTime","outTime"}
//
// Contract: pure; never fails on what comes. `accepted` takes all of it: status 200, a code of 0
//           (2 in a batch), sCode 0, an ordId, and no clOrdId that was not sent. An ordId in an
//           answer that accepts nothing is a live order: unknown, with the id. A list with a row
//           that cannot be read is not read at all: it may have been the one that was looked for.
// Bounds:   bounds::venue_message_bytes_max of what it says, venue_id_bytes_max of an id.
// Threads:  any.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "core/order/answer.h"
#include "pawl/result.h"
#include "pawl/time.h"
#include "port/http_client.h"

namespace pawl::okx {

struct Envelope {
  std::string code = {};
  std::string message = {};  // for people
  json::Array data = {};
};
// Nothing: it is none, or was cut off.
std::optional<Envelope> envelope_of(const HttpAnswer& answer);
// The code alone, of any answer; empty: there is none.
std::string code_of(const HttpAnswer& answer);

// To a placement of these orders, in their order.
std::vector<order::Answer> place_answers(const HttpAnswer& answer,
                                         std::span<const std::string> client_ids);
// To a cancel or an amendment: accepted, or by okx_codes.h; codes that say that the order is over
// are refusals here.
order::Answer change_answer(const HttpAnswer& answer);

// How many seconds a refusal for its rate is waited for: no window is longer.
inline constexpr Duration rate_window = Duration::seconds(2);

// The data of an answer to a reading call. not_found: 51603. `what` names it in errors.
Result<json::Array> data_of(const HttpAnswer& answer, std::string_view what);
std::optional<order::VenueOrder> order_of_row(const json::Value& row);
Result<std::vector<order::VenueOrder>> orders_of(const HttpAnswer& answer, std::string_view what);
// Milliseconds since the epoch, as text.
std::optional<Instant> time_member(const json::Value& row, std::string_view member);
std::string to_milliseconds(Instant instant);
// Of public/time.
Result<Instant> venue_time_of(const HttpAnswer& answer);

}  // namespace pawl::okx
