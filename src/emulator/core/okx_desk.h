// OkxDesk: takes, amends and cancels orders of the emulated OKX, one item of a call at a time.
//
// Contract: pure. Checks what OKX checks (rules, repeats of a clOrdId, reduce-only), and does it,
//           or says why not. An order that can trade does so at once, at the price of its
//           instrument.
// Threads:  one. Settings and book outlive it.
#pragma once

#include <string>

#include "base/json.h"
#include "emulator/core/okx_book.h"
#include "emulator/core/okx_replies.h"
#include "emulator/core/okx_settings.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::emulator {

class OkxDesk {
 public:
  OkxDesk(const OkxSettings& settings, OkxBook& book) : settings_(settings), book_(book) {}

  // Reading calls show it only `lag` later.
  OkxItem place(const json::Value& item, Instant now, Duration lag);
  OkxItem cancel(const json::Value& item, Instant now);
  OkxItem amend(const json::Value& item, Instant now);
  // From outside, on an order that is open.
  void fill(const OkxOrder& order, bool halfway, Instant now);

 private:
  bool is_repeat(const OkxOrder& order, Instant now) const;
  OkxInstrument instrument_of(const OkxOrder& order) const;
  void trade(const OkxOrder& order, Instant now);
  const OkxOrder* find(const json::Value& item) const;

  const OkxSettings& settings_;
  OkxBook& book_;
};

}  // namespace pawl::emulator
