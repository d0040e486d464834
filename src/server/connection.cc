#include "server/connection.h"

#include <utility>

#include "base/assert.h"
#include "base/text.h"

namespace pawl::server {

Connection::Connection(net::StreamPtr stream, Clock& clock, Events events)
    : stream_(std::move(stream)),
      clock_(clock),
      events_(std::move(events)),
      since_(clock.steady_now()),
      sent_since_(since_) {}

void Connection::start(std::shared_ptr<RequestHandler> handler) {
  handler_ = std::move(handler);
  stream_->start(*this);
}

void Connection::on_data(std::string_view bytes) {
  const auto self = shared_from_this();
  since_ = state_ == State::head ? since_ : clock_.steady_now();
  if (stash_.empty()) {
    consume(bytes);
    stash_.assign(bytes);
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
        if (!input.empty()) state_ = State::head;
        going_on = !input.empty();
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
  const auto progress = http::parse_request(input, head_);
  if (!progress) {
    reject(progress.error());
    return true;
  }
  if (*progress == http::HeadProgress::needs_more) return false;
  body_ = http::BodyReader(head_.framing);
  state_ = State::body;
  answer_begun_ = false;
  answered_ = false;
  discarding_ = false;
  keep_alive_ = head_.keep_alive;
  handler_->on_head(head_);
  if (state_ != State::body) return true;
  input.remove_prefix(head_.bytes);
  if (head_.expects_continue && !answer_begun_ && !discarding_) {
    stream_->send("HTTP/1.1 100 Continue\r\n\r\n");
  }
  return true;
}

bool Connection::consume_body(std::string_view& input) {
  if (body_.done()) {
    state_ = State::answering;
    if (!discarding_) handler_->on_body_end();
    return true;
  }
  if (input.empty()) return false;
  const auto piece = body_.feed(input);
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
  since_ = clock_.steady_now();
  stream_->resume();
}

void Connection::finish(bool keep_alive) {
  const auto self = shared_from_this();
  if (state_ == State::leaving || state_ == State::closed) return;
  PAWL_ASSERT(in_request() && !answered_);
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
  return head_.framing.kind == http::Framing::Kind::length && !head_.expects_continue &&
         head_.framing.length <= bounds::http_discard_bytes_max;
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
  events_.rejected(rejection, peer());
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
  const auto self = shared_from_this();
  if (state_ == State::closed) return;
  const bool was_in_request = in_request() && !answered_;
  stream_->close();
  if (was_in_request) handler_->on_gone(0);
  closed();
}

void Connection::on_drained() {
  const auto self = shared_from_this();
  if (state_ == State::leaving) {
    leave();
    return;
  }
  handler_->on_drained();
  if (state_ == State::answering && answered_) go_on();
}

void Connection::on_closed() {
  const auto self = shared_from_this();
  if (in_request() && !answered_) handler_->on_gone(0);
  closed();
}

void Connection::closed() {
  if (std::exchange(state_, State::closed) == State::closed) return;
  events_.closed(*this);
}

void Connection::tick(SteadyInstant now) {
  const auto self = shared_from_this();
  const Duration waited = now - since_;
  switch (state_) {
    case State::idle:
      if (waited > bounds::http_idle_deadline) abort();
      break;
    case State::head:
      if (waited > bounds::http_head_deadline) {
        reject({http::Rejection::Kind::malformed, "the head did not arrive in time"});
      }
      break;
    case State::body:
      // While the handler holds the input back, the delay is not the client's.
      if (!input_paused_ && waited > bounds::http_idle_deadline) abort();
      break;
    case State::answering:
    case State::leaving:
    case State::closed:
      break;
  }
  if (state_ != State::closed && client_takes_nothing(now)) abort();
  if (state_ != State::closed) handler_->on_tick(now);
}

bool Connection::client_takes_nothing(SteadyInstant now) {
  const std::uint64_t taken = sent_bytes_ - queued_bytes();
  if (queued_bytes() == 0 || taken != taken_at_last_tick_) sent_since_ = now;
  taken_at_last_tick_ = taken;
  return now - sent_since_ > bounds::http_idle_deadline;
}

void Connection::drain() {
  const auto self = shared_from_this();
  draining_ = true;
  if (state_ == State::idle) leave();
}

void append_answer(std::string& out, const Answer& answer, bool keep_alive, bool to_head_request) {
  out.append("HTTP/1.1 ");
  append_number(out, answer.status);
  out.append(" ").append(http::reason_phrase(answer.status));
  out.append("\r\nContent-Type: ").append(answer.content_type).append("\r\nContent-Length: ");
  append_number(out, answer.body.size());
  out.append("\r\n").append(answer.extra_fields);
  out.append(keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n");
  if (!to_head_request) out.append(answer.body);
}

std::string problem_answer(const http::Problem& problem, std::string_view extra_fields,
                           bool keep_alive, bool to_head_request) {
  std::string out;
  const std::string body = http::body_of(problem);
  append_answer(out,
                {.status = http::status_of(problem.code),
                 .content_type = "application/problem+json",
                 .body = body,
                 .extra_fields = extra_fields},
                keep_alive, to_head_request);
  return out;
}

}  // namespace pawl::server
