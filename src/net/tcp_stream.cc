#include "net/tcp_stream.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "base/assert.h"

namespace pawl::net {
namespace {

constexpr std::size_t read_bytes_max = 64 * 1024;
constexpr std::size_t inbox_bytes = 4 * read_bytes_max;
constexpr std::size_t small_bytes_max = 4 * 1024;
constexpr std::size_t outbox_bytes_max = 256 * 1024;
constexpr Duration goodbye_deadline = Duration::seconds(2);
constexpr std::uint32_t reset_events = EPOLLHUP | EPOLLERR;
constexpr std::uint32_t end_events = EPOLLRDHUP | reset_events;

}  // namespace

SteadyInstant steady_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return SteadyInstant() +
         Duration::nanoseconds(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

Inbox::Inbox() : bytes_(inbox_bytes) {}

std::span<char> Inbox::room() {
  if (bytes_.size() - used_ < read_bytes_max) tell_all();
  return std::span(bytes_).subspan(used_, read_bytes_max);
}

void Inbox::add(TcpStream& stream, std::size_t bytes) {
  pieces_.push_back({&stream, used_, bytes});
  used_ += bytes;
}

void Inbox::forget(const TcpStream& stream) {
  for (Piece& piece : pieces_) {
    if (piece.stream == &stream) piece.stream = nullptr;
  }
}

// A handler may end any of them, and reads nothing.
void Inbox::tell_all() {
  for (const Piece& piece : pieces_) {
    if (piece.stream != nullptr) piece.stream->tell({bytes_.data() + piece.begin, piece.size});
  }
  pieces_.clear();
  used_ = 0;
}

bool Outbox::has_room_for(std::string_view bytes) const {
  return bytes_.size() + bytes.size() <= outbox_bytes_max;
}

void Outbox::add(TcpStream& stream, Place& place, std::string_view bytes) {
  if (place.size == 0) {
    place.begin = bytes_.size();
    waiting_.push_back(&stream);
  }
  place.size += bytes.size();
  bytes_.append(bytes);
}

void Outbox::forget(const TcpStream& stream) {
  std::ranges::replace(waiting_, &stream, nullptr);
}

void Outbox::send_all() {
  for (TcpStream* stream : waiting_) {
    if (stream != nullptr) stream->send_waiting();
  }
  waiting_.clear();
  bytes_.clear();
}

SteadyInstant TcpHome::end_leaving(SteadyInstant now) {
  while (!leaving.empty() && leaving.front().due <= now) {
    leaving.front().stream->close();
    leaving.pop_front();
  }
  return leaving.empty() ? SteadyInstant::max() : leaving.front().due;
}

TcpStream::TcpStream(TcpHome& home, int socket, const IpAddress& peer)
    : home_(home), socket_(socket), peer_(peer) {
  const std::uint32_t all = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  if (home_.poller.add(socket_, all, *this)) return;
  // Nobody would ever tell of it: it ends as soon as it is started.
  ::shutdown(socket_, SHUT_RDWR);
  readable_ = true;
}

TcpStream::~TcpStream() {
  close();
}

void TcpStream::start(StreamHandler& handler) {
  handler_ = &handler;
  resume();  // whoever had it before may have held it back
}

void TcpStream::send(std::string_view bytes) {
  if (state_ != State::open || deaf_ || bytes.empty()) return;
  const bool small = bytes.size() <= small_bytes_max;
  // First, since what this one has waiting there may not go at once: then it is queued, and what
  // comes next must go behind it.
  if (small && !home_.outbox.has_room_for(bytes)) home_.outbox.send_all();
  if (waiting_.size > 0 && (!small || !home_.outbox.is_last(waiting_))) {
    leave_outbox();
  }
  if (!queue_.empty()) {
    queue_.append(bytes);
  } else if (small) {
    home_.outbox.add(*this, waiting_, bytes);
  } else {
    queue_.append(bytes.substr(write_now(bytes)));
  }
}

void TcpStream::leave_outbox() {
  if (waiting_.size == 0) return;
  send_waiting();
  home_.outbox.forget(*this);
}

void TcpStream::send_waiting() {
  const std::string_view bytes = home_.outbox.at(std::exchange(waiting_, {}));
  if (deaf_) return;
  queue_.append(queue_.empty() ? bytes.substr(write_now(bytes)) : bytes);
}

void TcpStream::resume() {
  paused_ = false;
  read_later();
}

void TcpStream::close() {
  if (state_ == State::closed) return;
  state_ = State::closed;
  handler_ = nullptr;
  leave_outbox();
  if (in_inbox_) home_.inbox.forget(*this);
  held_ = std::string();
  queue_ = std::string();
  queue_sent_ = 0;
  home_.poller.remove(socket_, *this);
  ::close(socket_);
}

void TcpStream::say_goodbye() {
  if (state_ != State::open) return;
  PAWL_ASSERT(queue_.empty());
  leave_outbox();
  state_ = State::leaving;
  handler_ = nullptr;
  if (queue_.empty()) ::shutdown(socket_, SHUT_WR);
  home_.leaving.push_back({steady_now() + goodbye_deadline, shared_from_this()});
  resume();
}

bool TcpStream::is_quiet() const {
  if (state_ != State::open || deaf_ || in_inbox_ || !held_.empty()) return false;
  char byte = 0;
  return ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

void TcpStream::on_ready(std::uint32_t events) {
  const auto self = shared_from_this();
  if (events == 0) reads_later_ = false;
  if ((events & (EPOLLIN | end_events)) != 0) readable_ = true;
  if ((events & end_events) != 0) ending_ = true;
  if ((events & reset_events) != 0 && !reset_told_ && state_ == State::open) {
    was_reset();
  } else if ((events & (EPOLLOUT | end_events)) != 0 && state_ != State::closed &&
             !queue_.empty()) {
    write_queue();
  }
  if (!reads_later_) read();
}

// Who is held back would not hear of it by reading. What came before can still be read.
void TcpStream::was_reset() {
  reset_told_ = true;
  deaf_ = true;
  queue_ = std::string();
  queue_sent_ = 0;
  if (handler_ != nullptr) handler_->on_drained();
}

bool TcpStream::wants_data() const {
  return state_ == State::leaving || (state_ == State::open && handler_ != nullptr && !paused_);
}

// Once a turn, so that a sender who never ends does not keep the others waiting.
void TcpStream::read() {
  if (!wants_data()) return;
  if (!held_.empty()) return tell(std::exchange(held_, std::string()));
  if (!readable_) return;
  const std::span<char> room = home_.inbox.room();
  if (!wants_data()) return;  // what was told meanwhile has changed that
  const ssize_t size = ::recv(socket_, room.data(), room.size(), 0);
  if (size < 0 && errno == EAGAIN) {
    readable_ = false;
  } else if (size <= 0) {
    broken();
  } else {
    // What does not fill the room was all there is; but of an end behind it nobody tells twice.
    readable_ = ending_ || static_cast<std::size_t>(size) == room.size();
    in_inbox_ = true;
    home_.inbox.add(*this, static_cast<std::size_t>(size));
  }
}

void TcpStream::tell(std::string_view bytes) {
  const auto self = shared_from_this();
  in_inbox_ = false;
  if (state_ == State::open) {
    if (wants_data()) {
      handler_->on_data(bytes);
    } else {
      held_.append(bytes);
    }
  }
  read_later();
}

void TcpStream::read_later() {
  if (reads_later_ || in_inbox_ || !wants_data() || (!readable_ && held_.empty())) return;
  reads_later_ = true;
  home_.poller.again(*this);
}

// How much of it the system took.
std::size_t TcpStream::write_now(std::string_view bytes) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t size = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (size >= 0) {
      sent += static_cast<std::size_t>(size);
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR) {
      // The other side takes nothing more, but may have answered before it stopped: reading goes
      // on, and finds the end; whoever is held back hears of it by was_reset().
      deaf_ = true;
      return bytes.size();
    }
  }
  return sent;
}

void TcpStream::write_queue() {
  queue_sent_ += write_now(std::string_view(queue_).substr(queue_sent_));
  if (queue_sent_ < queue_.size()) return;
  queue_ = std::string();
  queue_sent_ = 0;
  if (state_ == State::leaving) ::shutdown(socket_, SHUT_WR);
  if (!deaf_ && handler_ != nullptr) handler_->on_drained();
}

void TcpStream::broken() {
  StreamHandler* handler = std::exchange(handler_, nullptr);
  close();
  if (handler != nullptr) handler->on_closed();
}

}  // namespace pawl::net
