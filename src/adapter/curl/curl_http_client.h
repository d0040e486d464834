// CurlHttpClient: HttpClient by libcurl, on a thread of its own.
//
// Contract: HttpClient. HTTP/1.1 over TCP; over TLS 1.2 and later HTTP/2 where the server has it,
//           else HTTP/1.1. Connections are kept and used again. A request that brings an
//           Accept-Encoding of its own (gzip) has its answer unpacked; body_bytes_max is of what
//           was unpacked.
// Once:     libcurl would by itself send a request a second time when a connection that it used
//           again breaks before an answer. It asks us before it sends anything, so the second time
//           it is told no, and the caller hears that the outcome is unknown.
//           The same holds where a server of HTTP/2 turns a stream away.
// Proxy:    only the one that is set, never one of the environment. https goes through a tunnel of
//           it. may_connect is then asked of the proxy's address: the rest is the proxy's to say.
// Reach:    an address is checked where the connection is opened, behind the resolver, so it does
//           not matter what a name led to a moment ago; and again where one is used anew.
// Bounds:   bounds::http_calls_max requests at once; one more is refused (unavailable).
// Threads:  any. `done` is called by the client's thread, or by the caller when nothing was begun;
//           it must not block, nor destroy the client. The destructor breaks off what is under way
//           and answers it.
#pragma once

#include <memory>
#include <string>

#include "base/secret.h"
#include "port/http_client.h"

namespace pawl {

struct CurlHttpClientOptions {
  std::string ca_file = {};  // PEM; empty: the system's authorities
  // http://[user:password@]host:port, or https, socks5h; empty: none.
  Secret<std::string> proxy = {};
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
