// Goal: every fault does to a connection what its name says, seen from the client and from the
// server,
//       and the proxy is transparent without one.
// Method: a real echo server behind the proxy. Every wait is a poll with a deadline; "nothing
// comes" is
//       shown by what comes next, or after the proxy has counted the bytes it held back.
#include "tests/fault_proxy/fault_proxy.h"

#include <arpa/inet.h>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <functional>
#include <gtest/gtest.h>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tests/fault_proxy/connection.h"

namespace pawl {
namespace {

using fault_proxy::Descriptor;
using Steady = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr auto patience = std::chrono::seconds(10);

// Waits for the events until the deadline; false when it passed.
bool ready(int fd, short events, Steady::time_point deadline) {
  pollfd watched{.fd = fd, .events = events, .revents = 0};
  const auto left = std::chrono::ceil<milliseconds>(deadline - Steady::now()).count();
  return left > 0 && ::poll(&watched, 1, static_cast<int>(left)) > 0;
}

// For what only the proxy or the server can see: asks again every millisecond.
bool eventually(const std::function<bool()>& holds) {
  const auto deadline = Steady::now() + patience;
  while (!holds()) {
    if (Steady::now() > deadline) return false;
    ::poll(nullptr, 0, 1);
  }
  return true;
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// A socket on a free loopback port that does not listen yet: connecting to it is refused.
Descriptor bound_socket() {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = loopback(0);
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return socket;
}

std::uint16_t port_of(const Descriptor& socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  return ntohs(address.sin_port);
}

enum class End : std::uint8_t { none, fin, rst };

class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_in address = loopback(port);
    connected_ =
        ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::fcntl(socket_.get(), F_SETFL, O_NONBLOCK);
  }

  bool connected() const { return connected_; }

  bool send(std::string_view bytes) {
    const auto deadline = Steady::now() + patience;
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent > 0) {
        bytes.remove_prefix(static_cast<std::size_t>(sent));
      } else if (errno != EAGAIN || !ready(socket_.get(), POLLOUT, deadline)) {
        return false;
      }
    }
    return true;
  }

  // Sends pieces until the receiver takes no more for a while; what was sent.
  std::string send_until_blocked(const std::string& piece) {
    std::string sent;
    while (sent.size() < 64 * 1024 * 1024) {
      const ssize_t taken = ::send(socket_.get(), piece.data(), piece.size(), MSG_NOSIGNAL);
      if (taken > 0) {
        sent.append(piece, 0, static_cast<std::size_t>(taken));
      } else if (!ready(socket_.get(), POLLOUT, Steady::now() + milliseconds(50))) {
        break;
      }
    }
    return sent;
  }

  // What comes until there are `size` bytes, the connection ends or patience does.
  std::string receive(std::size_t size) {
    const auto deadline = Steady::now() + patience;
    std::string bytes;
    while (bytes.size() < size && end_ == End::none) {
      if (!ready(socket_.get(), POLLIN, deadline)) break;
      bytes += take(size - bytes.size());
    }
    return bytes;
  }

  // How the connection ended; none when it did not within the deadline. Bytes on the way there are
  // a failure.
  End ending() {
    EXPECT_EQ(receive(1), "");
    return end_;
  }

  // Without waiting: nothing has come and the connection stands.
  bool hears_nothing() { return take(1).empty() && end_ == End::none; }

  void stop_sending() { ::shutdown(socket_.get(), SHUT_WR); }
  void reset() { socket_.reset(); }

 private:
  std::string take(std::size_t size) {
    std::string bytes(size, '\0');
    const ssize_t got = ::recv(socket_.get(), bytes.data(), size, 0);
    if (got == 0) end_ = End::fin;
    if (got < 0 && errno != EAGAIN) end_ = End::rst;
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
  }

  Descriptor socket_;
  bool connected_ = false;
  End end_ = End::none;
};

// Sends back what it reads, on any number of connections, and keeps a tally of what it saw.
class EchoServer {
 public:
  EchoServer() : listener_(bound_socket()), port_(port_of(listener_)) {
    EXPECT_EQ(::listen(listener_.get(), SOMAXCONN), 0);
    thread_ = std::thread([this] { run(); });
  }
  ~EchoServer() {
    stopping_ = true;
    const Client wake(port_);
    thread_.join();
  }

  std::uint16_t port() const { return port_; }

