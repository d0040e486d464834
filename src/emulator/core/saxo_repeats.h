// SaxoRepeats: what Saxo refuses with 409: the same order operation again within a window, unless
// its x-request-id is another.
//
// Contract: pure. What "the same" is, and from when the window is counted, is a setting: nobody
//           outside of Saxo knows.
// Threads:  one.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "emulator/core/exchange.h"
#include "emulator/core/saxo_settings.h"

namespace pawl::emulator {

class SaxoRepeats {
 public:
  explicit SaxoRepeats(const SaxoSettings& settings) : settings_(settings) {}

  // Is it a repeat? It is remembered in any case.
  bool see(const Call& call, Instant now);
  void forget() { seen_.clear(); }

 private:
  std::string key_of(const Call& call) const;

  SaxoSettings settings_;
  std::map<std::string, Instant> seen_;
};

}  // namespace pawl::emulator
