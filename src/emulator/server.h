// Server: an emulated venue on a port: its exchange, its book on the disk, its log, and the port
// from which it is controlled.
//
// Contract: a change is in the book, synced, before its reply leaves; when that cannot be done, the
//           client gets no answer and the server stops, with the reason in failed(). A call that a
//           fault holds back is worked on even when its client has left: that is what the fault is
//           for.
// Threads:  those of its loop.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "base/address.h"
#include "base/bounds.h"
#include "emulator/appended_file.h"
#include "emulator/call_log.h"
#include "emulator/channels.h"
#include "emulator/core/exchange.h"
#include "emulator/door.h"
#include "emulator/virtual_clock.h"
#include "net/loop.h"
#include "pawl/clock.h"
#include "server/http_server.h"
#include "server/responder.h"

namespace pawl::emulator {

// Channels see the exchange that stands beside them; null where the venue has none.
struct Venue {
  std::unique_ptr<Exchange> exchange = {};
  std::unique_ptr<Channels> channels = {};
  std::size_t body_bytes_max = bounds::emulator_body_bytes_max;  // of a call
};

class Server {
 public:
  // Loop and clock outlive it; the loop ends before it does.
  Server(net::Loop& loop, Clock& clock, Venue venue);

  // Before listening. The script first: a book may hold what its settings changed.
  Result<void> play(const std::string& script);
  Result<void> keep_book(const std::string& path);
  Result<void> keep_log(const std::string& path);

  Result<Endpoint> listen(const Endpoint& endpoint);
  Result<Endpoint> listen_for_control(const Endpoint& endpoint);

  // Why it stopped by itself, if it did.
  const std::optional<Error>& failed() const { return failed_; }

 private:
  struct Wait {
    net::TimerPtr timer = {};
  };

  void take(Call call, const std::shared_ptr<Line>& line);
  void work(const Call& call, const std::shared_ptr<Line>& line);
  void push(bool before_reply);
  bool keep_changes();
  void fail(const Error& error);
  void restart();
  void later(Duration wait, std::function<void()> action);
  void tick();

  server::Response control(const server::Request& request);
  Result<std::string> steer(const server::Request& request);
  Result<std::string> move_clock(const std::string& body);

  net::Loop& loop_;
  VirtualClock clock_;
  Venue venue_;
  std::optional<AppendedFile> book_;
  CallLog log_;
  std::uint64_t calls_ = 0;
  std::vector<Push> pushes_;
  std::list<Wait> waits_;
  std::optional<Error> failed_;
  server::HttpServer door_;
  server::HttpServer control_;
};

}  // namespace pawl::emulator
