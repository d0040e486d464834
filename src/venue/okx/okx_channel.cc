#include "venue/okx/okx_channel.h"

#include <algorithm>
#include <utility>

#include "base/base64.h"
#include "base/bounds.h"

namespace pawl::okx {

using websocket::From;
using websocket::Opcode;

OkxChannel::OkxChannel(Options options, Ports ports)
    : options_(std::move(options)),
      ports_(std::move(ports)),
      connector_(ports_.loop),
      reader_(From::server),
      backoff_(bounds::okx_channel_backoff_min),
      again_(ports_.loop.timer([this] { connect(); })),
      deadline_(ports_.loop.timer([this] { too_late(); })),
      ping_(ports_.loop.timer([this] { ping(); })) {
  connect();
}

OkxChannel::~OkxChannel() {
  hang_up();
}

void OkxChannel::connect() {
  state_ = State::connecting;
  attempt_ = std::make_shared<bool>(true);
  auto done = [this, weak = std::weak_ptr(attempt_)](Result<net::StreamPtr> stream) {
    if (weak.expired()) {
      if (stream) (*stream)->close();
      return;
    }
    connected(std::move(stream));
  };
  const Target& target = options_.url.target;
  if (options_.url.is_tls) {
    connector_.connect(options_.tls, target, bounds::okx_channel_connect_deadline, std::move(done));
  } else {
    ports_.loop.connect(target, bounds::okx_channel_connect_deadline, std::move(done));
  }
}

void OkxChannel::connected(Result<net::StreamPtr> stream) {
  if (!stream) return lose(stream.error().message);
  stream_ = std::move(*stream);
  state_ = State::upgrading;
  head_.clear();
  reader_ = websocket::FrameReader(From::server);
  key_ = to_base64(ports_.entropy.next());
  deadline_->start(bounds::okx_channel_connect_deadline);
  stream_->start(*this);
  stream_->send(upgrade_request(options_.url, key_));
}

// True: it speaks WebSocket from here on, and `bytes` are what came behind.
bool OkxChannel::take_head(std::string_view& bytes) {
  const std::size_t before = head_.size();
  head_.append(bytes.substr(0, bounds::http_head_bytes_max - before));
  http::ResponseHead head;
  const auto progress = http::parse_response(head_, false, head);
  if (!progress) {
    lose("its answer to the handshake is none: " + std::string(progress.error().reason));
    return false;
  }
  if (*progress == http::HeadProgress::needs_more) {
    if (head_.size() >= bounds::http_head_bytes_max) lose("its answer to the handshake never ends");
    return false;
  }
  const std::string why = why_not_upgraded(head, key_);
  if (!why.empty()) {
    lose(why);
    return false;
  }
  bytes.remove_prefix(head.bytes - before);
  return true;
}

void OkxChannel::on_data(std::string_view bytes) {
  if (state_ == State::upgrading) {
    if (!take_head(bytes)) return;
    state_ = State::logging_in;
    const auto login = login_message(options_.credentials, ports_.venue_now());
    send(Opcode::text, login.reveal());
  }
  take_frames(bytes);
}

void OkxChannel::take_frames(std::string_view bytes) {
  const net::StreamPtr from = stream_;
  if (state_ == State::open) {
    deadline_->stop();
    ping_->start(bounds::okx_channel_ping_wait);
  }
  // Until another connection stands in its place.
  while (stream_ == from) {
    auto message = reader_.feed(bytes);
    if (!message) {
      stream_->send(websocket::close_frame(message.error(), "", websocket::Mask{}));
      return lose("it broke the protocol, close code " +
                  std::to_string(static_cast<int>(message.error())));
    }
    if (!*message) return;
    hear(**message);
  }
}

void OkxChannel::hear(const websocket::Message& message) {
  switch (message.opcode) {
    case Opcode::text:
      return hear_word(word_of(message.payload));
    case Opcode::ping:
      return send(Opcode::pong, message.payload);
    case Opcode::close:
      return lose("it hung up");
    default:
      return;
  }
}

void OkxChannel::hear_word(const ChannelWord& word) {
  using Kind = ChannelWord::Kind;
  switch (word.kind) {
    case Kind::logged_in:
      if (state_ != State::logging_in) return;
      state_ = State::subscribing;
      return send(Opcode::text, subscription());
    case Kind::subscribed:
      if (state_ != State::subscribing) return;
      state_ = State::open;
      backoff_ = bounds::okx_channel_backoff_min;
      deadline_->stop();
      ping_->start(bounds::okx_channel_ping_wait);
      return ports_.note("the order channel of OKX is open");
    case Kind::orders:
      if (word.unread > 0) {
        ports_.note("the order channel of OKX told of " + std::to_string(word.unread) +
                    " orders in a form that is not known; they are looked at by polling");
      }
      for (const order::VenueOrder& order : word.orders) ports_.told(order);
      return;
    case Kind::refused:
      return lose("OKX refused: " + word.says);
    case Kind::leaving:
      ports_.note("OKX is about to hang up its order channel (64008); connecting anew");
      hang_up();
      return connect();
    case Kind::other:
      return;
  }
}

void OkxChannel::send(Opcode opcode, std::string_view payload) {
  const Entropy16 entropy = ports_.entropy.next();
  websocket::Mask mask;
  std::copy_n(entropy.begin(), mask.size(), mask.begin());
  stream_->send(websocket::frame(opcode, payload, mask));
}

void OkxChannel::ping() {
  send(Opcode::text, "ping");
  deadline_->start(bounds::okx_channel_pong_wait);
}

void OkxChannel::too_late() {
  lose(state_ == State::open
           ? "it fell silent"
           : "it did not let us in within " + to_string(bounds::okx_channel_connect_deadline));
}

void OkxChannel::on_closed() {
  stream_ = nullptr;
  lose("it closed the connection");
}

void OkxChannel::hang_up() {
  attempt_.reset();
  for (const net::TimerPtr* timer : {&again_, &deadline_, &ping_}) (*timer)->stop();
  if (stream_) stream_->close();
  stream_ = nullptr;
}

void OkxChannel::lose(const std::string& why) {
  hang_up();
  state_ = State::waiting;
  ports_.note("the order channel of OKX (" + to_string(options_.url.target) + ") is lost: " + why +
              "; next attempt in " + to_string(backoff_) + ", orders are polled meanwhile");
  again_->start(backoff_);
  backoff_ = std::min(backoff_ + backoff_, bounds::okx_channel_backoff_max);
}

}  // namespace pawl::okx
