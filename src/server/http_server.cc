#include "server/http_server.h"

#include <utility>

namespace pawl::server {
namespace {

constexpr Duration tick_period = Duration::milliseconds(250);

}  // namespace

HttpServer::HttpServer(net::Loop& loop, Clock& clock, Options options)
    : loop_(loop), clock_(clock), options_(std::move(options)) {}

Result<Endpoint> HttpServer::listen(const Endpoint& endpoint) {
  const Endpoint bound = PAWL_TRY(
      loop_.listen(endpoint, [this](net::StreamPtr stream) { accept(std::move(stream)); }));
  loop_.every(tick_period, [this] { tick(); });
  return bound;
}

void HttpServer::accept(net::StreamPtr stream) {
  if (draining_ || connections_.size() >= options_.connections_max) {
    ++turned_away_;
    stream->close();
    return;
  }
  const auto connection = std::make_shared<Connection>(
      std::move(stream), clock_,
      Connection::Events{.closed = [this](Connection& c) { connections_.erase(&c); },
                         .rejected = options_.rejected});
  connections_.emplace(connection.get(), connection);
  connection->start(options_.make_handler(*connection));
}

void HttpServer::tick() {
  const SteadyInstant now = clock_.steady_now();
  for (const auto& connection : all()) connection->tick(now);
}

void HttpServer::drain() {
  draining_ = true;
  for (const auto& connection : all()) connection->drain();
}

void HttpServer::abort() {
  for (const auto& connection : all()) connection->abort();
}

// A copy: whatever is done to a connection may close it, which changes the map.
std::vector<std::shared_ptr<Connection>> HttpServer::all() const {
  std::vector<std::shared_ptr<Connection>> found;
  found.reserve(connections_.size());
  for (const auto& [key, connection] : connections_) found.push_back(connection);
  return found;
}

}  // namespace pawl::server
