// Responder: answers whole requests with a function, at once or later. For listeners that serve
// rather than proxy: the admin API, the demo upstream, emulators.
//
// Contract: a request is handed over with a Reply. Whoever holds it answers once, with send(), or
//           with stream() and as many pieces as it likes (server-sent events). A Reply that is
//           dropped without an answer closes its connection. When the client has left, what is sent
//           goes nowhere; nobody needs to ask before.
// Bounds:   a body over its maximum is refused; a client that leaves more than
//           bounds::send_queue_bytes_max of a stream untaken is let go.
// Threads:  those of the connection's loop. A Reply and a ReplyStream are used, and end, there.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/address.h"
#include "server/connection.h"

namespace pawl::server {

struct Request {
  std::string method;
  std::string target;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  IpAddress peer = {};

  std::string_view path() const { return std::string_view(target).substr(0, target.find('?')); }
  // The value of the first header of that name (ASCII case ignored), or empty.
  std::string_view header(std::string_view name) const;
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body = {};
  std::string extra_fields = {};  // "Name: value\r\n" lines
};
Response problem_response(const http::Problem& problem, std::string extra_fields = "");

namespace responder_detail {
class Exchange;
}  // namespace responder_detail

// The rest of an answer that has begun. Destroying it ends the answer.
class ReplyStream {
 public:
  explicit ReplyStream(std::shared_ptr<responder_detail::Exchange> exchange);
  ReplyStream(ReplyStream&&) noexcept;
  ReplyStream& operator=(ReplyStream&&) noexcept;
  ~ReplyStream();

  // False when nobody listens any more: the client left, or did not keep up.
  bool push(std::string_view bytes);
  bool is_open() const;

 private:
  std::shared_ptr<responder_detail::Exchange> exchange_;
};

class Reply {
 public:
  explicit Reply(std::shared_ptr<responder_detail::Exchange> exchange);
  Reply(Reply&&) noexcept;
  Reply& operator=(Reply&&) noexcept;
  ~Reply();

  void send(const Response& response) &&;
  // False: the client has left. For whoever would do something for it alone.
  bool is_open() const;
  // Status, fields and, if any, a first piece; the length is not known.
  ReplyStream stream(const Response& head) &&;

 private:
  std::shared_ptr<responder_detail::Exchange> exchange_;
};

// The request is good during the call.
using Respond = std::function<void(const Request&, Reply)>;
using RespondAtOnce = std::function<Response(const Request&)>;

// A handler for one connection. A body over `body_bytes_max` is refused.
std::shared_ptr<RequestHandler> make_responder(Connection& connection, Respond respond,
                                               std::size_t body_bytes_max);
std::shared_ptr<RequestHandler> make_responder(Connection& connection, RespondAtOnce respond,
                                               std::size_t body_bytes_max);

}  // namespace pawl::server
