// OkxSession: what is said on one WebSocket of the emulated OKX: login, subscriptions to the order
// channel, pings, and the orders that are pushed.
//
// Contract: pure. hear() gives the answers to a message; tell() what a change of an order becomes
//           for whoever has subscribed to it. Other private channels are not there: to subscribe to
//           one is refused, so that nobody waits for what never comes.
// Bounds:   480 logins and subscriptions an hour; bounds::okx_subscriptions_max at once.
// Threads:  one. The settings outlive it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "emulator/core/okx_codes.h"
#include "emulator/core/okx_settings.h"
#include "emulator/core/windows.h"
#include "pawl/time.h"

namespace pawl::emulator {

class OkxSession {
 public:
  OkxSession(const OkxSettings& settings, std::uint64_t number);

  std::vector<std::string> hear(std::string_view text, Instant now);
  std::vector<std::string> tell(const json::Value& order) const;

 private:
  using Texts = std::vector<std::string>;

  Texts log_in(const json::Value& message, Instant now);
  Texts subscribe(const json::Value& message);
  Texts unsubscribe(const json::Value& message);
  std::string event(std::string_view name, json::Object members, const json::Value& message) const;
  std::string error(const OkxRefusal& refusal, const json::Value& message) const;

  const OkxSettings& settings_;
  std::string id_;
  bool is_logged_in_ = false;
  Windows requests_;
  std::vector<json::Value> subscriptions_;  // their "arg"
};

}  // namespace pawl::emulator
