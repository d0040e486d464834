// Tls: encrypts a connection. What comes out is a Stream like any other.
//
// Why:      OpenSSL never sees a socket: bytes go through memory, so that TLS works over whatever
//           carries bytes, a test's string included. Its headers stand in tls.cc alone.
// Contract: TLS 1.2 or later. A client asks for the host by name and refuses a certificate that no
//           trusted authority signed for that very host or address; there is no way to turn this
//           off. Where a protocol is named (ALPN), nothing else is spoken with those who name
//           theirs. Errors carry OpenSSL's own words, and the file that is meant.
// Bounds:   beside what the plain stream holds, what it read last and was not taken yet.
// Threads:  a Tls may be used by many loops; each connection stays on its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "net/loop.h"
#include "pawl/result.h"

namespace pawl::net {

class Tls {
 public:
  using Done = std::move_only_function<void(Result<void>)>;
  enum class Protocol : std::uint8_t { any, http };  // any: none is named

  // Trusts the authorities in the PEM file, or the system's when none is named.
  static Result<std::shared_ptr<Tls>> client(const std::string& ca_file = {},
                                             Protocol protocol = Protocol::any);
  // Shows this certificate (PEM, with its chain) to whoever connects. The key has no password.
  static Result<std::shared_ptr<Tls>> server(const std::string& certificate_file,
                                             const std::string& key_file,
                                             Protocol protocol = Protocol::any);
  ~Tls();

  // Both greet the other side over `plain`, which lives on `loop`, and call `done` once, later,
  // from an event of `plain`.
  // After a good one the stream may be started; until then it may only be closed or dropped, and
  // `done` is not called any more. Nothing of the caller's was sent when `done` has an error.
  Result<StreamPtr> connect(Loop& loop, StreamPtr plain, const std::string& host, Done done) const;
  Result<StreamPtr> accept(Loop& loop, StreamPtr plain, Done done) const;

 private:
  struct Context;
  explicit Tls(std::unique_ptr<Context> context);

  std::unique_ptr<Context> context_;
};

}  // namespace pawl::net
