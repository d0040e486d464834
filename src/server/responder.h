// Responder: answers whole requests with a function. For listeners that serve rather than proxy:
// the admin API, the demo upstream, emulators.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/connection.h"

namespace pawl::server {

struct Request {
  std::string method;
  std::string target;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;

  std::string_view path() const { return std::string_view(target).substr(0, target.find('?')); }
  // The value of the first header of that name (ASCII case ignored), or empty.
  std::string_view header(std::string_view name) const;
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::string extra_fields;  // "Name: value\r\n" lines
};
Response problem_response(const http::Problem& problem, std::string extra_fields = "");

using Respond = std::function<Response(const Request&)>;

// A handler for one connection. A body over `body_bytes_max` is refused.
std::shared_ptr<RequestHandler> make_responder(Connection& connection, const Respond& respond,
                                               std::size_t body_bytes_max);

}  // namespace pawl::server
