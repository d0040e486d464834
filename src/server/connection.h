// Connection: the server's side of one HTTP/1.1 connection. It cuts the bytes into requests, one
// after the other, hands each to a RequestHandler and sends the answer.
//
// Why:      framing, pipelining, deadlines and closing are the same for the proxy, the admin API,
//           the demo upstream and every emulator; what is done with a request is not.
// Contract: a request is handed on only when its head passed the strict gate (core/http/head.h). A
//           handler answers with send() and finish(); the next request of the connection begins
//           after that. What the gate refuses is answered here with a problem and the connection
//           closed. A body that waits for 100 Continue is invited once the head has been handled,
//           unless the handler keeps that to itself.
// Bounds:   head and idle deadlines (Timeouts), bounds::http_*; input read ahead of its turn is
//           held back. A client that sends a body, or takes an answer, at less than
//           bounds::http_rate_min is given up. A connection that idles has neither handler nor
//           buffer.
// Threads:  those of its loop.
#pragma once

#include <cstdint>
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
  // In a tunnel: whatever the client sent.
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

struct Timeouts {
  Duration head = bounds::http_head_deadline;  // from a request's first byte to the end of its head
  Duration idle =
      bounds::http_idle_deadline;  // between requests; of a body or an answer that rests
};

class Connection;

// Whoever has the connections.
class ConnectionOwner {
 public:
  virtual std::shared_ptr<RequestHandler> make_handler(Connection& connection) = 0;
  // The gate refused a request.
  virtual void on_rejected(const http::Rejection& rejection, const IpAddress& peer) = 0;
  virtual void on_closed(Connection& connection) = 0;
  virtual const Timeouts& timeouts() const = 0;

 protected:
  ~ConnectionOwner() = default;
};

class Connection final : public net::StreamHandler,
                         public std::enable_shared_from_this<Connection> {
 public:
  // The owner outlives it.
  Connection(net::StreamPtr stream, Clock& clock, ConnectionOwner& owner);
  void start();

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
  // In on_head: the handler itself will invite the body, if that waits.
  void hold_invitation() { invitation_held_ = true; }
  // Sends 100 Continue if the body waits for it; otherwise does nothing.
  void invite_body();
  // Of the body that has ended, as BodyReader has them.
  std::string_view trailers() const { return body_.trailers(); }
  // From now on no HTTP is spoken here: what the client sends goes to on_body() as it is, until
  // finish(false) or abort(). For the handler of a request without a body, once it has sent its
  // answer's head.
  void become_tunnel();
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
  class Stay;
  // answering: the request has been read in full; its answer is not complete, or the client has yet
  //            to take enough of it for the next request to begin.
  // leaving:   nothing more is read; what is queued is still sent.
  enum class State : std::uint8_t { idle, head, body, answering, tunnel, leaving, closed };

  void consume(std::string_view& input);
  bool consume_head(std::string_view& input);
  void begin_request(const http::RequestHead& head);
  bool consume_body(std::string_view& input);
  bool begin_next();
  void go_on();
  void leave();
  void reject(const http::Rejection& rejection);
  void closed();
  void tick_state(SteadyInstant now);
  bool body_is_too_slow(SteadyInstant now);
  bool client_takes_too_little(SteadyInstant now);
  void rest();
  bool in_request() const {
    return state_ == State::body || state_ == State::answering || state_ == State::tunnel;
  }

  net::StreamPtr stream_;
  Clock& clock_;
  ConnectionOwner& owner_;
  std::shared_ptr<RequestHandler> handler_;  // while there is something to do

  State state_ = State::idle;
  int calls_ = 0;  // of ours that are under way, one within another
  bool consuming_ = false;
  bool input_paused_ = false;
  bool discarding_ = false;
  bool invitation_held_ = false;
  bool expecting_ = false;  // the body waits for 100 Continue
  bool answer_begun_ = false;
  bool answered_ = false;
  bool keep_alive_ = true;
  bool draining_ = false;
  SteadyInstant since_;          // of the state, or of the stretch of a body that is measured
  std::int64_t body_bytes_ = 0;  // of that stretch
  SteadyInstant sent_since_;     // the same of what the client takes
  std::uint64_t taken_before_ = 0;
  std::uint64_t sent_bytes_ = 0;  // in all, of answers
  std::string stash_;             // input that waits for more bytes or for its turn
  http::Framing framing_;
  http::BodyReader body_;
};

// A complete answer, ready for send().
struct Answer {
  int status = 200;
  std::string_view content_type = "application/json";
  std::string_view body;
  std::string_view extra_fields;  // "Name: value\r\n" lines
};
void append_answer(std::string& out, const Answer& answer, bool keep_alive, bool to_head_request);
// Of an answer whose length nobody knows yet: all but the body, which is left to the caller.
void append_open_answer(std::string& out, const Answer& answer, bool keep_alive, bool chunked);
std::string problem_answer(const http::Problem& problem, std::string_view extra_fields,
                           bool keep_alive, bool to_head_request);

}  // namespace pawl::server
