// SaxoExchange: the emulated Saxo. See docs/emulators.md for what it serves.
//
// Contract: as emulator/core/exchange.h. A call passes, in this order: token (empty 401), limits
//           (429), the window of repeats (409), its own checks (400), and then it is done.
//           Addresses are served with Saxo's prefix (/sim/openapi, /openapi) and without.
// Threads:  one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/core/exchange.h"
#include "emulator/core/faults.h"
#include "emulator/core/saxo_book.h"
#include "emulator/core/saxo_desk.h"
#include "emulator/core/saxo_limits.h"
#include "emulator/core/saxo_repeats.h"
#include "emulator/core/saxo_settings.h"
#include "emulator/core/saxo_tokens.h"
#include "emulator/core/saxo_views.h"

namespace pawl::emulator {

class SaxoExchange final : public Exchange {
 public:
  SaxoExchange();

  Reply answer(const Call& call, Instant now) override;
  void tick(Instant now) override { book_.tick(now); }
  Result<void> play(const Script& script) override;
  void forget() override;
  void reset() override;
  std::vector<std::string> take_changes() override;
  Result<void> restore(std::string_view line) override;
  json::Value orders() const override;
  json::Value stats() const override;
  Result<void> act(std::string_view order_id, std::string_view verb, Instant now) override;

 private:
  struct Route {
    std::string operation = {};  // empty: there is nothing at this address
    std::string group = {};      // of services: trade, port, cs …
    std::vector<std::string> ids = {};
  };
  struct Visit {
    const Call& call;
    const Route& route;
    const Fault* fault;
    Instant now;
  };

  static Route route_of(const Call& call);
  std::string reference_of(const Call& call, const Route& route) const;
  Reply serve(const Visit& visit);
  Reply admit(const Visit& visit);
  Reply work(const Visit& visit);
  void dress(const Visit& visit, std::string_view exhausted, Reply& reply);

  SaxoSettings settings_;
  Faults faults_;
  SaxoBook book_;
  SaxoDesk desk_;
  SaxoViews views_;
  SaxoTokens tokens_;
  SaxoLimits limits_;
  SaxoRepeats repeats_;
  std::vector<std::string> changes_;
  std::map<std::string, std::int64_t> calls_;  // of an operation
  std::int64_t repeats_refused_ = 0;
};

}  // namespace pawl::emulator
