// SaxoTokens: the OAuth part of the emulated Saxo. A refresh gives new tokens, the old ones end.
//
// Contract: pure. Tokens are numbers that nobody has to keep secret: this is no bank. The pair that
//           the settings name is good from the start, until it is refreshed.
// Threads:  one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"
#include "emulator/core/exchange.h"
#include "emulator/core/saxo_settings.h"

namespace pawl::emulator {

class SaxoTokens {
 public:
  explicit SaxoTokens(const SaxoSettings& settings);

  // The pair in use stays, unless the settings name another one than before.
  void change(const SaxoSettings& settings);
  // POST /token.
  Reply refresh(const Call& call, Instant now);
  // May this call pass?
  bool admits(const Call& call, Instant now) const;
  // Whose call it is, for what counts as a repeat.
  static std::string session_of(const Call& call);

  // The state as a line of the book, once after each change; empty: none.
  std::string take_change();
  Result<void> restore(const json::Value& value);

 private:
  bool client_is_good(const Call& call) const;

  SaxoSettings settings_;
  std::uint64_t generation_ = 0;
  std::string access_;
  std::string refresh_;
  Instant access_ends_ = Instant::max();
  Instant refresh_ends_ = Instant::max();
  bool changed_ = false;
};

}  // namespace pawl::emulator
