// Door: the server's side of one client's connection to an emulated venue. It makes a whole Call of
// a request, and does to the bytes of the Reply what the reply asks for: cut, halve, send twice.
//
// Contract: a Line is where one call's reply goes to. It may outlive its connection: then what is
//           sent goes nowhere.
// Bounds:   DoorOptions::body_bytes_max of a call.
// Threads:  those of the server's loop.
#pragma once

#include <functional>
#include <memory>

#include "base/bounds.h"
#include "emulator/channels.h"
#include "emulator/core/exchange.h"
#include "server/connection.h"

namespace pawl::emulator {

class Line {
 public:
  struct Client {
    bool keep_alive = true;
    bool asked_for_head = false;
  };

  Line(server::Connection& connection, Client client) : connection_(&connection), client_(client) {}

  // Once. `now` is what the answer's Date says.
  void send(const Reply& reply, Instant now);
  void detach() { connection_ = nullptr; }

 private:
  server::Connection* connection_;
  Client client_;
};

// The call has no number yet.
using TakeCall = std::function<void(Call, std::shared_ptr<Line>)>;

// A handler for one connection.
struct DoorOptions {
  TakeCall take = {};
  Channels* channels = nullptr;  // outlive it; may be null
  std::size_t body_bytes_max = bounds::emulator_body_bytes_max;
};
std::shared_ptr<server::RequestHandler> make_door(server::Connection& connection,
                                                  DoorOptions options);

}  // namespace pawl::emulator
