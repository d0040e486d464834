// What is said on OKX's order channel: the handshake, the login, the subscription, and what comes.
//
// Contract: pure; never fails on what comes. A row that cannot be read is left out and counted:
//           whoever watches looks at orders by itself, too.
// Threads:  any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "core/http/head.h"
#include "core/order/answer.h"
#include "pawl/result.h"

namespace pawl::okx {

struct ChannelUrl {
  bool is_tls = true;
  Target target = {};
  std::string path = {};
};
// "wss://ws.okx.com:8443/ws/v5/private".
Result<ChannelUrl> parse_channel_url(std::string_view url);

// `key` as Sec-WebSocket-Key has it.
std::string upgrade_request(const ChannelUrl& url, std::string_view key);
// Empty: the other side speaks WebSocket from here on. Else why not.
std::string why_not_upgraded(const http::ResponseHead& head, std::string_view key);

// All orders of the account, of whatever kind.
std::string subscription();

struct ChannelWord {
  enum class Kind : std::uint8_t {
    logged_in,
    subscribed,
    orders,
    leaving,  // 64008: it will hang up soon
    refused,  // an error: of login or subscription
    other,    // pong, and what nobody asked for
  };
  Kind kind = Kind::other;
  std::string says = {};
  std::vector<order::VenueOrder> orders = {};
  std::size_t unread = 0;  // rows
};
ChannelWord word_of(std::string_view text);

}  // namespace pawl::okx
