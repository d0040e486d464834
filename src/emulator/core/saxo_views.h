// SaxoViews: the reading calls of the emulated Saxo: open orders, one order, its details, order
// activities, events, and who is logged in.
//
// Contract: pure. An order that is not visible yet is shown by none of them. Open orders show no
//           order that has filled or ended: that is what makes them a bad proof of absence.
// Threads:  one. Book and settings outlive it.
#pragma once

#include <string>
#include <string_view>

#include "emulator/core/exchange.h"
#include "emulator/core/saxo_book.h"
#include "emulator/core/saxo_settings.h"

namespace pawl::emulator {

class SaxoViews {
 public:
  SaxoViews(const SaxoBook& book, const SaxoSettings& settings)
      : book_(book), settings_(settings) {}

  Reply open_orders(const Call& call, Instant now) const;
  // One that is not open gives an empty list.
  Reply order(const Call& call, const std::string& id, Instant now) const;
  Reply details(const std::string& id, Instant now) const;
  Reply activities(const Call& call, Instant now) const;
  Reply events(const Call& call, Instant now) const;
  Reply user() const;
  Reply accounts(const Call& call) const;

 private:
  json::Object open_row(const SaxoOrder& order) const;
  json::Object activity_row(const SaxoOrder& order, const SaxoActivity& activity) const;
  Reply activity_rows(const Call& call, Instant now, bool with_reference) const;
  const SaxoOrder* find_open(const std::string& id, Instant now) const;

  const SaxoBook& book_;
  const SaxoSettings& settings_;
};

}  // namespace pawl::emulator
