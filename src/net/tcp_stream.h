// TcpStream: a connection of a loop. It tries first and waits only for what did not go at once.
//
// Why:      a turn of the loop has three parts: what has come is read from all connections, then it
//           is told to their handlers, then what these send goes out. So the programs on the other
//           side are woken once a turn, not once an answer, and the processor does the same thing
//           many times before it does the next, which is what a request costs most.
// Bounds:   inbox_bytes are read in one part, outbox_bytes_max are sent; what is larger than
//           small_bytes_max is sent at once. A connection that is held back after it was read keeps
//           read_bytes_max at the most.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/loop.h"
#include "net/poller.h"

namespace pawl::net {

class TcpStream;

// What was read and waits to be told.
class Inbox {
 public:
  Inbox();
  // For the next piece; when there is none left, what waits is told first.
  std::span<char> room();
  // Its first bytes.
  void add(TcpStream& stream, std::size_t bytes);
  void forget(const TcpStream& stream);
  void tell_all();

 private:
  struct Piece {
    TcpStream* stream;
    std::size_t begin;
    std::size_t size;
  };

  std::vector<char> bytes_;
  std::size_t used_ = 0;
  std::vector<Piece> pieces_;
};

// What waits for the end of the turn.
class Outbox {
 public:
  struct Place {
    std::size_t begin = 0;
    std::size_t size = 0;
  };

  // Behind what is at `place`, which must be nothing or the last that was put in.
  void add(TcpStream& stream, Place& place, std::string_view bytes);
  bool has_room_for(std::string_view bytes) const;
  bool is_last(const Place& place) const { return place.begin + place.size == bytes_.size(); }
  std::string_view at(const Place& place) const {
    return std::string_view(bytes_).substr(place.begin, place.size);
  }
  void forget(const TcpStream& stream);
  // The end of the turn.
  void send_all();

 private:
  std::string bytes_;
  std::vector<TcpStream*> waiting_;
};

// What the connections of one loop share.
struct TcpHome {
  // One that has said goodbye and still takes bytes.
  struct Leaving {
    SteadyInstant due;
    std::shared_ptr<TcpStream> stream;
  };

  // Ends those whose time is over, and says when the next one's is.
  SteadyInstant end_leaving(SteadyInstant now);

  Poller poller;
  Inbox inbox;
  Outbox outbox;
  std::deque<Leaving> leaving;  // the first to go in front
};

SteadyInstant steady_now();

class TcpStream final : public Stream,
                        public Poller::Source,
                        public std::enable_shared_from_this<TcpStream> {
 public:
  // Owns the socket, which does not block.
  TcpStream(TcpHome& home, int socket, const IpAddress& peer);
  ~TcpStream() override;
  TcpStream(const TcpStream&) = delete;
  TcpStream& operator=(const TcpStream&) = delete;

  void start(StreamHandler& handler) override;
  void send(std::string_view bytes) override;
  std::size_t queued_bytes() const override { return queue_.size() - queue_sent_; }
  void pause() override { paused_ = true; }
  void resume() override;
  void close() override;
  void say_goodbye() override;
  bool is_quiet() const override;
  bool has_input() const override {
    return state_ != State::open || readable_ || in_inbox_ || !held_.empty();
  }
  bool takes_bytes() const override { return state_ == State::open && !deaf_; }
  IpAddress peer() const override { return peer_; }

  void on_ready(std::uint32_t events) override;
  void tell(std::string_view bytes);
  // What waits in the outbox is sent, or queued, now.
  void send_waiting();

 private:
  // leaving: the handler is gone; what still comes is thrown away.
  enum class State : std::uint8_t { open, leaving, closed };

  bool wants_data() const;
  void read();
  void read_later();
  std::size_t write_now(std::string_view bytes);
  void write_queue();
  void was_reset();
  void leave_outbox();
  void broken();

  TcpHome& home_;
  int socket_;
  IpAddress peer_;
  StreamHandler* handler_ = nullptr;
  State state_ = State::open;
  bool paused_ = false;
  bool deaf_ = false;      // the other side takes nothing more
  bool readable_ = false;  // there may be something that has not been read
  bool ending_ = false;    // its end is among that
  bool reset_told_ = false;
  bool reads_later_ = false;
  bool in_inbox_ = false;
  std::string held_;       // what was read before it was held back
  Outbox::Place waiting_;  // in the outbox
  std::string queue_;
  std::size_t queue_sent_ = 0;
};

}  // namespace pawl::net
