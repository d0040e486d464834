// What OKX shows of its orders: by which call, to whom it is still shown, and in which pages.
//
// Why:      an order that is not in an answer may be there all the same: too young (lag), too old
//           (retention), or in another list. Whoever reconciles must know, so here each is true.
// Contract: pure. Gives the rows of an answer's data, newest first.
#pragma once

#include <expected>
#include <string_view>

#include "base/json.h"
#include "emulator/core/okx_book.h"
#include "emulator/core/okx_codes.h"
#include "emulator/core/okx_settings.h"
#include "pawl/time.h"

namespace pawl::emulator {

struct OkxView {
  const OkxSettings& settings;
  const OkxBook& book;
  Instant now;
};

using OkxRows = std::expected<json::Array, OkxRefusal>;

OkxRows show_order(const OkxView& view, std::string_view query);
OkxRows show_pending(const OkxView& view, std::string_view query);
OkxRows show_history(const OkxView& view, std::string_view query);
OkxRows show_archive(const OkxView& view, std::string_view query);
OkxRows show_fills(const OkxView& view, std::string_view query);
OkxRows show_fills_history(const OkxView& view, std::string_view query);
OkxRows show_positions(const OkxView& view, std::string_view query);
OkxRows show_config(const OkxView& view, std::string_view query);
OkxRows show_rate_limit(const OkxView& view, std::string_view query);
OkxRows show_instruments(const OkxView& view, std::string_view query);
OkxRows show_time(const OkxView& view, std::string_view query);

}  // namespace pawl::emulator
