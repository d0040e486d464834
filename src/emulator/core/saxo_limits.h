// SaxoLimits: how much the emulated Saxo takes, and how it tells so.
//
// Contract: pure. Three dimensions: AppDay (all calls of a UTC day), Session (a minute, of every
//           service group apart), SessionOrders (a second, of calls that trade). A call that one of
//           them refuses charges none. The fields have Saxo's names; Reset is in whole seconds,
//           rounded up, or down where the settings ask for that.
// Threads:  one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/core/exchange.h"
#include "emulator/core/saxo_settings.h"
#include "emulator/core/windows.h"

namespace pawl::emulator {

class SaxoLimits {
 public:
  explicit SaxoLimits(const SaxoSettings& settings);

  struct Ask {
    std::string_view group;  // trade, port, cs …
    bool trades = false;     // counts for SessionOrders
  };
  // The dimension that has no room, or nothing: then it was charged.
  std::string_view take(const Ask& ask, Instant now);

  // How the fields are told: as it is; or as if this dimension were used up; or with another Reset,
  // of the dimension that is used up, or of both windows when none is.
  struct Look {
    std::string_view exhausted = {};
    std::optional<std::int64_t> reset = {};
  };
  std::vector<Field> fields(const Ask& ask, const Look& look, Instant now);

  void forget();
  // How often a dimension refused.
  const std::map<std::string, std::int64_t, std::less<>>& breaches() const { return breaches_; }

 private:
  void turn_day(Instant now);

  std::size_t session_limit_;
  std::size_t orders_limit_;
  std::size_t day_limit_;
  bool reset_zero_;
  Windows session_;
  Windows orders_;
  std::int64_t day_ = 0;
  std::size_t day_taken_ = 0;
  std::map<std::string, std::int64_t, std::less<>> breaches_;
};

}  // namespace pawl::emulator
