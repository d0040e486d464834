// OkxChannels: the WebSockets of the emulated OKX (/ws/v5/private), on which it tells of orders.
//
// Contract: as emulator/channels.h. What is said is decided in core/okx_session.h; here is the
//           handshake, the framing, and the end of a connection: one on which nothing was said for
//           OkxSettings::channel_idle is closed, and so is one that comes too soon behind others.
// Bounds:   bounds::okx_channels_max connections, and what a client may leave untaken
//           (bounds::send_queue_bytes_max), after which it is let go.
// Threads:  those of the server's loop. The exchange outlives it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/channels.h"
#include "emulator/core/okx_exchange.h"
#include "emulator/core/windows.h"

namespace pawl::emulator {

class OkxTunnel;

class OkxChannels final : public Channels {
 public:
  explicit OkxChannels(const OkxExchange& exchange);
  ~OkxChannels() override;

  std::shared_ptr<Tunnel> open(server::Connection& connection, const Call& call) override;
  void push(const Push& push) override;
  void tick(Instant now) override;

 private:
  std::vector<std::shared_ptr<OkxTunnel>> present();

  const OkxExchange& exchange_;
  Instant now_;
  std::uint64_t opened_ = 0;
  Windows connects_ = {0, Duration::seconds(1)};
  std::vector<std::weak_ptr<OkxTunnel>> tunnels_;
};

}  // namespace pawl::emulator
