// The clOrdId of an intent: what OKX calls the reference.
//
// Why:      OKX takes up to 32 letters and digits; a reference may have 50 characters, and others
//           than these. It is how an order is found again when its answer got lost, so two
//           references must never share one.
// Contract: pure; the same reference always gives the same id. A reference that OKX takes stays as
//           it is, unless it begins as ours do; any other becomes `pawlX` and 27 hexadecimal digits
//           of its SHA-256. So ids of the two kinds never meet, and two of the second kind do only
//           if 108 bits of their hashes are equal.
// Threads:  any.
#pragma once

#include <string>
#include <string_view>

namespace pawl::okx {

std::string client_order_id(std::string_view reference);

}  // namespace pawl::okx
