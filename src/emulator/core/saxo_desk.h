// SaxoDesk: the trading calls of the emulated Saxo: place, precheck, modify, cancel.
//
// Contract: pure. It is asked only for calls that passed tokens, limits and the window of repeats.
//           Faults that are about an order (an outcome left open, an error that lies) happen here.
// Threads:  one. Book and settings outlive it.
#pragma once

#include <string>
#include <vector>

#include "emulator/core/exchange.h"
#include "emulator/core/faults.h"
#include "emulator/core/saxo_book.h"
#include "emulator/core/saxo_settings.h"

namespace pawl::emulator {

class SaxoDesk {
 public:
  SaxoDesk(SaxoBook& book, const SaxoSettings& settings) : book_(book), settings_(settings) {}

  // The fault may be null.
  Reply place(const Call& call, const Fault* fault, Instant now);
  Reply precheck(const Call& call, const Fault* fault);
  Reply modify(const Call& call, Instant now);
  // Those of the path, or, without any, those that the query names.
  Reply cancel(const Call& call, const std::vector<std::string>& ids, Instant now);

 private:
  Reply place_good(const json::Value& body, const Fault* fault, Instant now);
  SaxoOrder order_of(const json::Value& body, const Fault* fault, Instant now) const;
  std::vector<std::string> open_ids(const Call& call) const;

  SaxoBook& book_;
  const SaxoSettings& settings_;
};

}  // namespace pawl::emulator
