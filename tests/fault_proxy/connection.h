// The state of one proxied connection: its two sockets and, for each direction, what is held back.
// Internal to fault_proxy.cc, and touched only under its lock.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "pawl/time.h"
#include "tests/fault_proxy/fault_proxy.h"

namespace pawl::fault_proxy {

inline constexpr std::size_t lane_bytes_max = 256 * 1024;

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { close(); }

  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  void close() {
    if (open()) ::close(std::exchange(fd_, -1));
  }
  // Closes so that the peer sees "connection reset".
  void reset() {
    const linger now{.l_onoff = 1, .l_linger = 0};
    if (open()) ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close();
  }

 private:
  int fd_ = -1;
};

struct Chunk {
  enum class Kind : std::uint8_t { bytes, end, reset };
  Kind kind;
  std::string bytes;
  SteadyInstant arrived;
};

struct Cut {
  std::uint64_t left;
  Ending ending;
};

// What was asked for one direction.
struct Plan {
  Duration delay;
  Duration dribble;
  bool drop = false;
  bool duplicate = false;
  bool stall = false;
  std::optional<Cut> cut;
};

// One direction of one connection, from its source to its sink.
struct Lane {
  std::deque<Chunk> queue;
  std::size_t queued_bytes = 0;
  std::optional<Cut> cut;
  SteadyInstant next_byte;    // of a dribble
  bool ended = false;         // the source has nothing more
  bool deaf = false;          // what comes is thrown away
  bool blocked = false;       // the sink's buffer is full
  bool source_reset = false;  // a write to the source found it reset; its reads show a plain end

  void silence() {
    deaf = true;
    queue.clear();
    queued_bytes = 0;
  }
  bool wants_bytes() const { return !ended && queued_bytes < lane_bytes_max; }
};

constexpr std::size_t index(Direction direction) {
  return static_cast<std::size_t>(direction);
}

constexpr Direction opposite(Direction direction) {
  return direction == Direction::to_server ? Direction::to_client : Direction::to_server;
}

struct Connection {
  Descriptor client;
  Descriptor server;
  std::array<Lane, 2> lanes;
  bool lose_server = false;
  // Set once the connection is being reset: waits for the bytes sent to this side to arrive.
  std::optional<std::pair<Direction, SteadyInstant>> reset_by;

  Lane& lane(Direction direction) { return lanes[index(direction)]; }
  Descriptor& source(Direction d) { return d == Direction::to_server ? client : server; }
  Descriptor& sink(Direction d) { return source(opposite(d)); }
  void reset() {
    client.reset();
    server.reset();
  }
  bool over() const {
    const auto done = [](const Lane& lane) { return lane.ended && lane.queue.empty(); };
    return !client.open() || std::all_of(lanes.begin(), lanes.end(), done);
  }
};

}  // namespace pawl::fault_proxy
