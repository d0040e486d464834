#include "tests/fault_proxy/fault_proxy.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <list>
#include <mutex>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <thread>
#include <utility>
#include <vector>

#include "tests/fault_proxy/connection.h"

namespace pawl {

using namespace fault_proxy;

namespace {

constexpr std::size_t chunk_bytes_max = 16 * 1024;
constexpr std::size_t connections_max = 256;
constexpr Duration tick = Duration::milliseconds(1);
// How long a reset waits for the bytes before it to arrive; a receiver that does not read loses
// them.
constexpr Duration arrival_wait_max = Duration::seconds(1);

SteadyInstant steady_now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return SteadyInstant::from_ns(std::chrono::nanoseconds(since).count());
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

Descriptor tcp_socket() {
  return Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

void send_at_once(const Descriptor& socket) {
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

// Only the loop's thread opens, closes and moves bytes; callers change plans and read counters.
class FaultProxy::Loop {
 public:
  explicit Loop(std::uint16_t upstream_port) : upstream_port_(upstream_port) {}
  ~Loop();

  void start(std::uint16_t listen_port);
  const Result<void>& started() const { return started_; }
  std::uint16_t port() const { return port_; }

  void set(const Fault& fault);
  void clear();
  std::uint64_t connections() const;
  std::uint64_t bytes(Direction direction) const;
  std::uint64_t count(FaultKind kind, Direction direction) const;

 private:
  Result<void> listen(std::uint16_t listen_port);
  void run();
  void wake();
  void step();
  void accept_next();
  void lose_server(Connection& connection);
  void read(Connection& connection, Direction direction);
  void arrive(Lane& lane, Direction direction, Chunk chunk);
  SteadyInstant due(const Lane& lane, Direction direction) const;
  void write(Connection& connection, Direction direction);
  void pass_front(Connection& connection, Direction direction);
  void pass_bytes(Connection& connection, Direction direction);
  void cut(Connection& connection, Direction direction);
  void finish_reset(Connection& connection);
  void watch(const Connection& connection);
  void wake_at(SteadyInstant instant) { wake_at_ = std::min(wake_at_, instant); }
  void strike(FaultKind kind, Direction direction) {
    ++counts_[static_cast<std::size_t>(kind)][index(direction)];
  }

  const std::uint16_t upstream_port_;
  std::uint16_t port_ = 0;
  Result<void> started_;
  Descriptor listener_;
  Descriptor wake_;
  std::thread thread_;

  mutable std::mutex lock_;  // guards what follows; the thread lets go of it only while it polls
  bool stopping_ = false;
  bool refuse_ = false;
  bool half_open_ = false;
  std::array<Plan, 2> plans_;
  std::list<Connection> connections_;
  std::uint64_t accepted_ = 0;
  std::array<std::uint64_t, 2> bytes_{};
  std::array<std::array<std::uint64_t, 2>, fault_kinds> counts_{};
  // Of the step under way.
  SteadyInstant now_;
  SteadyInstant wake_at_;
  std::vector<pollfd> watched_;
};

FaultProxy::Loop::~Loop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard guard(lock_);
    stopping_ = true;
  }
  wake();
  thread_.join();
}

void FaultProxy::Loop::start(std::uint16_t listen_port) {
  started_ = listen(listen_port);
  if (started_) thread_ = std::thread([this] { run(); });
}

Result<void> FaultProxy::Loop::listen(std::uint16_t listen_port) {
  const auto failed = [&](const char* what) {
    return failure(Code::unavailable, "the fault proxy could not " + std::string(what) +
                                          " 127.0.0.1:" + std::to_string(listen_port) + ": " +
                                          std::strerror(errno) + "; port 0 takes a free one");
  };
  wake_ = Descriptor(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  listener_ = tcp_socket();
  if (!wake_.open() || !listener_.open()) return failed("open sockets for");
  const int on = 1;
  ::setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address = loopback(listen_port);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_.get(), generic, size) != 0) return failed("take");
  if (::listen(listener_.get(), SOMAXCONN) != 0) return failed("listen on");
  if (::getsockname(listener_.get(), generic, &size) != 0) return failed("read back");
  port_ = ntohs(address.sin_port);
  return {};
}

void FaultProxy::Loop::wake() {
  // Fails only when the counter is full, and then the thread is woken anyway.
  (void)!::eventfd_write(wake_.get(), 1);
}

void FaultProxy::Loop::set(const Fault& fault) {
  const std::lock_guard guard(lock_);
  Plan& plan = plans_[index(fault.direction)];
  switch (fault.kind) {
    case FaultKind::delay:
      plan.delay = fault.time;
      break;
    case FaultKind::cut:
      plan.cut = Cut{fault.bytes, fault.ending};
      for (Connection& connection : connections_) connection.lane(fault.direction).cut = plan.cut;
      break;
    case FaultKind::drop:
      plan.drop = true;
      break;
    case FaultKind::duplicate:
      plan.duplicate = true;
      break;
    case FaultKind::stall:
      plan.stall = true;
      break;
    case FaultKind::dribble:
      plan.dribble = fault.time;
      break;
    case FaultKind::refuse:
      refuse_ = true;
      break;
    case FaultKind::half_open:
      half_open_ = true;
      for (Connection& connection : connections_) connection.lose_server = true;
      break;
  }
  wake();
}

void FaultProxy::Loop::clear() {
  const std::lock_guard guard(lock_);
  plans_ = {};
  refuse_ = false;
  half_open_ = false;
  for (Connection& connection : connections_) {
    for (Lane& lane : connection.lanes) lane.cut.reset();
  }
  wake();
}

std::uint64_t FaultProxy::Loop::connections() const {
  const std::lock_guard guard(lock_);
  return accepted_;
}

std::uint64_t FaultProxy::Loop::bytes(Direction direction) const {
  const std::lock_guard guard(lock_);
  return bytes_[index(direction)];
}

std::uint64_t FaultProxy::Loop::count(FaultKind kind, Direction direction) const {
  const std::lock_guard guard(lock_);
  return counts_[static_cast<std::size_t>(kind)][index(direction)];
}

void FaultProxy::Loop::run() {
  std::unique_lock guard(lock_);
  while (!stopping_) {
    step();
    const auto wait = std::clamp(wake_at_ - now_, Duration(), Duration::minutes(1));
    guard.unlock();
    ::poll(watched_.data(), watched_.size(), static_cast<int>(wait.milliseconds_up()));
    eventfd_t wakes = 0;
    (void)!::eventfd_read(wake_.get(), &wakes);
    guard.lock();
  }
  connections_.clear();
}

// Tries everything that may be possible; poll only says when to try again.
void FaultProxy::Loop::step() {
  now_ = steady_now();
  wake_at_ = SteadyInstant::max();
  watched_.assign({{.fd = wake_.get(), .events = POLLIN, .revents = 0}});
  for (Connection& connection : connections_) {
    if (connection.lose_server) lose_server(connection);
    for (const Direction direction : {Direction::to_server, Direction::to_client}) {
      read(connection, direction);
      write(connection, direction);
    }
    if (connection.reset_by) finish_reset(connection);
  }
  connections_.remove_if([](const Connection& connection) { return connection.over(); });
  accept_next();
  for (const Connection& connection : connections_) watch(connection);
}

void FaultProxy::Loop::accept_next() {
  if (connections_.size() >= connections_max) return;
  Descriptor client(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!client.open()) {
    // Out of descriptors: the listener stays readable, so watching it would spin.
    const bool none_waiting = errno == EAGAIN || errno == ECONNABORTED || errno == EINTR;
    if (!none_waiting) return wake_at(now_ + tick);
    watched_.push_back({.fd = listener_.get(), .events = POLLIN, .revents = 0});
    return;
  }
  wake_at(now_);  // there may be more
  ++accepted_;
  if (refuse_) {
    strike(FaultKind::refuse, Direction::to_client);
    return client.reset();
  }
  Connection connection;
  send_at_once(client);
  connection.client = std::move(client);
  connection.lose_server = half_open_;
  for (const Direction direction : {Direction::to_server, Direction::to_client}) {
    connection.lane(direction).cut = plans_[index(direction)].cut;
  }
  if (!half_open_) {
    connection.server = tcp_socket();
    const sockaddr_in address = loopback(upstream_port_);
    const int connected = ::connect(connection.server.get(),
                                    reinterpret_cast<const sockaddr*>(&address), sizeof address);
    // A refusal that comes later shows up as an error of the first read.
    if (connected != 0 && errno != EINPROGRESS) return connection.reset();
    send_at_once(connection.server);
  }
  connections_.push_back(std::move(connection));
}

void FaultProxy::Loop::lose_server(Connection& connection) {
  connection.lose_server = false;
  if (connection.lane(Direction::to_server).deaf) return;
  connection.server.close();
  connection.lane(Direction::to_server).silence();
  connection.lane(Direction::to_client).silence();
  connection.lane(Direction::to_client).ended = true;
  strike(FaultKind::half_open, Direction::to_client);
}

// One read a step, so that a fast sender cannot keep the lock.
void FaultProxy::Loop::read(Connection& connection, Direction direction) {
  Lane& lane = connection.lane(direction);
  if (!lane.wants_bytes() || connection.reset_by) return;
  std::array<char, chunk_bytes_max> buffer;
  const ssize_t got = ::recv(connection.source(direction).get(), buffer.data(), buffer.size(), 0);
  if (got > 0) {
    const std::string bytes(buffer.data(), static_cast<std::size_t>(got));
    return arrive(lane, direction, {Chunk::Kind::bytes, bytes, now_});
  }
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  lane.ended = true;
  const bool reset = got < 0 || lane.source_reset;
  arrive(lane, direction, {reset ? Chunk::Kind::reset : Chunk::Kind::end, {}, now_});
}

void FaultProxy::Loop::arrive(Lane& lane, Direction direction, Chunk chunk) {
  Plan& plan = plans_[index(direction)];
  if (lane.deaf) return;
  const bool has_bytes = chunk.kind == Chunk::Kind::bytes;
  if (plan.drop) {
    if (has_bytes) strike(FaultKind::drop, direction);
    return;
  }
  if (has_bytes && plan.delay > Duration()) strike(FaultKind::delay, direction);
  if (has_bytes && plan.dribble > Duration()) strike(FaultKind::dribble, direction);
  if (has_bytes && plan.stall) strike(FaultKind::stall, direction);
  if (has_bytes && plan.duplicate) {
    strike(FaultKind::duplicate, direction);
    plan.duplicate = false;
    lane.queued_bytes += chunk.bytes.size();
    lane.queue.push_back(chunk);
  }
  lane.queued_bytes += chunk.bytes.size();
  lane.queue.push_back(std::move(chunk));
}

SteadyInstant FaultProxy::Loop::due(const Lane& lane, Direction direction) const {
  const Plan& plan = plans_[index(direction)];
  if (plan.stall) return SteadyInstant::max();
  const SteadyInstant delayed = lane.queue.front().arrived + plan.delay;
  return plan.dribble > Duration() ? std::max(delayed, lane.next_byte) : delayed;
}

void FaultProxy::Loop::write(Connection& connection, Direction direction) {
  Lane& lane = connection.lane(direction);
  lane.blocked = false;
  while (!lane.queue.empty() && !lane.blocked && !connection.reset_by) {
    const SteadyInstant at = due(lane, direction);
    if (at > now_) return wake_at(at);
    pass_front(connection, direction);
  }
}

void FaultProxy::Loop::pass_front(Connection& connection, Direction direction) {
  Lane& lane = connection.lane(direction);
  switch (lane.queue.front().kind) {
    case Chunk::Kind::bytes:
      return pass_bytes(connection, direction);
    case Chunk::Kind::end:
      ::shutdown(connection.sink(direction).get(), SHUT_WR);
      lane.queue.pop_front();
      return;
    case Chunk::Kind::reset:
      connection.reset_by = {direction, now_ + arrival_wait_max};
      return;
  }
}

void FaultProxy::Loop::pass_bytes(Connection& connection, Direction direction) {
  Lane& lane = connection.lane(direction);
  const Duration dribble = plans_[index(direction)].dribble;
  std::string& bytes = lane.queue.front().bytes;
  std::size_t size = dribble > Duration() ? 1 : bytes.size();
  if (lane.cut) size = std::min(size, lane.cut->left);
  const ssize_t sent = ::send(connection.sink(direction).get(), bytes.data(), size, MSG_NOSIGNAL);
  if (sent < 0) {
    lane.blocked = errno == EAGAIN || errno == EINTR;
    if (lane.blocked) return;
    Lane& back = connection.lane(opposite(direction));
    lane.silence();
    back.source_reset = true;
    if (back.ended) connection.reset_by = {direction, now_};
    return;
  }
  const auto passed = static_cast<std::size_t>(sent);
  bytes_[index(direction)] += passed;
  lane.queued_bytes -= passed;
  lane.next_byte = now_ + dribble;
  bytes.erase(0, passed);
  if (bytes.empty()) lane.queue.pop_front();
  if (!lane.cut) return;
  lane.cut->left -= passed;
  if (lane.cut->left == 0) cut(connection, direction);
}

void FaultProxy::Loop::cut(Connection& connection, Direction direction) {
  strike(FaultKind::cut, direction);
  const Ending ending = connection.lane(direction).cut->ending;
  for (Lane& lane : connection.lanes) {
    lane.silence();
    lane.cut.reset();
  }
  if (ending == Ending::rst) {
    connection.reset_by = {direction, now_ + arrival_wait_max};
    return;
  }
  // Not closed yet: closing with bytes unread would send a reset after the end.
  ::shutdown(connection.client.get(), SHUT_WR);
  ::shutdown(connection.server.get(), SHUT_WR);
}

// A reset overtakes what the kernel has not delivered, so it waits until that has arrived.
void FaultProxy::Loop::finish_reset(Connection& connection) {
  const auto& [direction, deadline] = *connection.reset_by;
  int waiting = 0;
  ::ioctl(connection.sink(direction).get(), TIOCOUTQ, &waiting);
  if (waiting == 0 || now_ >= deadline) return connection.reset();
  wake_at(now_ + tick);
}

void FaultProxy::Loop::watch(const Connection& connection) {
  if (connection.reset_by) return;
  const Lane& to_server = connection.lanes[index(Direction::to_server)];
  const Lane& to_client = connection.lanes[index(Direction::to_client)];
  const auto add = [&](const Descriptor& socket, const Lane& from, const Lane& into) {
    const int events = (from.wants_bytes() ? POLLIN : 0) | (into.blocked ? POLLOUT : 0);
    if (events == 0) return;  // poll would report a hang-up again and again
    watched_.push_back({.fd = socket.get(), .events = static_cast<short>(events), .revents = 0});
  };
  add(connection.client, to_server, to_client);
  add(connection.server, to_client, to_server);
}

FaultProxy::FaultProxy(std::uint16_t upstream_port, std::uint16_t listen_port)
    : loop_(std::make_unique<Loop>(upstream_port)) {
  loop_->start(listen_port);
}

FaultProxy::~FaultProxy() = default;

Result<void> FaultProxy::started() const {
  return loop_->started();
}

std::uint16_t FaultProxy::port() const {
  return loop_->port();
}

void FaultProxy::set(const Fault& fault) {
  loop_->set(fault);
}

void FaultProxy::clear() {
  loop_->clear();
}

std::uint64_t FaultProxy::connections() const {
  return loop_->connections();
}

std::uint64_t FaultProxy::bytes(Direction direction) const {
  return loop_->bytes(direction);
}

std::uint64_t FaultProxy::count(FaultKind kind, Direction direction) const {
  return loop_->count(kind, direction);
}

}  // namespace pawl
