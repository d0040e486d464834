#include "net/loop.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/bounds.h"
#include "net/beside.h"
#include "net/poller.h"
#include "net/tcp_stream.h"

namespace pawl::net {
namespace {

constexpr Duration accept_backoff = Duration::milliseconds(50);
constexpr int accepts_a_turn = 64;
constexpr int probes = 3;
constexpr int probe_period_seconds = 10;
constexpr int probe_after_seconds =
    static_cast<int>(bounds::tcp_silence_max.seconds()) - probes * probe_period_seconds;

std::string words_of(int error) {
  return std::generic_category().message(error);
}

// An address as the system wants it.
struct SocketAddress {
  SocketAddress() = default;
  SocketAddress(const IpAddress& ip, std::uint16_t port) {
    const auto& bytes = ip.bytes();
    if (ip.is_v4()) {
      auto& v4 = reinterpret_cast<sockaddr_in&>(storage);
      v4.sin_family = AF_INET;
      v4.sin_port = htons(port);
      std::memcpy(&v4.sin_addr, bytes.data() + 12, 4);
      size = sizeof v4;
    } else {
      auto& v6 = reinterpret_cast<sockaddr_in6&>(storage);
      v6.sin6_family = AF_INET6;
      v6.sin6_port = htons(port);
      std::memcpy(&v6.sin6_addr, bytes.data(), 16);
      size = sizeof v6;
    }
  }

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  IpAddress ip() const {
    if (storage.ss_family == AF_INET) {
      std::array<std::uint8_t, 4> four{};
      std::memcpy(four.data(), &reinterpret_cast<const sockaddr_in&>(storage).sin_addr, 4);
      return IpAddress::v4(four);
    }
    std::array<std::uint8_t, 16> bytes{};
    std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in6&>(storage).sin6_addr, 16);
    return IpAddress::v6(bytes);
  }
  std::uint16_t port() const {
    // It stands at the same place in both.
    return ntohs(reinterpret_cast<const sockaddr_in&>(storage).sin_port);
  }

  sockaddr_storage storage{};
  socklen_t size = sizeof(sockaddr_storage);
};

int open_socket(const IpAddress& address) {
  const int family = address.is_v4() ? AF_INET : AF_INET6;
  return ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

bool set_option(int socket, int level, int name, int value) {
  return ::setsockopt(socket, level, name, &value, sizeof value) == 0;
}

// Small pieces go out at once, and a peer that vanished without a word is noticed. What is accepted
// gets this from its listener.
void set_options(int socket) {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, probe_after_seconds);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, probe_period_seconds);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, probes);
}

// The waits of one loop, by their time.
class Timers {
 public:
  using Key = std::pair<SteadyInstant, std::uint64_t>;
  struct Wait {
    std::function<void()> action;
    Key key = {};
    bool set = false;
  };

  void start(const std::shared_ptr<Wait>& wait, Duration time) {
    stop(*wait);
    wait->key = {steady_now() + time, ++count_};
    wait->set = true;
    waits_.emplace(wait->key, wait);
  }
  void stop(Wait& wait) {
    if (std::exchange(wait.set, false)) waits_.erase(wait.key);
  }
  SteadyInstant next() const {
    return waits_.empty() ? SteadyInstant::max() : waits_.begin()->first.first;
  }
  void run_due(SteadyInstant now) {
    while (!waits_.empty() && waits_.begin()->first.first <= now) {
      const std::shared_ptr<Wait> wait = waits_.begin()->second;  // it may end its timer
      stop(*wait);
      wait->action();
    }
  }

 private:
  std::map<Key, std::shared_ptr<Wait>> waits_;
  std::uint64_t count_ = 0;
};

class LoopTimer final : public Timer {
 public:
  LoopTimer(Timers& timers, std::function<void()> action)
      : timers_(timers), wait_(std::make_shared<Timers::Wait>()) {
    wait_->action = std::move(action);
  }
  ~LoopTimer() override { stop(); }
  void start(Duration wait) override { timers_.start(wait_, wait); }
  void stop() override { timers_.stop(*wait_); }

 private:
  Timers& timers_;
  std::shared_ptr<Timers::Wait> wait_;
};

// Wakes the loop from another thread.
class Waker final : public Poller::Source {
 public:
  explicit Waker(Poller& poller) : poller_(poller), event_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    PAWL_ASSERT(event_ >= 0 && poller_.add(event_, EPOLLIN, *this));
  }
  ~Waker() {
    poller_.remove(event_, *this);
    ::close(event_);
  }
  void wake() const { eventfd_write(event_, 1); }
  void on_ready(std::uint32_t) override {
    eventfd_t value = 0;
    eventfd_read(event_, &value);
  }

 private:
  Poller& poller_;
  int event_;
};