  std::atomic<int> connections = 0;
  std::atomic<std::uint64_t> bytes = 0;
  std::atomic<int> fins = 0;
  std::atomic<int> resets = 0;

 private:
  void run() {
    std::vector<Descriptor> clients;
    while (!stopping_) {
      std::vector<pollfd> watched = {{.fd = listener_.get(), .events = POLLIN, .revents = 0}};
      for (const Descriptor& client : clients) {
        watched.push_back({.fd = client.get(), .events = POLLIN, .revents = 0});
      }
      ::poll(watched.data(), watched.size(), -1);
      for (std::size_t i = 0; i < clients.size(); ++i) {
        if (watched[i + 1].revents != 0) echo(clients[i]);
      }
      std::erase_if(clients, [](const Descriptor& client) { return !client.open(); });
      if (watched[0].revents != 0) {
        clients.emplace_back(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        ++connections;
      }
    }
  }

  // A reset is seen by the read or by the write, whichever comes first.
  void echo(Descriptor& client) {
    std::array<char, 4096> buffer;
    const ssize_t got = ::recv(client.get(), buffer.data(), buffer.size(), 0);
    if (got == 0) ++fins;
    if (got == 0) return client.close();
    const auto size = static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    bytes += size;
    if (got > 0 && ::send(client.get(), buffer.data(), size, MSG_NOSIGNAL) > 0) return;
    ++resets;
    client.close();
  }

  Descriptor listener_;
  std::uint16_t port_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

class FaultProxyTest : public testing::Test {
 protected:
  // The connection works, and everything sent on it so far has come back.
  static void expect_echo(Client& client, const std::string& text) {
    ASSERT_TRUE(client.send(text));
    ASSERT_EQ(client.receive(text.size()), text);
  }

  static Steady::duration time_of_echo(Client& client, const std::string& text) {
    const auto start = Steady::now();
    expect_echo(client, text);
    return Steady::now() - start;
  }

  EchoServer server;
  FaultProxy proxy{server.port()};
};

TEST_F(FaultProxyTest, IsTransparentWithoutAFault) {
  ASSERT_TRUE(proxy.started().has_value());
  Client client(proxy.port());
  expect_echo(client, "hello");
  client.stop_sending();
  EXPECT_EQ(client.ending(), End::fin);
  EXPECT_TRUE(eventually([&] { return server.fins == 1; }));
  EXPECT_EQ(proxy.connections(), 1u);
  EXPECT_EQ(proxy.bytes(Direction::to_server), 5u);
  EXPECT_EQ(proxy.bytes(Direction::to_client), 5u);
}

TEST_F(FaultProxyTest, KeepsEveryByteOfALargeTransferInOrder) {
  std::string text;
  for (int i = 0; text.size() < 4 * 1024 * 1024; ++i) text += std::to_string(i) + ",";
  Client client(proxy.port());
  std::thread sender([&] { EXPECT_TRUE(client.send(text)); });
  const std::string echoed = client.receive(text.size());
  sender.join();
  EXPECT_TRUE(echoed == text) << echoed.size() << " bytes came back of " << text.size();
}

TEST_F(FaultProxyTest, LosesNothingWhenTheClientReadsLate) {
  Client client(proxy.port());
  std::string piece;
  for (int i = 0; piece.size() < 64 * 1024; ++i) piece += std::to_string(i) + ",";
  const std::string sent = client.send_until_blocked(piece);
  EXPECT_TRUE(client.receive(sent.size()) == sent) << sent.size() << " bytes were sent";
}

TEST_F(FaultProxyTest, ServesManyConnectionsAtOnce) {
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 50; ++i) clients.push_back(std::make_unique<Client>(proxy.port()));
  for (std::size_t i = 0; i < clients.size(); ++i) {
    expect_echo(*clients[i], "from " + std::to_string(i));
  }
  EXPECT_EQ(proxy.connections(), 50u);
}

TEST_F(FaultProxyTest, PassesAResetOn) {
  Client client(proxy.port());
  expect_echo(client, "hello");
  client.reset();
  EXPECT_TRUE(eventually([&] { return server.resets == 1; }));
  EXPECT_EQ(server.fins, 0);
}

TEST_F(FaultProxyTest, DelaysEveryChunkInTheDirectionAsked) {
  for (const Direction direction : {Direction::to_server, Direction::to_client}) {
    Client client(proxy.port());
    proxy.set(
        {.kind = FaultKind::delay, .direction = direction, .time = Duration::milliseconds(60)});
    EXPECT_GE(time_of_echo(client, "one"), milliseconds(60));
    EXPECT_GE(time_of_echo(client, "two"), milliseconds(60));
    EXPECT_EQ(proxy.count(FaultKind::delay, direction), 2u);
    proxy.clear();
  }
}

TEST_F(FaultProxyTest, ClearLetsGoOfWhatIsDelayed) {
  Client client(proxy.port());
  proxy.set({.kind = FaultKind::delay, .time = Duration::max()});
  ASSERT_TRUE(client.send("late"));
  ASSERT_TRUE(eventually([&] { return proxy.count(FaultKind::delay) == 1; }));
  EXPECT_TRUE(client.hears_nothing());
  proxy.clear();
  EXPECT_EQ(client.receive(4), "late");
}

TEST_F(FaultProxyTest, CutsTheAnswerAfterExactlySoManyBytesWithAReset) {
  proxy.set({.kind = FaultKind::cut, .bytes = 10});
  Client client(proxy.port());
  ASSERT_TRUE(client.send("abcdefghijklmnopqrstuvwxyz"));
  EXPECT_EQ(client.receive(10), "abcdefghij");
  EXPECT_EQ(client.ending(), End::rst);
  EXPECT_TRUE(eventually([&] { return server.resets == 1; }));
  EXPECT_EQ(proxy.count(FaultKind::cut, Direction::to_client), 1u);
  EXPECT_EQ(proxy.count(FaultKind::cut, Direction::to_server), 0u);
}

TEST_F(FaultProxyTest, CutsTheAnswerWithAnEndWhenAskedTo) {
  proxy.set({.kind = FaultKind::cut, .bytes = 10, .ending = Ending::fin});
  Client client(proxy.port());
  ASSERT_TRUE(client.send("abcdefghijklmnopqrstuvwxyz"));
  EXPECT_EQ(client.receive(10), "abcdefghij");
  EXPECT_EQ(client.ending(), End::fin);
  EXPECT_TRUE(eventually([&] { return server.fins == 1; }));
  EXPECT_EQ(server.resets, 0);
}

TEST_F(FaultProxyTest, CutsTheRequestAfterExactlySoManyBytes) {
  proxy.set({.kind = FaultKind::cut, .direction = Direction::to_server, .bytes = 10});
  Client client(proxy.port());
  ASSERT_TRUE(client.send("abcdefghijklmnopqrstuvwxyz"));
  EXPECT_TRUE(eventually([&] { return server.resets == 1; }));
  EXPECT_EQ(server.bytes, 10u);
  client.receive(26);
  EXPECT_EQ(client.ending(), End::rst);
}

TEST_F(FaultProxyTest, CutAfterNothingLetsTheRequestThroughAndLosesTheWholeAnswer) {
  proxy.set({.kind = FaultKind::cut, .bytes = 0});
  Client client(proxy.port());
  ASSERT_TRUE(client.send("charge my card"));
  EXPECT_EQ(client.ending(), End::rst);
  EXPECT_EQ(server.bytes, 14u);
}

TEST_F(FaultProxyTest, CutCountsFromWhenItWasSetOnAnOpenConnection) {
  Client client(proxy.port());
  expect_echo(client, "before");
  proxy.set({.kind = FaultKind::cut, .bytes = 3});
  ASSERT_TRUE(client.send("after"));
  EXPECT_EQ(client.receive(5), "aft");
  EXPECT_EQ(client.ending(), End::rst);
  proxy.clear();
  Client next(proxy.port());
  expect_echo(next, "whole again");
}

TEST_F(FaultProxyTest, ClearTakesACutBack) {
  proxy.set({.kind = FaultKind::cut, .bytes = 3});
  Client client(proxy.port());
  ASSERT_TRUE(eventually([&] { return server.connections == 1; }));
  proxy.clear();
  expect_echo(client, "longer than that");
}

TEST_F(FaultProxyTest, DropsAnswersAndKeepsTheConnection) {
  Client client(proxy.port());
  proxy.set({.kind = FaultKind::drop});
  ASSERT_TRUE(client.send("lost"));
  ASSERT_TRUE(eventually([&] { return proxy.count(FaultKind::drop) == 1; }));
  EXPECT_EQ(server.bytes, 4u);
  proxy.clear();
  expect_echo(client, "found");
}

TEST_F(FaultProxyTest, DropsRequestsAndKeepsTheConnection) {
  Client client(proxy.port());
  proxy.set({.kind = FaultKind::drop, .direction = Direction::to_server});
  ASSERT_TRUE(client.send("lost"));
  ASSERT_TRUE(eventually([&] { return proxy.count(FaultKind::drop, Direction::to_server) == 1; }));
  proxy.clear();
  expect_echo(client, "found");
  EXPECT_EQ(server.bytes, 5u);
}

TEST_F(FaultProxyTest, DuplicatesTheNextChunkOnce) {
  Client client(proxy.port());
  proxy.set({.kind = FaultKind::duplicate});
  ASSERT_TRUE(client.send("ab"));
  EXPECT_EQ(client.receive(4), "abab");
  EXPECT_EQ(server.bytes, 2u);
  proxy.set({.kind = FaultKind::duplicate, .direction = Direction::to_server});
  ASSERT_TRUE(client.send("cd"));
  EXPECT_EQ(client.receive(4), "cdcd");
  EXPECT_EQ(server.bytes, 6u);
  expect_echo(client, "once");
  EXPECT_EQ(proxy.count(FaultKind::duplicate, Direction::to_client), 1u);
  EXPECT_EQ(proxy.count(FaultKind::duplicate, Direction::to_server), 1u);
}

TEST_F(FaultProxyTest, StallsAnswersUntilReleased) {
  proxy.set({.kind = FaultKind::stall});
  Client client(proxy.port());
  ASSERT_TRUE(client.send("patience"));
  ASSERT_TRUE(eventually([&] { return proxy.count(FaultKind::stall) == 1; }));
  EXPECT_EQ(server.bytes, 8u);
  EXPECT_TRUE(client.hears_nothing());
  proxy.clear();
  EXPECT_EQ(client.receive(8), "patience");
}

TEST_F(FaultProxyTest, StallsRequestsUntilReleasedAndAcceptsMeanwhile) {
  proxy.set({.kind = FaultKind::stall, .direction = Direction::to_server});
  Client first(proxy.port());
  Client second(proxy.port());
  ASSERT_TRUE(first.connected() && second.connected());
  ASSERT_TRUE(first.send("one"));
  ASSERT_TRUE(second.send("two"));
  ASSERT_TRUE(eventually([&] { return proxy.count(FaultKind::stall, Direction::to_server) == 2; }));
  EXPECT_EQ(server.bytes, 0u);
  proxy.clear();
  EXPECT_EQ(first.receive(3), "one");
  EXPECT_EQ(second.receive(3), "two");
}

TEST_F(FaultProxyTest, DribblesOneByteAnInterval) {
  Client client(proxy.port());
  for (const Direction direction : {Direction::to_server, Direction::to_client}) {
    proxy.set(
        {.kind = FaultKind::dribble, .direction = direction, .time = Duration::milliseconds(10)});
    EXPECT_GE(time_of_echo(client, "abcdef"), milliseconds(50));
    proxy.clear();
    EXPECT_GE(proxy.count(FaultKind::dribble, direction), 1u);
  }
}

TEST_F(FaultProxyTest, RefusesNewConnectionsOnly) {
  Client open(proxy.port());
  expect_echo(open, "before");
  proxy.set({.kind = FaultKind::refuse});
  Client refused(proxy.port());
  EXPECT_EQ(refused.ending(), End::rst);
  expect_echo(open, "still here");
  EXPECT_EQ(proxy.count(FaultKind::refuse), 1u);
  EXPECT_EQ(server.connections, 1);
  proxy.clear();
  Client welcome(proxy.port());
  expect_echo(welcome, "after");
}

TEST_F(FaultProxyTest, LeavesTheClientOpenWhenTheServerSideIsLost) {
  Client client(proxy.port());
  expect_echo(client, "before");
  proxy.set({.kind = FaultKind::half_open});
  ASSERT_TRUE(eventually([&] { return server.fins == 1; }));
  EXPECT_TRUE(client.send("into the void"));
  Client late(proxy.port());
  EXPECT_TRUE(late.send("nobody there"));
  ASSERT_TRUE(eventually([&] { return proxy.count(FaultKind::half_open) == 2; }));
  proxy.clear();
  Client fresh(proxy.port());
  expect_echo(fresh, "a new connection works");
  EXPECT_TRUE(client.hears_nothing());
  EXPECT_TRUE(late.hears_nothing());
  EXPECT_EQ(server.connections, 2);
}

TEST_F(FaultProxyTest, AddsFaultsUp) {
  Client client(proxy.port());
  proxy.set({.kind = FaultKind::delay, .time = Duration::milliseconds(40)});
  proxy.set({.kind = FaultKind::duplicate});
  proxy.set({.kind = FaultKind::cut, .bytes = 5, .ending = Ending::fin});
  const auto start = Steady::now();
  ASSERT_TRUE(client.send("abc"));
  EXPECT_EQ(client.receive(6), "abcab");
  EXPECT_GE(Steady::now() - start, milliseconds(40));
  EXPECT_EQ(client.ending(), End::fin);
}

TEST_F(FaultProxyTest, GoesAtOnceWithConnectionsStalledAndDelayed) {
  auto doomed = std::make_unique<FaultProxy>(server.port());
  doomed->set({.kind = FaultKind::stall, .direction = Direction::to_server});
  doomed->set({.kind = FaultKind::delay, .time = Duration::max()});
  Client client(doomed->port());
  ASSERT_TRUE(client.send("held"));
  ASSERT_TRUE(
      eventually([&] { return doomed->count(FaultKind::stall, Direction::to_server) == 1; }));
  const auto start = Steady::now();
  doomed.reset();
  EXPECT_LT(Steady::now() - start, patience);
  EXPECT_NE(client.ending(), End::none);
  EXPECT_TRUE(eventually([&] { return server.fins + server.resets == 1; }));
}

TEST(FaultProxy, ResetsTheClientWhenNobodyListensBehindIt) {
  const Descriptor deaf = bound_socket();
  FaultProxy proxy(port_of(deaf));
  Client client(proxy.port());
  EXPECT_EQ(client.ending(), End::rst);
}

TEST(FaultProxy, SaysThatAPortIsTaken) {
  const FaultProxy first(1);
  const FaultProxy second(1, first.port());
  ASSERT_TRUE(first.started().has_value());
  ASSERT_FALSE(second.started().has_value());
  EXPECT_EQ(second.port(), 0);
  EXPECT_EQ(second.started().error().code, Code::unavailable);
  EXPECT_NE(second.started().error().message.find(std::to_string(first.port())), std::string::npos);
}

TEST(Fault, ReadsEveryForm) {
  const auto read = [](const char* text) { return parse_fault(text).value(); };
  const auto to_server = Direction::to_server;
  EXPECT_EQ(read("delay to_server 200ms"), (Fault{.kind = FaultKind::delay,
                                                  .direction = to_server,
                                                  .time = Duration::milliseconds(200)}));
  EXPECT_EQ(read("cut to_client 10"), (Fault{.kind = FaultKind::cut, .bytes = 10}));
  EXPECT_EQ(read("cut to_client 10 rst"), (Fault{.kind = FaultKind::cut, .bytes = 10}));
  EXPECT_EQ(
      read("cut to_server 0 fin"),
      (Fault{.kind = FaultKind::cut, .direction = to_server, .bytes = 0, .ending = Ending::fin}));
  EXPECT_EQ(read("drop to_client"), (Fault{.kind = FaultKind::drop}));
  EXPECT_EQ(read("duplicate to_server"),
            (Fault{.kind = FaultKind::duplicate, .direction = to_server}));
  EXPECT_EQ(read("stall  to_client"), (Fault{.kind = FaultKind::stall}));
  EXPECT_EQ(read("dribble to_client 5ms"),
            (Fault{.kind = FaultKind::dribble, .time = Duration::milliseconds(5)}));
  EXPECT_EQ(read("refuse"), (Fault{.kind = FaultKind::refuse}));
  EXPECT_EQ(read("half_open"), (Fault{.kind = FaultKind::half_open}));
}

TEST(Fault, RefusesWhatItDoesNotKnowAndSaysWhy) {
  for (const char* text : {"", " ", "explode", "delay", "delay to_server", "delay 200ms",
                           "delay to_server 200", "cut to_client", "cut to_client ten",
                           "cut to_client -1", "cut to_client 10 bang", "cut to_client 10 fin now",
                           "drop", "drop sideways", "drop to_client 5", "refuse to_client"}) {
    const auto fault = parse_fault(text);
    ASSERT_FALSE(fault.has_value()) << text;
    EXPECT_FALSE(fault.error().message.empty());
  }
}

}  // namespace
}  // namespace pawl
