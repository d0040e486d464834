#include "venue/okx/okx_talk.h"

#include <cstdint>
#include <utility>

#include "base/json.h"
#include "base/store_url.h"
#include "base/text.h"
#include "base/websocket_frame.h"
#include "venue/common/wire.h"
#include "venue/okx/okx_answer.h"

namespace pawl::okx {
namespace {

using venue::for_people;
using venue::text_of;
using Kind = ChannelWord::Kind;

constexpr std::string_view notice_of_leaving = "64008";

ChannelWord event_of(const json::Value& message, std::string_view event) {
  const std::string code = text_of(message, "code");
  ChannelWord word{.says = for_people(code + ": " + text_of(message, "msg"))};
  if (event == "error") {
    word.kind = Kind::refused;
  } else if (event == "login") {
    word.kind = code == "0" ? Kind::logged_in : Kind::refused;
  } else if (event == "subscribe") {
    word.kind = Kind::subscribed;
  } else if (event == "notice" && code == notice_of_leaving) {
    word.kind = Kind::leaving;
  }
  return word;
}

}  // namespace

Result<ChannelUrl> parse_channel_url(std::string_view url) {
  constexpr std::string_view secure = "wss://";
  constexpr std::string_view plain = "ws://";
  ChannelUrl parsed{.is_tls = url.starts_with(secure)};
  const std::uint16_t port = parsed.is_tls ? 443 : 80;
  const StoreUrlForm form{.kind = "WebSocket", .default_port = port, .servers_max = 1};
  if (!parsed.is_tls && !url.starts_with(plain)) {
    return wrong_url(form, "it begins with wss:// or ws://");
  }
  const auto rest =
      PAWL_TRY(parse_store_url(url.substr(parsed.is_tls ? secure.size() : plain.size()), form));
  if (!rest.user.empty() || !rest.password.empty()) return wrong_url(form, "it has no user");
  if (!is_visible(rest.path) || !rest.query.empty()) return wrong_url(form, "its path is none");
  parsed.target = rest.servers.front();
  parsed.path = "/" + rest.path;
  return parsed;
}

std::string upgrade_request(const ChannelUrl& url, std::string_view key) {
  std::string request = "GET " + url.path + " HTTP/1.1\r\nHost: " + to_string(url.target);
  request.append("\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13");
  return request.append("\r\nSec-WebSocket-Key: ").append(key).append("\r\n\r\n");
}

std::string why_not_upgraded(const http::ResponseHead& head, std::string_view key) {
  if (head.status != 101) return "it answers with status " + std::to_string(head.status);
  const auto upgrade = head.fields.find_only("upgrade");
  if (!upgrade || !equal_ignoring_case(*upgrade, "websocket") ||
      !head.fields.list_contains("connection", "upgrade")) {
    return "it speaks something else than WebSocket";
  }
  if (head.fields.find_only("sec-websocket-accept") != websocket::accept_of(key)) {
    return "its Sec-WebSocket-Accept is that of another handshake";
  }
  if (head.fields.find("sec-websocket-extensions") || head.fields.find("sec-websocket-protocol")) {
    return "it wants an extension that was not offered";
  }
  return {};
}

std::string subscription() {
  return R"({"op":"subscribe","args":[{"channel":"orders","instType":"ANY"}]})";
}

ChannelWord word_of(std::string_view text) {
  const auto message = json::parse(text);
  if (!message) return {.says = for_people(text)};
  const std::string event = text_of(*message, "event");
  if (!event.empty()) return event_of(*message, event);

  const json::Value* about = message->find("arg");
  const json::Array* rows = venue::list_of(*message, "data");
  if (about == nullptr || rows == nullptr || text_of(*about, "channel") != "orders") {
    return {.says = for_people(text)};
  }
  ChannelWord word{.kind = Kind::orders};
  for (const json::Value& row : *rows) {
    if (auto order = order_of_row(row)) {
      word.orders.push_back(std::move(*order));
    } else {
      ++word.unread;
    }
  }
  return word;
}

}  // namespace pawl::okx
