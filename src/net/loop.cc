// Asio's one file. Sockets are non-blocking; the loop waits for readiness and then tries, so an
// idle connection holds no buffer.
#include "net/loop.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <sys/socket.h>
#include <utility>
#include <vector>

#include "base/assert.h"

namespace pawl::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;

constexpr std::size_t read_buffer_bytes = 64 * 1024;
constexpr Duration goodbye_deadline = Duration::seconds(2);
constexpr Duration accept_backoff = Duration::milliseconds(50);

std::chrono::nanoseconds to_chrono(Duration d) {
  return std::chrono::nanoseconds(d.ns());
}

IpAddress to_ip(const asio::ip::address& address) {
  if (address.is_v4()) return IpAddress::v4(address.to_v4().to_bytes());
  return IpAddress::v6(address.to_v6().to_bytes());
}

asio::ip::address from_ip(const IpAddress& address) {
  const auto& b = address.bytes();
  if (address.is_v4()) return asio::ip::address_v4({b[12], b[13], b[14], b[15]});
  return asio::ip::address_v6(b);
}

Error connect_error(const Target& target, const std::string& why) {
  return Error(Code::unavailable, Outcome::not_applied,
               "cannot connect to " + target.host + ":" + std::to_string(target.port) + ": " + why);
}

class TcpStream final : public Stream, public std::enable_shared_from_this<TcpStream> {
 public:
  TcpStream(tcp::socket socket, std::vector<char>& read_buffer)
      : socket_(std::move(socket)), goodbye_(socket_.get_executor()), read_buffer_(read_buffer) {
    ErrorCode ignored;
    socket_.non_blocking(true, ignored);
    socket_.set_option(tcp::no_delay(true), ignored);
    const tcp::endpoint peer = socket_.remote_endpoint(ignored);
    peer_ = to_ip(peer.address());
  }

  void start(StreamHandler& handler) override {
    handler_ = &handler;
    resume();  // whoever had it before may have held it back
  }

  void send(std::string_view bytes) override {
    if (state_ != State::open || deaf_) return;
    if (queue_.empty()) bytes.remove_prefix(write_now(bytes));
    if (bytes.empty()) return;
    queue_.append(bytes);
    wait_writable();
  }

  std::size_t queued_bytes() const override { return queue_.size() - queue_sent_; }

  void pause() override { paused_ = true; }

  void resume() override {
    paused_ = false;
    wait_readable();
  }

  void close() override {
    if (state_ == State::closed) return;
    state_ = State::closed;
    handler_ = nullptr;
    ErrorCode ignored;
    socket_.close(ignored);
    goodbye_.cancel();
  }

  void say_goodbye() override {
    if (state_ != State::open) return;
    PAWL_ASSERT(queue_.empty());
    state_ = State::leaving;
    handler_ = nullptr;
    ErrorCode ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
    goodbye_.expires_after(to_chrono(goodbye_deadline));
    goodbye_.async_wait([self = shared_from_this()](ErrorCode error) {
      if (!error) self->close();
    });
    resume();
  }

  IpAddress peer() const override { return peer_; }

 private:
  // leaving: the handler is gone; what still comes is thrown away.
  enum class State : std::uint8_t { open, leaving, closed };

