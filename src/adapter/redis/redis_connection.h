// Connection: one connection to one Redis server, kept up as long as the object lives.
//
// Why:      commands are pipelined: all that come in one turn of the loop leave in one write, and
//           answers come in the same order.
// Contract: every send() is answered once, through the owner, at its deadline at the latest. While
//           the first attempt to connect (or to reconnect) runs, commands wait; when it has failed
//           they are refused at once until a later attempt succeeds. A connection that breaks
//           fails all its calls: not_applied what never left, unknown what did. A command whose
//           deadline passes before it left never leaves.
//           Attempts follow each other with growing waits, spread by a hash.
// Bounds:   bounds::redis_calls_max calls, redis_queue_bytes_max bytes waiting to leave. A server
//           that says nothing for redis_silence_max while calls expire is given up.
// Threads:  none; all on the loop's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapter/redis/resp.h"
#include "base/redis_url.h"
#include "net/loop.h"
#include "net/tls.h"
#include "pawl/clock.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::redis {

using Done = std::move_only_function<void(Result<Reply>)>;

// A command on its way.
struct Call {
  std::string_view
      bytes;  // as append_command makes them; needed until send() returns, or by `kept`
  SteadyInstant deadline = SteadyInstant::max();
  Done done = {};
  // For whoever may have to send it again.
  std::shared_ptr<const std::string> kept = {};  // holds `bytes`
  std::uint16_t slot = 0;
  std::uint8_t resends = 0;
};

// What all connections of a client share.
struct Surroundings {
  net::Loop& loop;
  Clock& clock;
  const RedisUrl& url;                  // for the login
  std::shared_ptr<const net::Tls> tls;  // null: without
};

class Connection final : public std::enable_shared_from_this<Connection>,
                         private net::StreamHandler {
 public:
  enum class State : std::uint8_t { connecting, up, down };

  // Neither may destroy the connection.
  class Owner {
   public:
    // A reply may be an error of the server's.
    virtual void on_answer(Connection& connection, Call call, Result<Reply> reply) = 0;
    virtual void on_state(Connection& connection) = 0;

   protected:
    ~Owner() = default;
  };

  static std::shared_ptr<Connection> make(const Surroundings& around, net::Target target,
                                          Owner& owner);
  ~Connection();

  void send(Call call);
  // Fails all calls and says no more.
  void close();

  State state() const { return state_; }
  const net::Target& target() const { return target_; }
  std::size_t calls() const { return calls_.size() - first_; }
  // Why it is not up.
  const std::string& trouble() const { return trouble_; }
  // "redis 127.0.0.1:6379"
  std::string name() const { return "redis " + to_string(target_); }

 private:
  struct Waiting {
    Call call;
    std::size_t bytes = 0;  // in output_, while it has not left
    bool over = false;      // answered before the server did
  };

  Connection(const Surroundings& around, net::Target target, Owner& owner);

  void attempt();
  void connected(net::StreamPtr plain);
  void log_in();
  void on_login_reply(const Reply& reply);
  void on_wait_over();

  void on_data(std::string_view bytes) override;
  void on_drained() override { flush(); }
  void on_closed() override { break_off("the server closed the connection"); }

  void flush_soon();
  void flush();
  void take_answer(Reply reply);
  void expire();
  void watch_deadline(SteadyInstant deadline);
  void break_off(const std::string& why);
  void fail_all(const std::string& why);
  void drop_stream();
  Duration backoff() const;
  Error error(Outcome outcome, const std::string& what) const;

  Surroundings around_;
  net::Target target_;
  Owner& owner_;

  State state_ = State::connecting;
  std::string trouble_ = "not connected yet";
  net::StreamPtr stream_;
  std::optional<ReplyReader> reader_;  // a new one with every stream
  std::vector<const char*> login_;     // what has been asked and not been answered
  net::TimerPtr wait_timer_;           // the next attempt, or the end of this one
  std::uint64_t attempts_ = 0;         // since it was last up for good
  SteadyInstant up_since_;
  SteadyInstant heard_;  // when the server last said something, or was last asked while silent

  // calls_[first_ … sent_) have left and wait for their answers; [sent_ …) are in output_.
  std::vector<Waiting> calls_;
  std::size_t first_ = 0;
  std::size_t sent_ = 0;
  std::string output_;
  bool flush_posted_ = false;
  net::TimerPtr deadline_timer_;
  SteadyInstant watched_ = SteadyInstant::max();  // what deadline_timer_ waits for
};

}  // namespace pawl::redis
