// HttpServer: the connections of one listener on one loop, their deadlines and their end.
//
// Contract: a connection is turned away (closed at once) when there is no room for it. With TLS it
//           must be greeted within bounds::tls_greeting_deadline.
// Threads:  those of its loop; an Admission may be shared by the servers of several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "net/loop.h"
#include "net/tls.h"
#include "pawl/clock.h"
#include "server/admission.h"
#include "server/connection.h"

namespace pawl::server {

class HttpServer final : private ConnectionOwner {
 public:
  struct Options {
    std::function<std::shared_ptr<RequestHandler>(Connection&)> make_handler = {};
    std::function<void(const http::Rejection&, const IpAddress&)> rejected =
        [](const http::Rejection&, const IpAddress&) {};
    std::size_t connections_max = bounds::connections_max;  // without an admission
    std::shared_ptr<Admission> admission = {};
    std::shared_ptr<const net::Tls> tls = {};  // null: none is spoken
    Timeouts timeouts = {};
  };

  // Loop and clock outlive the server; the loop ends before the server does.
  HttpServer(net::Loop& loop, Clock& clock, Options options);

  Result<Endpoint> listen(const Endpoint& endpoint);
  // From now on, of the connections that are there too.
  void change(const Timeouts& timeouts) { options_.timeouts = timeouts; }
  // Of those that come from now on.
  void change(std::shared_ptr<const net::Tls> tls) { options_.tls = std::move(tls); }
  // Idle connections close now, the others after their current request.
  void drain();
  // Ends every connection at once; requests in flight end as abandoned.
  void abort();
  std::size_t connections() const { return connections_.size(); }
  // Connections turned away because there were too many.
  std::size_t turned_away() const { return turned_away_; }

 private:
  struct Guest {
    std::shared_ptr<Connection> connection;
    Admission::Place place;
  };
  // A connection that has yet to say hello in TLS.
  struct Greeting {
    net::StreamPtr stream;
    Admission::Place place;
    SteadyInstant due;
  };

  std::shared_ptr<RequestHandler> make_handler(Connection& connection) override;
  void on_rejected(const http::Rejection& rejection, const IpAddress& peer) override;
  void on_closed(Connection& connection) override;
  const Timeouts& timeouts() const override { return options_.timeouts; }

  void accept(net::StreamPtr stream);
  void greet(net::StreamPtr plain, Admission::Place place);
  void greeted(std::uint64_t number, bool good);
  void open(net::StreamPtr stream, Admission::Place place);
  void end_greetings(SteadyInstant due);
  void tick();
  std::vector<std::shared_ptr<Connection>> all() const;

  net::Loop& loop_;
  Clock& clock_;
  Options options_;
  bool draining_ = false;
  std::size_t turned_away_ = 0;
  std::uint64_t last_greeting_ = 0;
  std::map<std::uint64_t, Greeting> greetings_;
  std::unordered_map<Connection*, Guest> connections_;
};

}  // namespace pawl::server
