#include "emulator/okx_channel.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/bounds.h"
#include "base/text.h"
#include "base/websocket_frame.h"
#include "emulator/core/calls.h"
#include "emulator/core/okx_session.h"

namespace pawl::emulator {
namespace {

using websocket::CloseCode;
using websocket::Message;
using websocket::Opcode;

constexpr std::string_view private_path = "/ws/v5/private";
constexpr std::string_view version = "13";

}  // namespace

class OkxTunnel final : public Tunnel {
 public:
  struct Opening {
    std::string key = {};  // Sec-WebSocket-Key
    bool is_one_too_many = false;
    Instant now = {};
  };

  OkxTunnel(server::Connection& connection, OkxSession session, Opening opening)
      : connection_(&connection),
        session_(std::move(session)),
        opening_(std::move(opening)),
        heard_(opening_.now) {}

  void on_open() override {
    std::string head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n";
    head.append("Connection: Upgrade\r\nSec-WebSocket-Accept: ");
    head.append(websocket::accept_of(opening_.key)).append("\r\n\r\n");
    connection_->send(head);
  }

  void on_data(std::string_view bytes) override {
    while (connection_ != nullptr) {
      const auto message = reader_.feed(bytes);
      if (!message) return end(message.error(), "");
      if (!*message) return;
      hear(**message);
    }
  }

  void on_gone() override { connection_ = nullptr; }

  void tell(const json::Value& order) {
    for (const std::string& text : session_.tell(order)) say(text);
  }

  void tick(Instant now, Duration idle) {
    if (opening_.is_one_too_many) return end(CloseCode::policy, "Connection too frequent");
    // A clock that was set back begins the wait anew.
    if (now < heard_) heard_ = now;
    now_ = now;
    if (now - heard_ > idle) end(CloseCode::going_away, "No data received in 30s.");
  }

  void end(CloseCode code, std::string_view reason) {
    if (connection_ == nullptr) return;
    server::Connection& connection = *std::exchange(connection_, nullptr);
    connection.send(websocket::close_frame(code, reason));
    connection.finish(false);
  }

  bool is_open() const { return connection_ != nullptr; }

 private:
  void hear(const Message& message) {
    heard_ = now_;
    switch (message.opcode) {
      case Opcode::text:
        for (const std::string& text : session_.hear(message.payload, now_)) say(text);
        break;
      case Opcode::ping:
        send(websocket::frame(Opcode::pong, message.payload));
        break;
      case Opcode::close:
        end(CloseCode::normal, "");
        break;
      case Opcode::binary:
        end(CloseCode::unsupported, "");
        break;
      case Opcode::pong:
      case Opcode::continuation:
        break;
    }
  }

  void say(std::string_view text) {
    heard_ = now_;
    send(websocket::frame(Opcode::text, text));
  }

  void send(std::string_view bytes) {
    if (connection_ == nullptr) return;
    connection_->send(bytes);
    if (connection_->queued_bytes() > bounds::send_queue_bytes_max) {
      std::exchange(connection_, nullptr)->abort();
    }
  }

  server::Connection* connection_;
  OkxSession session_;
  Opening opening_;
  Instant heard_;  // when something was said, by either side
  Instant now_ = heard_;
  websocket::FrameReader reader_{websocket::From::client};
};

OkxChannels::OkxChannels(const OkxExchange& exchange) : exchange_(exchange) {}

OkxChannels::~OkxChannels() = default;

std::shared_ptr<Tunnel> OkxChannels::open(server::Connection& connection, const Call& call) {
  const std::string_view key = field(call, "sec-websocket-key");
  const bool is_ours = call.path == private_path && !key.empty() &&
                       equal_ignoring_case(field(call, "upgrade"), "websocket") &&
                       field(call, "sec-websocket-version") == version;
  if (!is_ours || present().size() >= bounds::okx_channels_max) return nullptr;
  // Settings may have changed since.
  const std::size_t limit = exchange_.settings().connects_a_second;
  if (connects_.limit() != limit) connects_ = Windows(limit, Duration::seconds(1));
  const bool is_timely = connects_.take(to_string(connection.peer()), now_);
  const auto tunnel = std::make_shared<OkxTunnel>(
      connection, OkxSession(exchange_.settings(), ++opened_),
      OkxTunnel::Opening{.key = std::string(key), .is_one_too_many = !is_timely, .now = now_});
  tunnels_.push_back(tunnel);
  return tunnel;
}

std::vector<std::shared_ptr<OkxTunnel>> OkxChannels::present() {
  std::vector<std::shared_ptr<OkxTunnel>> present;
  std::erase_if(tunnels_, [&](const std::weak_ptr<OkxTunnel>& known) {
    std::shared_ptr<OkxTunnel> tunnel = known.lock();
    if (!tunnel || !tunnel->is_open()) return true;
    present.push_back(std::move(tunnel));
    return false;
  });
  return present;
}

void OkxChannels::push(const Push& push) {
  if (push.channel == okx_close_push) {
    for (const auto& tunnel : present()) tunnel->end(CloseCode::going_away, "");
    return;
  }
  const Result<json::Value> order = json::parse(push.text);
  if (!order) return;
  for (const auto& tunnel : present()) tunnel->tell(*order);
}

void OkxChannels::tick(Instant now) {
  now_ = now;
  for (const auto& tunnel : present()) tunnel->tick(now, exchange_.settings().channel_idle);
}

}  // namespace pawl::emulator
