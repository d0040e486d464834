// CurlHttpClient: HttpClient by libcurl, on a thread of its own.
//
// Contract: HttpClient. HTTP/1.1 over TCP or TLS 1.2 and later; connections are kept and used
//           again.
// Once:     libcurl would by itself send a request a second time when a connection that it used
//           again breaks before an answer. It asks us before it sends anything, so the second time
//           it is told no, and the caller hears that the outcome is unknown.
// Reach:    an address is checked where the connection is opened, behind the resolver, so it does
//           not matter what a name led to a moment ago; and again where one is used anew.
// Bounds:   bounds::http_calls_max requests at once; one more is refused (unavailable).
// Threads:  any. `done` is called by the client's thread, or by the caller when nothing was begun;
//           it must not block, nor destroy the client. The destructor breaks off what is under way
//           and answers it.
#pragma once

#include <memory>
#include <string>

#include "port/http_client.h"

namespace pawl {

struct CurlHttpClientOptions {
  std::string ca_file = {};  // PEM; empty: the system's authorities
};

class CurlHttpClient final : public HttpClient {
 public:
  static Result<std::unique_ptr<CurlHttpClient>> open(CurlHttpClientOptions options = {});
  ~CurlHttpClient() override;

  void send(HttpRequest request, Done done) override;

 private:
  class Transfer;
  class Worker;
  explicit CurlHttpClient(std::unique_ptr<Worker> worker);

  std::unique_ptr<Worker> worker_;
};

}  // namespace pawl
