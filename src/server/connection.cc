#include "server/connection.h"

#include <utility>

#include "base/assert.h"
#include "base/text.h"

namespace pawl::server {
namespace {

// A connection that has been quiet for so long gives back what it holds.
constexpr Duration rest_after = Duration::seconds(1);

}  // namespace

// Around every call that may end the connection: it lives until the call is over, and so does its
// handler, which may be the one that called. Afterwards nobody needs the handler any more.
class Connection::Stay {
 public:
  explicit Stay(Connection& connection) : connection_(connection.shared_from_this()) {
    ++connection_->calls_;
  }
  ~Stay() {
    const bool last = --connection_->calls_ == 0;
    if (last && connection_->state_ == State::closed) connection_->handler_.reset();
  }
  Stay(const Stay&) = delete;
  Stay& operator=(const Stay&) = delete;

 private:
  std::shared_ptr<Connection> connection_;
};

Connection::Connection(net::StreamPtr stream, Clock& clock, ConnectionOwner& owner)
    : stream_(std::move(stream)),
      clock_(clock),
      owner_(owner),
      since_(clock.steady_now()),
      sent_since_(since_) {}

void Connection::start() {
  stream_->start(*this);
}

void Connection::on_data(std::string_view bytes) {
  const Stay stay(*this);
  PAWL_ASSERT(!consuming_);  // the stream's promise
  if (stash_.empty()) {
    consume(bytes);
    if (!bytes.empty()) stash_.assign(bytes);
  } else {
    stash_.append(bytes);
    std::string_view input = stash_;
    consume(input);
    stash_.erase(0, stash_.size() - input.size());
  }
  // Requests sent ahead wait in the system's buffers, not in ours.
  if (state_ == State::answering && !stash_.empty()) pause_input();
}

// Goes on with what was read ahead.
void Connection::go_on() {
  std::string_view input = stash_;
  consume(input);
  stash_.erase(0, stash_.size() - input.size());
  if (state_ != State::closed && state_ != State::answering) resume_input();
}

// Takes from the front of `input` what can be used now.
void Connection::consume(std::string_view& input) {
  consuming_ = true;
  bool going_on = true;
  while (going_on) {
    switch (state_) {
      case State::idle:
        going_on = !input.empty();
        if (going_on) {
          state_ = State::head;
          since_ = clock_.steady_now();
        }
        break;
      case State::head:
        going_on = consume_head(input);
        break;
      case State::body:
        going_on = consume_body(input);
        break;
      case State::answering:
        going_on = answered_ && begin_next();
        break;
      case State::tunnel:
        going_on = !input.empty();
        if (going_on) handler_->on_body(std::exchange(input, std::string_view()));
        break;
      case State::leaving:
      case State::closed:
        input = {};
        going_on = false;
        break;
    }
  }
  consuming_ = false;
}

bool Connection::consume_head(std::string_view& input) {
  http::RequestHead head;
  const auto progress = http::parse_request(input, head);
  if (!progress) {
    reject(progress.error());
    return true;
  }
  if (*progress == http::HeadProgress::needs_more) return false;
  const std::size_t bytes = head.bytes;
  begin_request(head);
  if (state_ != State::leaving && state_ != State::closed) input.remove_prefix(bytes);
  return true;
}

void Connection::begin_request(const http::RequestHead& head) {
  framing_ = head.framing;
  body_ = http::BodyReader(head.framing);
  state_ = State::body;
  body_bytes_ = 0;
  answer_begun_ = false;
  answered_ = false;
  discarding_ = false;
  invitation_held_ = false;
  expecting_ = head.expects_continue;
  keep_alive_ = head.keep_alive;
  if (!handler_) handler_ = owner_.make_handler(*this);
  handler_->on_head(head);
  if (!invitation_held_) invite_body();
}

void Connection::invite_body() {
  if (state_ != State::body || discarding_ || answer_begun_) return;
  if (!std::exchange(expecting_, false)) return;
  stream_->send("HTTP/1.1 100 Continue\r\n\r\n");
}

bool Connection::consume_body(std::string_view& input) {
  if (body_.done()) {
    state_ = State::answering;
    if (!discarding_) handler_->on_body_end();
    return true;
  }
  if (input.empty()) return false;
  expecting_ = false;  // it did not wait
  const std::size_t before = input.size();
  const auto piece = body_.feed(input);
  body_bytes_ += static_cast<std::int64_t>(before - input.size());
  if (!piece) {
    // Too late for an answer of our own when the handler has begun one.
    if (answer_begun_) {
      abort();
    } else {
      reject(piece.error());
    }
    return true;
  }
  if (!piece->empty() && !discarding_) handler_->on_body(*piece);
  return true;
}

void Connection::become_tunnel() {
  PAWL_ASSERT(in_request() && !answered_ && body_.done());
  state_ = State::tunnel;
  if (!consuming_) go_on();
}

void Connection::send(std::string_view bytes) {
  answer_begun_ = true;
  sent_bytes_ += bytes.size();
  stream_->send(bytes);
}

void Connection::pause_input() {
  input_paused_ = true;
  stream_->pause();
}

void Connection::resume_input() {
  input_paused_ = false;
  if (state_ == State::body) {
    since_ = clock_.steady_now();
    body_bytes_ = 0;
  }
  stream_->resume();
}

void Connection::finish(bool keep_alive) {
  const Stay stay(*this);
  if (state_ == State::leaving || state_ == State::closed) return;
  PAWL_ASSERT(in_request() && !answered_);
  PAWL_ASSERT(!keep_alive || state_ != State::tunnel);
  answered_ = true;
  if (!keep_alive) {
    leave();
    return;
  }
  discarding_ = true;  // whatever of the body is still to come
  if (!consuming_) go_on();
}

bool Connection::may_keep_alive() const {
  if (!keep_alive_ || draining_) return false;
  if (state_ == State::answering || body_.done()) return true;
  // An unwanted body is read to its end when that is cheap. A client that waits for 100 Continue
  // may never send it, so nobody could tell what comes next.
  return framing_.kind == http::Framing::Kind::length && !expecting_ &&
         framing_.length <= bounds::http_discard_bytes_max;
}

// False while the client has too much of earlier answers to take.
bool Connection::begin_next() {
  if (queued_bytes() > bounds::send_queue_bytes_max) return false;
  if (draining_) {
    leave();
    return true;
  }
  state_ = State::idle;
  since_ = clock_.steady_now();
  return true;
}

// Sends what is queued, then ends the connection.
void Connection::leave() {
  state_ = State::leaving;
  if (queued_bytes() > 0) return;
  stream_->say_goodbye();
  closed();
}

void Connection::reject(const http::Rejection& rejection) {
  owner_.on_rejected(rejection, peer());
  const bool was_in_request = in_request();
  const auto code = rejection.kind == http::Rejection::Kind::too_large
                        ? http::ProblemCode::too_large
                        : http::ProblemCode::bad_request;
  std::string detail = "The request was refused: " + std::string(rejection.reason) + ".";
  if (was_in_request) detail += " What came before that may have been passed on.";
  send(problem_answer({.code = code, .detail = std::move(detail)}, "", false, false));
  if (was_in_request) handler_->on_gone(http::status_of(code));
  leave();
}

void Connection::abort() {
  const Stay stay(*this);
  if (state_ == State::closed) return;
  const bool was_in_request = in_request() && !answered_;
  stream_->close();
  if (was_in_request) handler_->on_gone(0);
  closed();
}

void Connection::on_drained() {
  const Stay stay(*this);
  if (!stream_->takes_bytes()) {
    abort();  // who takes no answer has left, whatever else it may have sent
    return;
  }
  if (state_ == State::leaving) {
    leave();
    return;
  }
  if (handler_) handler_->on_drained();
  if (state_ == State::answering && answered_) go_on();
}

void Connection::on_closed() {
  const Stay stay(*this);
  if (in_request() && !answered_) handler_->on_gone(0);
  closed();
}

void Connection::closed() {
  if (std::exchange(state_, State::closed) == State::closed) return;
  owner_.on_closed(*this);
}

void Connection::tick(SteadyInstant now) {
  const Stay stay(*this);
  tick_state(now);
  if (state_ != State::closed && client_takes_too_little(now)) abort();
  if (state_ != State::closed && handler_) handler_->on_tick(now);
}

void Connection::tick_state(SteadyInstant now) {
  const Timeouts& timeouts = owner_.timeouts();
  const Duration waited = now - since_;
  switch (state_) {
    case State::idle:
      if (waited > timeouts.idle) {
        abort();
      } else if (waited > rest_after && queued_bytes() == 0) {
        rest();
      }
      break;
    case State::head:
      if (waited > timeouts.head) {
        reject({http::Rejection::Kind::malformed, "the head did not arrive in time"});
      }
      break;
    case State::body:
      // While the handler holds the input back, the delay is not the client's.
      if (!input_paused_ && body_is_too_slow(now)) abort();
      break;
    case State::answering:
    case State::tunnel:
    case State::leaving:
    case State::closed:
      break;
  }
}

// What was allocated for the last request is of no use until the next.
void Connection::rest() {
  handler_.reset();
  stash_ = std::string();
  body_ = http::BodyReader();
}

namespace {

bool is_too_little(std::int64_t bytes, Duration time) {
  return static_cast<double>(bytes) < time.seconds() * static_cast<double>(bounds::http_rate_min);
}

}  // namespace

bool Connection::body_is_too_slow(SteadyInstant now) {
  const Duration idle = owner_.timeouts().idle;
  if (now - since_ <= idle) return false;
  const bool slow = is_too_little(body_bytes_, idle);
  since_ = now;
  body_bytes_ = 0;
  return slow;
}

bool Connection::client_takes_too_little(SteadyInstant now) {
  const std::uint64_t taken = sent_bytes_ - queued_bytes();
  if (queued_bytes() == 0) {
    sent_since_ = now;
    taken_before_ = taken;
    return false;
  }
  const Duration idle = owner_.timeouts().idle;
  if (now - sent_since_ <= idle) return false;
  const bool slow = is_too_little(static_cast<std::int64_t>(taken - taken_before_), idle);
  sent_since_ = now;
  taken_before_ = taken;
  return slow;
}

void Connection::drain() {
  const Stay stay(*this);
  draining_ = true;
  if (state_ == State::idle) leave();
}

namespace {

void append_start(std::string& out, const Answer& answer) {
  out.append("HTTP/1.1 ");
  append_number(out, answer.status);
  out.append(" ").append(http::reason_phrase(answer.status));
  out.append("\r\nContent-Type: ").append(answer.content_type).append("\r\n");
}

void append_end(std::string& out, const Answer& answer, bool keep_alive) {
  out.append(answer.extra_fields);
  out.append(keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n");
}

}  // namespace

void append_answer(std::string& out, const Answer& answer, bool keep_alive, bool to_head_request) {
  append_start(out, answer);
  out.append("Content-Length: ");
  append_number(out, answer.body.size());
  out.append("\r\n");
  append_end(out, answer, keep_alive);
  if (!to_head_request) out.append(answer.body);
}

void append_open_answer(std::string& out, const Answer& answer, bool keep_alive, bool chunked) {
  append_start(out, answer);
  if (chunked) out.append("Transfer-Encoding: chunked\r\n");
  append_end(out, answer, keep_alive);
}

std::string problem_answer(const http::Problem& problem, std::string_view extra_fields,
                           bool keep_alive, bool to_head_request) {
  std::string out;
  const std::string body = http::body_of(problem);
  append_answer(out,
                {.status = http::status_of(problem),
                 .content_type = "application/problem+json",
                 .body = body,
                 .extra_fields = extra_fields},
                keep_alive, to_head_request);
  return out;
}

}  // namespace pawl::server
