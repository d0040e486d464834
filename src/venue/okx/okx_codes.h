// What a code of OKX means for an order that was sent.
//
// Why:      a code that is taken for a refusal and is none places an order twice; so only codes
//           that are known to refuse do, and whatever is new or vague is unknown.
// Contract: pure tables. The HTTP status counts, too: what comes with 5xx is never more than
//           unknown, whatever it says ("please try again").
// Threads:  any.
#pragma once

#include <string_view>

#include "core/order/answer.h"

namespace pawl::okx {

inline constexpr std::string_view no_error = "0";
inline constexpr std::string_view clock_is_off = "50102";
inline constexpr std::string_view has_expired = "50036";  // expTime was over when it came
inline constexpr std::string_view no_such_order = "51603";

// Of an order, or of a call as a whole, that was not done. An empty code: none came.
order::Sent sent_of(int status, std::string_view code);

// Of a cancel or an amendment: the order has been filled, canceled, or is not known any more.
bool is_over(std::string_view code);

}  // namespace pawl::okx
