// What can be set of the emulated OKX: accounts, instruments, and every rule of the venue of which
// nobody outside of it is sure.
//
// Why:      a program that trades must be right under each of those rules, so each is a switch.
// Contract: pure. parse_okx_settings() takes the "settings" of a script (faults.h); what is not
//           named keeps its default, what is not known is refused. Keys here are made up and guard
//           nothing, yet they are secrets: whoever copies real ones in must not find them in a log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/decimal.h"
#include "base/json.h"
#include "base/secret.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::emulator {

inline constexpr std::string_view okx_user_id = "44705892343619584";

struct OkxKey {
  std::string key = {};
  Secret<std::string> secret = {};
  Secret<std::string> passphrase = {};
  bool is_demo = false;  // goes with "x-simulated-trading: 1", and only with it
};

struct OkxInstrument {
  std::string type = {};  // SPOT, SWAP, FUTURES
  Decimal price = {};     // of the last trade: market orders fill at it
  Decimal lot = {};
  Decimal minimum = {};
  bool is_live = true;  // of one that is not, no order is shown or taken
};

// For how long a clOrdId cannot be used again.
enum class OkxDedup : std::uint8_t { for_ever, while_live, for_a_time };

struct OkxSettings {
  std::vector<OkxKey> keys;
  std::map<std::string, OkxInstrument, std::less<>> instruments;
  bool authenticates = true;
  Duration timestamp_window = Duration::seconds(30);

  OkxDedup dedup = OkxDedup::for_ever;
  Duration dedup_time = Duration::seconds(60);
  std::string duplicate_code = "51016";    // or 50071
  std::string expired_code = "50036";      // of a call that comes behind its expTime
  bool parameter_is_whole = true;          // 51000 as an HTTP 400; else as an item's sCode
  std::size_t account_limit_status = 200;  // of 50061

  bool long_short = false;  // else positions are net
  // Does a reading call still show an order that was canceled without a fill two hours ago?
  bool order_keeps_canceled = false;
  bool archive_keeps_canceled = false;
  std::size_t connects_a_second = 3;  // of WebSockets, from one address
  Duration channel_idle = Duration::seconds(30);
  Duration lag = {};  // an order that was taken is shown only so much later

  // So many calls in two seconds; by operation, and "account" for all new orders and amendments.
  std::map<std::string, std::size_t, std::less<>> limits;
};

OkxSettings default_okx_settings();
Result<OkxSettings> parse_okx_settings(const json::Value& settings);

}  // namespace pawl::emulator