  void wait_readable() {
    if (state_ == State::closed || waiting_readable_ || paused_) return;
    waiting_readable_ = true;
    socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](ErrorCode error) {
      self->waiting_readable_ = false;
      if (!error) self->read();
    });
  }

  void read() {
    if (state_ == State::closed || paused_) return;
    ErrorCode error;
    const std::size_t size = socket_.read_some(asio::buffer(read_buffer_), error);
    if (error == asio::error::would_block || error == asio::error::try_again) {
      wait_readable();
    } else if (error) {
      broken();
    } else {
      if (state_ == State::open) handler_->on_data({read_buffer_.data(), size});
      wait_readable();
    }
  }

  // How much of it the system took.
  std::size_t write_now(std::string_view bytes) {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      ErrorCode error;
      sent += socket_.write_some(asio::buffer(bytes.substr(sent)), error);
      if (error == asio::error::would_block || error == asio::error::try_again) break;
      if (error) {
        // The other side takes nothing more, but may have answered before it stopped: reading goes
        // on, and finds the end.
        deaf_ = true;
        return bytes.size();
      }
    }
    return sent;
  }

  void wait_writable() {
    if (waiting_writable_) return;
    waiting_writable_ = true;
    socket_.async_wait(tcp::socket::wait_write, [self = shared_from_this()](ErrorCode error) {
      self->waiting_writable_ = false;
      if (!error && self->state_ == State::open) self->write_queue();
    });
  }

  void write_queue() {
    queue_sent_ += write_now(std::string_view(queue_).substr(queue_sent_));
    if (queue_sent_ < queue_.size()) {
      wait_writable();
      return;
    }
    queue_.clear();
    queue_sent_ = 0;
    if (!deaf_) handler_->on_drained();
  }

  void broken() {
    if (state_ == State::closed) return;
    StreamHandler* handler = std::exchange(handler_, nullptr);
    close();
    if (handler != nullptr) handler->on_closed();
  }

  tcp::socket socket_;
  asio::steady_timer goodbye_;
  std::vector<char>& read_buffer_;
  IpAddress peer_;
  StreamHandler* handler_ = nullptr;
  State state_ = State::open;
  bool paused_ = false;
  bool deaf_ = false;
  bool waiting_readable_ = false;
  bool waiting_writable_ = false;
  std::string queue_;
  std::size_t queue_sent_ = 0;
};

// One attempt to reach a target: resolve, try each address, all within the deadline.
class Connecting : public std::enable_shared_from_this<Connecting> {
 public:
  using Done = std::move_only_function<void(Result<StreamPtr>)>;

  Connecting(asio::io_context& context, std::vector<char>& read_buffer, Target target, Done done)
      : resolver_(context),
        socket_(context),
        timer_(context),
        read_buffer_(read_buffer),
        target_(std::move(target)),
        done_(std::move(done)) {}

  void begin(Duration deadline) {
    timer_.expires_after(to_chrono(deadline));
    timer_.async_wait([self = shared_from_this()](ErrorCode error) {
      if (!error) self->fail("no answer in time");
    });
    resolver_.async_resolve(
        target_.host, std::to_string(target_.port), tcp::resolver::numeric_service,
        [self = shared_from_this()](ErrorCode error, const tcp::resolver::results_type& found) {
          if (error) return self->fail(error.message());
          asio::async_connect(self->socket_, found, [self](ErrorCode failed, const tcp::endpoint&) {
            if (failed) return self->fail(failed.message());
            self->succeed();
          });
        });
  }

 private:
  void succeed() {
    if (!done_) return;
    timer_.cancel();
    Done done = std::exchange(done_, nullptr);
    done(StreamPtr(std::make_shared<TcpStream>(std::move(socket_), read_buffer_)));
  }

  void fail(const std::string& why) {
    if (!done_) return;
    timer_.cancel();
    resolver_.cancel();
    ErrorCode ignored;
    socket_.close(ignored);
    Done done = std::exchange(done_, nullptr);
    done(std::unexpected(connect_error(target_, why)));
  }

  tcp::resolver resolver_;
  tcp::socket socket_;
  asio::steady_timer timer_;
  std::vector<char>& read_buffer_;
  Target target_;
  Done done_;
};

// A handler may be on its way when its wait is given up, so it looks again whether it is meant.
class AsioTimer final : public Timer {
 public:
  AsioTimer(asio::io_context& context, std::function<void()> action)
      : timer_(context), wait_(std::make_shared<Wait>()) {
    wait_->action = std::move(action);
  }
  ~AsioTimer() override { stop(); }

  void start(Duration wait) override {
    const std::uint64_t number = ++wait_->number;
    timer_.expires_after(to_chrono(wait));
    timer_.async_wait([current = wait_, number](ErrorCode error) {
      if (!error && current->number == number) current->action();
    });
  }
  void stop() override {
    ++wait_->number;
    timer_.cancel();
  }

 private:
  struct Wait {
    std::function<void()> action;
    std::uint64_t number = 0;
  };
  asio::steady_timer timer_;
  std::shared_ptr<Wait> wait_;
};

class AsioLoop final : public Loop {
 public:
  void run() override {
    const auto keep_running = asio::make_work_guard(context_);
    context_.run();
  }

  void stop() override { context_.stop(); }

