// How the emulated Saxo behaves, where nobody outside of Saxo knows, or where a test wants it
// otherwise. docs/emulators.md has a line for each.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "base/json.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::emulator {

struct SaxoSettings {
  // Tokens. any: whatever token is good. issued: only those of the last refresh.
  std::string auth = "any";
  std::string access_token = "access-1";
  std::string refresh_token = "refresh-1";
  std::string app_key = {};  // empty: whoever refreshes
  std::string app_secret = {};
  Duration token_lifetime = Duration::minutes(20);
  Duration refresh_lifetime = Duration::hours(1);

  // What counts as a repeat.
  Duration repeat_window = Duration::seconds(15);  // 0s: nothing does
  std::string repeat_scope = "user";               // user | session (a token is one)
  std::string repeat_body = "bytes";               // bytes | canonical
  bool repeat_rolling = true;       // from the last copy received, not from the first
  bool repeat_request_id = true;    // another x-request-id makes it another request
  bool repeat_after_limit = false;  // one that was refused with 429 opens the window too

  bool limits = true;  // false: no limit at all
  // 0: none of this kind.
  std::size_t session_limit = 120;
  Duration session_window = Duration::minutes(1);
  std::size_t orders_limit = 1;
  Duration orders_window = Duration::seconds(1);
  std::set<std::string> orders_calls = {"place", "modify"};
  std::size_t day_limit = 10'000'000;
  bool rate_headers = true;
  bool reset_zero = false;  // part of a second is told as 0

  // Orders.
  Duration lag = {};  // until a reading call shows an order
  std::size_t place_status = 200;
  bool market_fills = true;
  std::string fill_price = "100";
  bool activities_reference = true;  // rows of order activities name the ExternalReference
  bool open_orders = true;           // false: /port/v1/orders shows none
  std::string client_key = "emulated-client";
  std::string account_key = "emulated-account";
};

Result<SaxoSettings> parse_saxo_settings(const json::Value& settings);

}  // namespace pawl::emulator
