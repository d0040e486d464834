// What OKX asks of an order before it takes it: parameters, sizes, modes, reduce-only.
//
// Contract: pure. Gives the order that was asked for, or the refusal that OKX would give. Sizes and
//           prices that pass here are short enough to be added and multiplied without loss.
#pragma once

#include <expected>
#include <optional>
#include <string_view>

#include "base/json.h"
#include "emulator/core/okx_book.h"
#include "emulator/core/okx_codes.h"
#include "emulator/core/okx_order.h"
#include "emulator/core/okx_settings.h"

namespace pawl::emulator {

// An order without id and times, from a body or one item of it.
std::expected<OkxOrder, OkxRefusal> read_okx_order(const OkxSettings& settings,
                                                   const json::Value& item);
// What an amendment asks for; of an order that is open.
std::expected<OkxChange, OkxRefusal> read_okx_change(const OkxSettings& settings,
                                                     const json::Value& item,
                                                     const OkxOrder& order);

// Would it close more than is there?
OkxRefusal check_okx_reduction(const OkxSettings& settings, const OkxBook& book,
                               const OkxOrder& order);

// In base currency or contracts: what is left of the order at that price.
Decimal okx_rest(const OkxOrder& order, const OkxInstrument& instrument);

}  // namespace pawl::emulator
