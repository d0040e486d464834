// HttpClient: one HTTP request to another server, and what came of it.
//
// Contract: `done` is called exactly once, before send() returns or later, on any thread, and must
//           not keep it. What leaves is what the request says, with Host and Content-Length: one
//           request, once. No redirect is followed, nothing is sent a second time (a connection
//           that was kept alive and turns out to be dead is an error as well), no proxy of the
//           environment is used, and no certificate goes unchecked.
//           An answer is there as soon as its head has come. `complete` says whether its body
//           has too; a body may be cut by the bound, the deadline or the connection.
// Errors:   no answer came. The outcome is not_applied when nothing of the request has left
//           (unknown host, refused connection, failed handshake), else unknown. invalid: the
//           request is none; refused: may_connect said no to every address; unavailable: the rest,
//           too many at once as well.
// Threads:  any.
// Held by:  adapter/curl; tests have fakes.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/address.h"
#include "base/bounds.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl {

struct HttpField {
  std::string name;
  std::string value;
  bool operator==(const HttpField&) const = default;
};

struct HttpRequest {
  std::string method = "GET";
  std::string url = {};  // http or https
  std::vector<HttpField> fields = {};
  std::string body = {};
  Duration connect_deadline = Duration::seconds(10);  // name and TLS included
  Duration deadline = Duration::seconds(30);          // of the whole
  Duration stall = {};  // without a byte either way, in whole seconds; zero: up to the deadline
  std::size_t body_bytes_max = bounds::http_call_body_bytes_max;  // of the answer
  // Asked of every address before a connection is opened to it, or used again. Empty: all are
  // fine. It is called by the client's thread.
  std::function<bool(const IpAddress&)> may_connect = {};
};

struct HttpAnswer {
  int status = 0;
  std::vector<HttpField> fields = {};  // names in lower case
  std::string body = {};
  bool complete = false;
};

class HttpClient {
 public:
  using Done = std::move_only_function<void(Result<HttpAnswer>)>;

  virtual ~HttpClient() = default;
  virtual void send(HttpRequest request, Done done) = 0;
};

}  // namespace pawl
