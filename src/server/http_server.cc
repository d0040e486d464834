#include "server/http_server.h"

#include <utility>

namespace pawl::server {
namespace {

constexpr Duration tick_period = Duration::milliseconds(250);

}  // namespace

HttpServer::HttpServer(net::Loop& loop, Clock& clock, Options options)
    : loop_(loop), clock_(clock), options_(std::move(options)) {
  if (!options_.admission) {
    const auto most = static_cast<std::int64_t>(options_.connections_max);
    options_.admission =
        std::make_shared<Admission>(Admission::Rule{.connections = most, .per_address = most});
  }
}

Result<Endpoint> HttpServer::listen(const Endpoint& endpoint) {
  const Endpoint bound = PAWL_TRY(
      loop_.listen(endpoint, [this](net::StreamPtr stream) { accept(std::move(stream)); }));
  loop_.every(tick_period, [this] { tick(); });
  return bound;
}

void HttpServer::accept(net::StreamPtr stream) {
  auto place = options_.admission->enter(stream->peer());
  if (draining_ || !place) {
    ++turned_away_;
    stream->close();
    return;
  }
  if (options_.tls) {
    greet(std::move(stream), *std::move(place));
  } else {
    open(std::move(stream), *std::move(place));
  }
}

void HttpServer::greet(net::StreamPtr plain, Admission::Place place) {
  const std::uint64_t number = ++last_greeting_;
  auto stream = options_.tls->accept(
      loop_, std::move(plain),
      [this, number](const Result<void>& how) { greeted(number, how.has_value()); });
  if (!stream) return;
  const SteadyInstant due = clock_.steady_now() + bounds::tls_greeting_deadline;
  greetings_.emplace(number, Greeting{std::move(*stream), std::move(place), due});
}

void HttpServer::greeted(std::uint64_t number, bool good) {
  auto node = greetings_.extract(number);
  if (node.empty() || !good) return;
  Greeting& greeting = node.mapped();
  open(std::move(greeting.stream), std::move(greeting.place));
}

void HttpServer::open(net::StreamPtr stream, Admission::Place place) {
  const auto connection =
      std::make_shared<Connection>(std::move(stream), clock_, static_cast<ConnectionOwner&>(*this));
  connections_.emplace(connection.get(), Guest{connection, std::move(place)});
  connection->start();
}

std::shared_ptr<RequestHandler> HttpServer::make_handler(Connection& connection) {
  return options_.make_handler(connection);
}

void HttpServer::on_rejected(const http::Rejection& rejection, const IpAddress& peer) {
  options_.rejected(rejection, peer);
}

void HttpServer::on_closed(Connection& connection) {
  connections_.erase(&connection);
}

void HttpServer::tick() {
  const SteadyInstant now = clock_.steady_now();
  end_greetings(now);
  for (const auto& connection : all()) connection->tick(now);
}

// Of those that were due by then.
void HttpServer::end_greetings(SteadyInstant due) {
  for (auto& [number, greeting] : greetings_) {
    if (greeting.due <= due) greeting.stream->close();
  }
  std::erase_if(greetings_, [due](const auto& entry) { return entry.second.due <= due; });
}

void HttpServer::drain() {
  draining_ = true;
  end_greetings(SteadyInstant::max());
  for (const auto& connection : all()) connection->drain();
}

void HttpServer::abort() {
  end_greetings(SteadyInstant::max());
  for (const auto& connection : all()) connection->abort();
}

// A copy: whatever is done to a connection may close it, which changes the map.
std::vector<std::shared_ptr<Connection>> HttpServer::all() const {
  std::vector<std::shared_ptr<Connection>> found;
  found.reserve(connections_.size());
  for (const auto& [key, guest] : connections_) found.push_back(guest.connection);
  return found;
}

}  // namespace pawl::server
