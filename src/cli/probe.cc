#include "cli/probe.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "adapter/file/chain_file.h"
#include "base/bounds.h"

namespace pawl::cli {
namespace {

struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t size = 0;
};

SocketAddress socket_address(const Endpoint& endpoint) {
  SocketAddress out;
  const auto& bytes = endpoint.address.bytes();
  if (endpoint.address.is_v4()) {
    sockaddr_in v4 = {};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(endpoint.port);
    std::copy(bytes.begin() + 12, bytes.end(), reinterpret_cast<std::uint8_t*>(&v4.sin_addr));
    std::memcpy(&out.storage, &v4, out.size = sizeof(v4));
  } else {
    sockaddr_in6 v6 = {};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(endpoint.port);
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::uint8_t*>(&v6.sin6_addr));
    std::memcpy(&out.storage, &v6, out.size = sizeof(v6));
  }
  return out;
}

// 0 when a socket could be bound.
int bind_error(const Endpoint& endpoint) {
  const SocketAddress address = socket_address(endpoint);
  const Descriptor socket(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  // Past connections of the port do not matter; a listener does, since the port is not shared here.
  const bool bound =
      socket.get() >= 0 &&
      ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0 &&
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address.storage), address.size) == 0;
  return bound ? 0 : errno;
}

std::string advice(int error) {
  switch (error) {
    case EACCES:
      return "choose a port from 1024 on, or give pawl the right (CAP_NET_BIND_SERVICE)";
    case EADDRNOTAVAIL:
      return "choose an address that this machine has";
    default:
      return "choose another address";
  }
}

// Collects what one connection says.
class Listener final : public net::StreamHandler {
 public:
  explicit Listener(net::Loop& loop) : loop_(loop) {}

  void on_data(std::string_view bytes) override {
    heard_.append(bytes);
    if (heard_.size() >= bounds::http_head_bytes_max) loop_.stop();
  }
  void on_drained() override {}
  void on_closed() override { loop_.stop(); }

  std::string take() { return std::move(heard_); }

 private:
  net::Loop& loop_;
  std::string heard_;
};

}  // namespace

Result<bool> is_free(const Endpoint& endpoint) {
  if (endpoint.port == 0) return true;
  const int error = bind_error(endpoint);
  if (error == 0) return true;
  if (error == EADDRINUSE) return false;
  return failure(Code::unavailable, "cannot listen on " + to_string(endpoint) + " (" +
                                        std::generic_category().message(error) + "); " +
                                        advice(error));
}

Result<void> require_free(const Endpoint& endpoint, std::string_view setting) {
  if (PAWL_TRY(is_free(endpoint))) return {};
  return failure(Code::unavailable, "another program listens on " + to_string(endpoint) +
                                        "; end it, or choose another address with " +
                                        std::string(setting));
}

Result<void> reach(const net::Target& target) {
  Result<void> reached;
  const std::unique_ptr<net::Loop> loop = net::Loop::make();
  loop->connect(target, probe_deadline, [&](Result<net::StreamPtr> stream) {
    if (stream) {
      (*stream)->close();
    } else {
      reached = std::unexpected(std::move(stream).error());
    }
    loop->stop();
  });
  loop->run();
  return reached;
}

Result<std::string> ask(const net::Target& target, std::string_view request) {
  const std::unique_ptr<net::Loop> loop = net::Loop::make();
  Listener listener(*loop);
  net::StreamPtr open;
  Result<void> reached;
  loop->connect(target, probe_deadline, [&](Result<net::StreamPtr> stream) {
    if (!stream) {
      reached = std::unexpected(std::move(stream).error());
      loop->stop();
      return;
    }
    open = *std::move(stream);
    open->start(listener);
    open->send(request);
  });
  loop->every(probe_deadline, [&] { loop->stop(); });
  loop->run();
  if (open) open->close();
  PAWL_TRY(reached);
  return listener.take();
}

}  // namespace pawl::cli
