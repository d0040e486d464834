// What Saxo's answers mean: every shape and status, as an order::Answer.
//
// Why:      a 200 may hide an error, a 400 may hide a live order, and a 202 is neither. Whoever
//           looks at the status alone places twice or loses an order.
// Contract: pure, takes any bytes. accepted needs an OrderId and no error beside it; refused needs
//           a clear no without any OrderId. Whatever is neither is unknown. An answer that names
//           another ExternalReference is somebody else's: unknown, and its OrderId is not taken.
//           The members OrderId, ErrorCode and ErrorInfo are found wherever they stand.
// Bounds:   bounds::venue_message_bytes_max, venue_id_bytes_max, venue_precheck_max.
// Threads:  any.
// See:      docs/adding-a-venue.md.
#pragma once

#include <string_view>

#include "core/order/answer.h"
#include "pawl/result.h"
#include "pawl/time.h"
#include "port/http_client.h"
#include "port/venue.h"

namespace pawl::saxo {

// To POST /trade/v2/orders.
order::Answer place_answer(const HttpAnswer& answer, std::string_view reference, Instant now);
// To PATCH /trade/v2/orders. accepted: the order is as it was asked for.
order::Answer change_answer(const HttpAnswer& answer, std::string_view order_id, Instant now);
// To DELETE /trade/v2/orders/{OrderId}: a 200 may carry an error for the one order.
order::Answer cancel_answer(const HttpAnswer& answer, std::string_view order_id, Instant now);
// To POST /trade/v2/orders/precheck. An "Ok" with an ErrorInfo is none. An error: Saxo was not
// heard (unavailable), or did not look at the order (refused).
Result<Precheck> precheck_answer(const HttpAnswer& answer, Instant now);

// An OrderId as it may go into a path.
bool is_order_id(std::string_view text);

}  // namespace pawl::saxo
