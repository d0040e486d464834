// Connection: the server's side of one HTTP/1.1 connection. It cuts the bytes into requests, one
// after the other, hands each to a RequestHandler and sends the answer.
//
// Why:      framing, pipelining, deadlines and closing are the same for the proxy, the admin API,
//           the demo upstream and every emulator; what is done with a request is not.
// Contract: a request is handed on only when its head passed the strict gate (core/http/head.h). A
//           handler answers with send() and finish(); the next request of the connection begins
//           after that. What the gate refuses is answered here with a problem and the connection
//           closed.
// Bounds:   head and idle deadlines, bounds::http_*; input read ahead of its turn is held back.
// Threads:  those of its loop.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/bounds.h"
#include "core/http/body.h"
#include "core/http/head.h"
#include "core/http/problem.h"
#include "net/loop.h"
#include "pawl/clock.h"

namespace pawl::server {

// What is done with the requests of one connection; one at a time.
class RequestHandler {
 public:
  virtual ~RequestHandler() = default;
  // The views in `head` are good during the call.
  virtual void on_head(const http::RequestHead& head) = 0;
  virtual void on_body(std::string_view piece) = 0;
  virtual void on_body_end() = 0;
  // The answer's queue is empty again.
  virtual void on_drained() {}
  // The request ends here: its client left (status 0), or its body was refused and the client told
  // so. No call comes after this one.
  virtual void on_gone(int /*status*/) {}
  // About four times a second.
  virtual void on_tick(SteadyInstant) {}
};

class Connection final : public net::StreamHandler,
                         public std::enable_shared_from_this<Connection> {
 public:
  using OnClosed = std::function<void(Connection&)>;
  // Told of every request the gate refused, and of whom it came from.
  using OnRejected = std::function<void(const http::Rejection&, const IpAddress&)>;

  struct Events {
    OnClosed closed;
    OnRejected rejected;
  };

  Connection(net::StreamPtr stream, Clock& clock, Events events);
  void start(std::shared_ptr<RequestHandler> handler);

  // For the handler.
  void send(std::string_view bytes);
  std::size_t queued_bytes() const { return stream_->queued_bytes(); }
  // The answer is complete. Without `keep_alive` the connection is closed once it has been sent.
  void finish(bool keep_alive);
  // May the answer to the current request promise to keep the connection? Not when the client asked
  // to close, when we are shutting down, or when too much of an unwanted body is still to come.
  bool may_keep_alive() const;
  // The handler wants no more of this request's body: what comes of it is dropped.
  void discard_body() { discarding_ = true; }
  void pause_input();
  void resume_input();
  // At once; the handler hears nothing more.
  void abort();
  IpAddress peer() const { return stream_->peer(); }

  // For the server.
  void tick(SteadyInstant now);
  // No request after the current one; closes at once when there is none.
  void drain();

  void on_data(std::string_view bytes) override;
  void on_drained() override;
  void on_closed() override;

 private:
  // answering: the request has been read in full; its answer is not complete, or the client has yet
  //            to take enough of it for the next request to begin.
  // leaving:   nothing more is read; what is queued is still sent.
  enum class State : std::uint8_t { idle, head, body, answering, leaving, closed };

  void consume(std::string_view& input);
  bool consume_head(std::string_view& input);
  bool consume_body(std::string_view& input);
  bool begin_next();
  void go_on();
  void leave();
  void reject(const http::Rejection& rejection);
  void closed();
  bool client_takes_nothing(SteadyInstant now);
  bool in_request() const { return state_ == State::body || state_ == State::answering; }

  net::StreamPtr stream_;
  Clock& clock_;
  Events events_;
  std::shared_ptr<RequestHandler> handler_;

  State state_ = State::idle;
  SteadyInstant since_;           // of the state, or of the last byte of a body
  SteadyInstant sent_since_;      // when the client last took something of an answer
  std::uint64_t sent_bytes_ = 0;  // in all, of answers
  std::uint64_t taken_at_last_tick_ = 0;
  bool input_paused_ = false;
  std::string stash_;  // input that waits for more bytes or for its turn
  http::RequestHead head_;
  http::BodyReader body_;
  bool consuming_ = false;
  bool discarding_ = false;
  bool answer_begun_ = false;
  bool answered_ = false;
  bool keep_alive_ = true;
  bool draining_ = false;
};

// A complete answer, ready for send().
struct Answer {
  int status = 200;
  std::string_view content_type = "application/json";
  std::string_view body;
  std::string_view extra_fields;  // "Name: value\r\n" lines
};
void append_answer(std::string& out, const Answer& answer, bool keep_alive, bool to_head_request);
std::string problem_answer(const http::Problem& problem, std::string_view extra_fields,
                           bool keep_alive, bool to_head_request);

}  // namespace pawl::server
