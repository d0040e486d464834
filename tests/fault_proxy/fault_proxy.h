// FaultProxy: a TCP proxy that spoils a test's traffic on purpose. It listens on a loopback port,
// passes every connection on to the server on another one, and does to the bytes what it was told.
//
// Why:      a client is only as good as what it does when the answer is late, torn, doubled or
// missing. Contract: a fault is in force when set() returns, for open connections and for later
// ones, until
//           clear(). Faults add up; setting one again replaces its values. clear() lets go of what
//           was held back, but does not mend a connection that was cut or lost its server. A chunk
//           is what one read took from the sender, at most 16 KiB.
// Threads:  any may call. One thread of its own moves the bytes; one lock guards everything.
// Bounds:   256 connections, 256 KiB held a connection and direction; beyond that the proxy stops
//           accepting or reading until there is room. The destructor waits for nothing but its
//           thread, which never blocks on a peer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl {

enum class Direction : std::uint8_t { to_server, to_client };
std::string_view to_string(Direction direction);

enum class FaultKind : std::uint8_t {
  delay,      // every chunk is passed on `time` after it came
  cut,        // after `bytes` more bytes of a connection both its sides are ended as `ending` says;
              // with 0, when the first byte would pass
  drop,       // what comes is swallowed, the end of the connection too
  duplicate,  // the next chunk, of whichever connection, is passed on twice; then this fault is
              // spent
  stall,      // nothing is passed on
  dribble,    // one byte every `time`
  refuse,     // a new connection is reset as soon as it is accepted; has no direction
  half_open,  // the server side is closed and the client is not told; has no direction
};
inline constexpr int fault_kinds = 8;
std::string_view to_string(FaultKind kind);

enum class Ending : std::uint8_t { rst, fin };

struct Fault {
  FaultKind kind;
  Direction direction = Direction::to_client;
  Duration time = {};
  std::uint64_t bytes = 0;
  Ending ending = Ending::rst;

  bool operator==(const Fault&) const = default;
};

// "delay to_server 200ms", "cut to_client 10 [rst|fin]", "drop to_client", "duplicate to_server",
// "stall to_client", "dribble to_client 5ms", "refuse", "half_open".
Result<Fault> parse_fault(std::string_view text);

class FaultProxy {
 public:
  // Port 0 takes a free one. Ask started() where listening may fail; port() is 0 then.
  explicit FaultProxy(std::uint16_t upstream_port, std::uint16_t listen_port = 0);
  ~FaultProxy();
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;

  Result<void> started() const;
  std::uint16_t port() const;

  void set(const Fault& fault);
  void clear();

  // Accepted since the start, the refused ones included.
  std::uint64_t connections() const;
  // Passed on since the start.
  std::uint64_t bytes(Direction direction) const;
  // How often the fault struck: connections for cut, refuse and half_open, chunks for the others.
  std::uint64_t count(FaultKind kind, Direction direction = Direction::to_client) const;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace pawl
