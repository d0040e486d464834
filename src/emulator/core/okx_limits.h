// OkxLimits: how many calls OKX takes in two seconds, by operation, instrument and account.
//
// Contract: pure. Nothing is told by header: OKX says no, with 50011 for a call and 50061 for the
//           account's new orders and amendments, of which those in cash do not count.
// Threads:  one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "emulator/core/okx_codes.h"
#include "emulator/core/okx_settings.h"
#include "emulator/core/windows.h"
#include "pawl/time.h"

namespace pawl::emulator {

class OkxLimits {
 public:
  struct Ask {
    std::string_view operation = {};
    // Of each order that it is about, where the limit is one an instrument.
    std::vector<std::string> instruments = {};
    std::size_t counted_by_account = 0;
  };

  explicit OkxLimits(const OkxSettings& settings);

  OkxRefusal take(const Ask& ask, Instant now);
  void forget();
  const std::map<std::string, std::int64_t>& breaches() const { return breaches_; }

 private:
  OkxRefusal refuse(std::string_view code);

  std::map<std::string, Windows, std::less<>> windows_;
  std::map<std::string, std::int64_t> breaches_;  // by code
};

}  // namespace pawl::emulator