  Result<Endpoint> listen(const Endpoint& endpoint,
                          std::function<void(StreamPtr)> accepted) override {
    const tcp::endpoint where(from_ip(endpoint.address), endpoint.port);
    auto acceptor = std::make_unique<tcp::acceptor>(context_);
    ErrorCode error;
    acceptor->open(where.protocol(), error);
    if (!error) acceptor->set_option(tcp::acceptor::reuse_address(true), error);
    using ReusePort = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;
    if (!error) acceptor->set_option(ReusePort(true), error);
    if (!error) acceptor->bind(where, error);
    if (!error) acceptor->listen(asio::socket_base::max_listen_connections, error);
    if (error) {
      return failure(Code::unavailable, "cannot listen on " + to_string(endpoint) + ": " +
                                            error.message() +
                                            "; is another program using the port?");
    }
    const std::uint16_t port = acceptor->local_endpoint(error).port();
    acceptors_.push_back(std::move(acceptor));
    accept(*acceptors_.back(), std::move(accepted));
    return Endpoint{.address = endpoint.address, .port = port};
  }

  void stop_listening() override {
    ErrorCode ignored;
    for (const auto& acceptor : acceptors_) acceptor->close(ignored);
  }

  void connect(const Target& target, Duration deadline, Connecting::Done done) override {
    std::make_shared<Connecting>(context_, read_buffer_, target, std::move(done))->begin(deadline);
  }

  TimerPtr timer(std::function<void()> action) override {
    return std::make_unique<AsioTimer>(context_, std::move(action));
  }

  void every(Duration period, std::function<void()> action) override {
    timers_.push_back(std::make_unique<asio::steady_timer>(context_));
    tick(*timers_.back(), period, std::move(action));
  }

  void on_signals(std::initializer_list<int> signals, std::function<void(int)> action) override {
    ErrorCode ignored;
    for (const int signal : signals) signals_.add(signal, ignored);
    wait_signal(std::move(action));
  }

  void post(std::move_only_function<void()> action) override {
    asio::post(context_, std::move(action));
  }

  void dispatch(std::move_only_function<void()> action) override {
    asio::dispatch(context_, std::move(action));
  }

 private:
  void accept(tcp::acceptor& acceptor, std::function<void(StreamPtr)> accepted) {
    acceptor.async_accept([this, &acceptor, accepted = std::move(accepted)](
                              ErrorCode error, tcp::socket socket) mutable {
      if (error == asio::error::operation_aborted || !acceptor.is_open()) return;
      if (!error) {
        accepted(std::make_shared<TcpStream>(std::move(socket), read_buffer_));
        accept(acceptor, std::move(accepted));
      } else {
        // Out of file descriptors, most likely: try again when some have come back.
        accept_later(acceptor, std::move(accepted));
      }
    });
  }

  void accept_later(tcp::acceptor& acceptor, std::function<void(StreamPtr)> accepted) {
    auto timer = std::make_shared<asio::steady_timer>(context_, to_chrono(accept_backoff));
    timer->async_wait([this, &acceptor, accepted = std::move(accepted), timer](ErrorCode) mutable {
      if (acceptor.is_open()) accept(acceptor, std::move(accepted));
    });
  }

  void tick(asio::steady_timer& timer, Duration period, std::function<void()> action) {
    timer.expires_after(to_chrono(period));
    timer.async_wait([this, &timer, period, action = std::move(action)](ErrorCode error) mutable {
      if (error) return;
      action();
      tick(timer, period, std::move(action));
    });
  }

  void wait_signal(std::function<void(int)> action) {
    signals_.async_wait([this, action = std::move(action)](ErrorCode error, int signal) mutable {
      if (error) return;
      action(signal);
      wait_signal(std::move(action));
    });
  }

  asio::io_context context_{1};
  std::vector<char> read_buffer_ = std::vector<char>(read_buffer_bytes);
  std::vector<std::unique_ptr<tcp::acceptor>> acceptors_;
  std::vector<std::unique_ptr<asio::steady_timer>> timers_;
  asio::signal_set signals_{context_};
};

}  // namespace

std::unique_ptr<Loop> Loop::make() {
  return std::make_unique<AsioLoop>();
}

}  // namespace pawl::net
