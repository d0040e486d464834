// OkxChannel: hears of the account's orders over OKX's private WebSocket, and comes back when the
// connection is lost.
//
//   connect ─▶ upgrade ─▶ log in ─▶ subscribe ─▶ hear … lost ─▶ wait ─▶ connect
//
// Contract: `told` is called for every state of an order that OKX tells. What happened while there
//           was no connection is not told later: a channel only makes polling faster, it does not
//           replace it. `note` says in words what became of the connection.
// Silence:  OKX hangs up after 30 s without a word, so it gets the text "ping" after 25 s; if
//           nothing at all comes within bounds::okx_channel_pong_wait, the connection is lost.
//           When OKX says that it will hang up (64008), a new connection is made at once.
// Backoff:  one second, doubled up to a minute; one second again after a subscription.
// Bounds:   a head of bounds::http_head_bytes_max, a message of websocket_message_bytes_max.
// Secrets:  the login is never noted.
// Threads:  those of its loop. Options, loop and ports outlive it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/websocket_frame.h"
#include "core/order/answer.h"
#include "net/loop.h"
#include "net/tls.h"
#include "net/tls_connector.h"
#include "port/entropy.h"
#include "venue/okx/okx_sign.h"
#include "venue/okx/okx_talk.h"

namespace pawl::okx {

class OkxChannel final : public net::StreamHandler {
 public:
  struct Options {
    ChannelUrl url = {};
    Credentials credentials = {};
    std::shared_ptr<const net::Tls> tls = {};  // of a url that wants it
  };
  struct Ports {
    net::Loop& loop;
    Entropy& entropy;
    std::function<Instant()> venue_now;
    std::function<void(order::VenueOrder)> told;
    std::function<void(const std::string&)> note;
  };

  OkxChannel(Options options, Ports ports);
  ~OkxChannel();
  OkxChannel(const OkxChannel&) = delete;
  OkxChannel& operator=(const OkxChannel&) = delete;

  void on_data(std::string_view bytes) override;
  void on_drained() override {}
  void on_closed() override;

 private:
  enum class State : std::uint8_t { waiting, connecting, upgrading, logging_in, subscribing, open };

  void connect();
  void connected(Result<net::StreamPtr> stream);
  bool take_head(std::string_view& bytes);
  void take_frames(std::string_view bytes);
  void hear(const websocket::Message& message);
  void hear_word(const ChannelWord& word);
  void send(websocket::Opcode opcode, std::string_view payload);
  void ping();
  void too_late();
  // Ends the connection and makes another one later, or at once.
  void lose(const std::string& why);
  void hang_up();

  const Options options_;
  const Ports ports_;
  net::TlsConnector connector_;
  // Of an attempt under way: without it nobody is called back.
  std::shared_ptr<bool> attempt_;
  net::StreamPtr stream_;
  State state_ = State::waiting;
  std::string key_;   // of the handshake
  std::string head_;  // of its answer, as far as it has come
  websocket::FrameReader reader_;
  Duration backoff_;
  net::TimerPtr again_;     // then the next attempt is made
  net::TimerPtr deadline_;  // of getting there, and of an answer to a ping
  net::TimerPtr ping_;
};

}  // namespace pawl::okx