class Listener final : public Poller::Source {
 public:
  using Accepted = std::function<void(StreamPtr)>;

  Listener(TcpHome& home, Timers& timers, int socket, Accepted accepted)
      : home_(home),
        socket_(socket),
        accepted_(std::move(accepted)),
        backoff_(timers, [this] { watch(); }) {
    watch();
  }
  ~Listener() { close(); }

  void close() {
    if (socket_ < 0) return;
    backoff_.stop();
    home_.poller.remove(socket_, *this);
    ::close(std::exchange(socket_, -1));
  }

  void on_ready(std::uint32_t) override {
    for (int i = 0; i < accepts_a_turn && socket_ >= 0; ++i) {
      SocketAddress peer;
      const int socket = ::accept4(socket_, peer.get(), &peer.size, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (socket >= 0) {
        accepted_(std::make_shared<TcpStream>(home_, socket, peer.ip()));
      } else if (errno == EAGAIN) {
        return;
      } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        // Try again when some have come back.
        home_.poller.remove(socket_, *this);
        backoff_.start(accept_backoff);
        return;
      }
    }
  }

 private:
  void watch() {
    if (!home_.poller.add(socket_, EPOLLIN, *this)) backoff_.start(accept_backoff);
  }

  TcpHome& home_;
  int socket_;
  Accepted accepted_;
  LoopTimer backoff_;
};

// One attempt to reach a target: each of its addresses, all within the deadline.
class Connecting final : public Poller::Source, public std::enable_shared_from_this<Connecting> {
 public:
  using Done = std::move_only_function<void(Result<StreamPtr>)>;

  Connecting(TcpHome& home, Timers& timers, Target target, Done done)
      : home_(home),
        target_(std::move(target)),
        done_(std::move(done)),
        deadline_(timers, [this] { fail("no answer in time"); }) {}
  ~Connecting() { drop_socket(); }

  void begin(Duration deadline) { deadline_.start(deadline); }
  bool is_over() const { return !done_; }

  void try_all(Result<std::vector<IpAddress>> found) {
    if (is_over()) return;
    if (!found) return fail(found.error().message);
    addresses_ = std::move(*found);
    try_next("it has no address");
  }

  void on_ready(std::uint32_t) override {
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error == 0) {
      succeed();
    } else {
      drop_socket();
      try_next(words_of(error));
    }
  }

 private:
  void try_next(std::string why) {
    while (tried_ < addresses_.size()) {
      const IpAddress address = addresses_[tried_++];
      socket_ = open_socket(address);
      SocketAddress where(address, target_.port);
      if (socket_ >= 0) {
        set_options(socket_);
        const int connected = ::connect(socket_, where.get(), where.size);
        if ((connected == 0 || errno == EINPROGRESS) &&
            home_.poller.add(socket_, EPOLLOUT | EPOLLET, *this)) {
          return;  // on_ready() tells, of one that is connected already too
        }
      }
      why = words_of(errno);
      drop_socket();
    }
    fail(why);
  }

  void succeed() {
    const auto self = shared_from_this();
    deadline_.stop();
    home_.poller.remove(socket_, *this);
    const int socket = std::exchange(socket_, -1);
    Done done = std::exchange(done_, nullptr);
    done(StreamPtr(std::make_shared<TcpStream>(home_, socket, addresses_[tried_ - 1])));
  }

  void fail(const std::string& why) {
    const auto self = shared_from_this();
    deadline_.stop();
    drop_socket();
    Done done = std::exchange(done_, nullptr);
    done(std::unexpected(Error(Code::unavailable, Outcome::not_applied,
                               "cannot connect to " + to_string(target_) + ": " + why)));
  }

  void drop_socket() {
    if (socket_ < 0) return;
    home_.poller.remove(socket_, *this);
    ::close(std::exchange(socket_, -1));
  }

  TcpHome& home_;
  Target target_;
  Done done_;
  LoopTimer deadline_;
  std::vector<IpAddress> addresses_;
  std::size_t tried_ = 0;
  int socket_ = -1;
};

class EpollLoop final : public Loop {
 public:
  // What waits may own connections and timers, so it goes while there is a home for them.
  ~EpollLoop() override {
    beside_.reset();
    for (auto waiting = take_posted(); !waiting.empty(); waiting = take_posted()) waiting.clear();
    std::exchange(connecting_, {}).clear();
    std::exchange(home_.leaving, {}).clear();
  }

  void run() override {
    runner_ = std::this_thread::get_id();
    while (!stopped_) {
      run_posted();
      if (stopped_) break;
      home_.outbox.send_all();
      home_.poller.turn(wait_ms());
      home_.inbox.tell_all();
      timers_.run_due(steady_now());
    }
    home_.outbox.send_all();
    runner_ = std::thread::id();
    stopped_ = false;
  }

