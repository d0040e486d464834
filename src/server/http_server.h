// HttpServer: the connections of one listener on one loop, their deadlines and their end.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "net/loop.h"
#include "pawl/clock.h"
#include "server/connection.h"

namespace pawl::server {

class HttpServer {
 public:
  struct Options {
    std::function<std::shared_ptr<RequestHandler>(Connection&)> make_handler;
    Connection::OnRejected rejected = [](const http::Rejection&, const IpAddress&) {};
    std::size_t connections_max = bounds::connections_max;
  };

  // Loop and clock outlive the server; the loop ends before the server does.
  HttpServer(net::Loop& loop, Clock& clock, Options options);

  Result<Endpoint> listen(const Endpoint& endpoint);
  // Idle connections close now, the others after their current request.
  void drain();
  // Ends every connection at once; requests in flight end as abandoned.
  void abort();
  std::size_t connections() const { return connections_.size(); }
  // Connections turned away because there were too many.
  std::size_t turned_away() const { return turned_away_; }

 private:
  void accept(net::StreamPtr stream);
  void tick();
  std::vector<std::shared_ptr<Connection>> all() const;

  net::Loop& loop_;
  Clock& clock_;
  Options options_;
  bool draining_ = false;
  std::size_t turned_away_ = 0;
  std::unordered_map<Connection*, std::shared_ptr<Connection>> connections_;
};

}  // namespace pawl::server
