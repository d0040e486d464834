// Channels: what a venue speaks on a connection that is no HTTP any more (a WebSocket).
//
// Contract: open() is asked for every call that wants to upgrade; null means that there is nothing
//           of the kind at that address, and the call is answered as any other. The tunnel sends
//           the answer's head (101) itself, when its on_open() is called; after that it gets
//           whatever the client sends. A tunnel uses its connection until on_gone(), and may end it
//           with finish(false) or abort().
// Threads:  those of the server's loop.
#pragma once

#include <memory>
#include <string_view>

#include "emulator/core/exchange.h"
#include "pawl/time.h"
#include "server/connection.h"

namespace pawl::emulator {

class Tunnel {
 public:
  virtual ~Tunnel() = default;
  // Sends 101; the connection becomes a tunnel right after it.
  virtual void on_open() = 0;
  virtual void on_data(std::string_view bytes) = 0;
  // The connection is no more; no call comes after this one.
  virtual void on_gone() = 0;
};

class Channels {
 public:
  virtual ~Channels() = default;
  virtual std::shared_ptr<Tunnel> open(server::Connection& connection, const Call& call) = 0;
  // To whoever listens for it.
  virtual void push(const Push& push) = 0;
  // Now and then, with the venue's time.
  virtual void tick(Instant now) = 0;
};

}  // namespace pawl::emulator