  void stop() override {
    stopped_ = true;
    waker_.wake();
  }

  Result<Endpoint> listen(const Endpoint& endpoint,
                          std::function<void(StreamPtr)> accepted) override {
    SocketAddress where(endpoint.address, endpoint.port);
    const int socket = open_socket(endpoint.address);
    bool good = socket >= 0 && set_option(socket, SOL_SOCKET, SO_REUSEADDR, 1) &&
                set_option(socket, SOL_SOCKET, SO_REUSEPORT, 1);
    if (good) set_options(socket);
    good = good && ::bind(socket, where.get(), where.size) == 0 &&
           ::listen(socket, SOMAXCONN) == 0 && ::getsockname(socket, where.get(), &where.size) == 0;
    if (!good) {
      const std::string why = words_of(errno);
      if (socket >= 0) ::close(socket);
      return failure(Code::unavailable, "cannot listen on " + to_string(endpoint) + ": " + why +
                                            "; is another program using the port?");
    }
    listeners_.push_back(std::make_unique<Listener>(home_, timers_, socket, std::move(accepted)));
    return Endpoint{.address = endpoint.address, .port = where.port()};
  }

  void stop_listening() override {
    for (const auto& listener : listeners_) listener->close();
  }

  void connect(const Target& target, Duration deadline, Connecting::Done done) override {
    std::erase_if(connecting_, [](const auto& attempt) { return attempt->is_over(); });
    const auto attempt = std::make_shared<Connecting>(home_, timers_, target, std::move(done));
    connecting_.push_back(attempt);
    attempt->begin(deadline);
    const auto address = parse_ip(target.host);
    if (address) {
      post([attempt, found = *address] { attempt->try_all(std::vector<IpAddress>{found}); });
    } else {
      beside().look_up(target.host, [attempt](Result<std::vector<IpAddress>> found) {
        attempt->try_all(std::move(found));
      });
    }
  }

  TimerPtr timer(std::function<void()> action) override {
    return std::make_unique<LoopTimer>(timers_, std::move(action));
  }

  void every(Duration period, std::function<void()> action) override {
    const std::size_t number = periodic_.size();
    periodic_.push_back(
        std::make_unique<LoopTimer>(timers_, [this, number, period, act = std::move(action)] {
          act();
          periodic_[number]->start(period);
        }));
    periodic_.back()->start(period);
  }

  void on_signals(std::initializer_list<int> signals, std::function<void(int)> action) override {
    beside().on_signals(signals, std::move(action));
  }

  void post(std::move_only_function<void()> action) override {
    {
      const std::lock_guard lock(mutex_);
      posted_.push_back(std::move(action));
    }
    if (!has_posted_.exchange(true) && !is_here()) waker_.wake();
  }

  bool is_here() const override { return runner_ == std::this_thread::get_id(); }

  void dispatch(std::move_only_function<void()> action) override {
    if (is_here()) {
      action();
    } else {
      post(std::move(action));
    }
  }

 private:
  using Work = std::vector<std::move_only_function<void()>>;

  Work take_posted() {
    has_posted_ = false;
    const std::lock_guard lock(mutex_);
    return std::exchange(posted_, {});
  }

  void run_posted() {
    if (!has_posted_) return;
    for (auto& action : take_posted()) action();
  }

  // Until the next thing that has a time; -1: there is none.
  int wait_ms() {
    if (has_posted_) return 0;
    const SteadyInstant due = std::min(timers_.next(), home_.end_leaving(turn_began_));
    turn_began_ = steady_now();
    if (due == SteadyInstant::max()) return -1;
    const std::int64_t ns = std::max<std::int64_t>((due - turn_began_).ns(), 0);
    return static_cast<int>(std::min<std::int64_t>((ns + 999'999) / 1'000'000, 60'000));
  }

  Beside& beside() {
    if (!beside_) {
      beside_ = std::make_unique<Beside>([this](Beside::Work work) { post(std::move(work)); });
    }
    return *beside_;
  }

  TcpHome home_;
  Timers timers_;
  Waker waker_{home_.poller};
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::vector<std::shared_ptr<Connecting>> connecting_;
  std::vector<std::unique_ptr<LoopTimer>> periodic_;
  std::unique_ptr<Beside> beside_;
  std::atomic<std::thread::id> runner_ = std::thread::id();
  std::atomic<bool> stopped_ = false;
  std::atomic<bool> has_posted_ = false;
  std::mutex mutex_;
  Work posted_;
  SteadyInstant turn_began_;
};

}  // namespace

std::unique_ptr<Loop> Loop::make() {
  return std::make_unique<EpollLoop>();
}

}  // namespace pawl::net
