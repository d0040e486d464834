// Loop: one thread's event loop, with the TCP connections, timers and signals that live on it.
//
// Why:      everything above (HTTP, the proxy, the panel) sees bytes come and go and never a
//           socket, so it is tested without one. What runs the loop is chosen in one file, loop.cc.
// Contract: all callbacks of a loop come on the thread that runs it; nothing here may be called
//           from another one, except post(), dispatch() and stop(). Its connections and timers end
//           before it does.
// Bounds:   buffers for reading and sending are the loop's, shared by its connections; a connection
//           holds memory of its own only for what the other side has not taken yet, or for a piece
//           that was read just before it was held back. A peer that vanishes without a word is
//           noticed by TCP's own probes within bounds::tcp_silence_max.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "base/address.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::net {

// What happens to a connection. None of these is called after close().
class StreamHandler {
 public:
  virtual void on_data(std::string_view bytes) = 0;
  // Everything queued has been handed to the system, or is lost: then takes_bytes() is false.
  virtual void on_drained() = 0;
  // The other side closed, or the connection broke.
  virtual void on_closed() = 0;

 protected:
  ~StreamHandler() = default;
};

// One TCP connection.
class Stream {
 public:
  virtual ~Stream() = default;

  // No event comes during a call of any of these: whatever is there already, an end too, comes from
  // the loop afterwards. So they may be called from within an event.

  // From now on events go to `handler`, which must live until close() or on_closed().
  virtual void start(StreamHandler& handler) = 0;
  // Sends what it can at once and queues the rest. Ignored after a close.
  virtual void send(std::string_view bytes) = 0;
  // 0 after a close.
  virtual std::size_t queued_bytes() const = 0;
  // While paused nothing is read, so the sender is held back; a start or a resume ends that.
  virtual void pause() = 0;
  virtual void resume() = 0;
  // At once. No event comes after this.
  virtual void close() = 0;
  // Ends our side and goes on taking bytes for a moment, so that the last answer is not lost to a
  // reset. Everything must have been sent. No event comes after this.
  virtual void say_goodbye() = 0;
  // A look without waiting, for whoever wants to use a connection that has rested: false when the
  // other side has ended it, or has said something that nobody has read yet.
  virtual bool is_quiet() const = 0;
  // The same without a look: is there something that the loop knows of and has not told yet?
  virtual bool has_input() const = 0;
  // False: the other side has ended the connection, or it broke. While it is paused that is told by
  // on_drained(), since an end is told only behind what came before it.
  virtual bool takes_bytes() const = 0;
  virtual IpAddress peer() const = 0;
};
using StreamPtr = std::shared_ptr<Stream>;

using pawl::Target;

// One wait at a time. Destroying it ends the wait.
class Timer {
 public:
  virtual ~Timer() = default;
  // Calls the action once, that much later; a wait under way is given up for this one.
  virtual void start(Duration wait) = 0;
  virtual void stop() = 0;
};
using TimerPtr = std::unique_ptr<Timer>;

class Loop {
 public:
  static std::unique_ptr<Loop> make();
  virtual ~Loop() = default;

  // Until stop(), and again after that. Work posted before is done first.
  virtual void run() = 0;
  virtual void stop() = 0;

  // Several loops may listen on one address; the system spreads connections over them. Gives the
  // address it listens on, with the port chosen when 0 was asked for.
  virtual Result<Endpoint> listen(const Endpoint& endpoint,
                                  std::function<void(StreamPtr)> accepted) = 0;
  virtual void stop_listening() = 0;

  // `done` is called once, never before connect() returns. Not connected means: nothing left here.
  virtual void connect(const Target& target, Duration deadline,
                       std::move_only_function<void(Result<StreamPtr>)> done) = 0;

  virtual TimerPtr timer(std::function<void()> action) = 0;
  virtual void every(Duration period, std::function<void()> action) = 0;
  virtual void on_signals(std::initializer_list<int> signals, std::function<void(int)> action) = 0;

  // post: later, on the loop's thread. dispatch: at once when already there.
  virtual void post(std::move_only_function<void()> action) = 0;
  virtual void dispatch(std::move_only_function<void()> action) = 0;
  // Is this the thread that runs it?
  virtual bool is_here() const = 0;
};

}  // namespace pawl::net
