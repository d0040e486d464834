// Client: what pawl's stores hold to speak with Redis, one server or a cluster.
//
// Why:      every store needs the same: pipelining, reconnecting, a deadline on every call, a
//           cluster's redirections, and an honest outcome when a connection breaks.
// Contract: `done` is called once for every call(): on the client's own thread, or before call()
//           returns when the queue is full. It must be quick; it may call call() again. An error's
//           outcome says not_applied when the command cannot have been executed (never sent, or
//           refused by the server) and unknown when it was sent and no answer came.
//           While a server is away its calls fail at once; it is sought again by itself.
//           A command goes to the server in the order of the calls of one thread, though not across
//           the nodes of a cluster, nor after a redirection.
// Errors:   Code::unavailable for what may pass by itself (no connection, no answer in time,
//           LOADING, READONLY, CLUSTERDOWN …), not_found for NOSCRIPT, refused for everything else
//           a server says. The message names the server and repeats its words.
// Bounds:   bounds::redis_calls_max calls and redis_queue_bytes_max bytes on their way to the
//           client's thread, and as many to each server.
// Threads:  any, with one thread of its own. Destroying it fails what is under way; nobody may call
//           any more then.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "adapter/redis/resp.h"
#include "base/redis_url.h"
#include "net/loop.h"
#include "pawl/clock.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::redis {

using Done = std::move_only_function<void(Result<Reply>)>;

struct Health {
  bool up = false;
  std::string detail;  // what is wrong, or where it is connected to
  Instant since;
  bool operator==(const Health&) const = default;
};

class Client {
 public:
  // An error only for what can never work: a file of authorities that cannot be read. Whether the
  // server answers is a matter of health(). The loop is for tests.
  static Result<std::unique_ptr<Client>> make(const RedisUrl& url, Clock& clock,
                                              std::unique_ptr<net::Loop> loop = nullptr);
  ~Client();

  // `key` says which node of a cluster it goes to, its {hash tag} alone if it has one; all keys of
  // a command must lie in one slot. An empty key goes to any node. The deadline counts from now.
  void call(std::span<const std::string_view> command, std::string_view key, Duration deadline,
            Done done);
  // For tests and checks; never on the client's own thread.
  Result<Reply> call_and_wait(std::span<const std::string_view> command, std::string_view key,
                              Duration deadline);

  Health health() const;

 private:
  class Core;
  explicit Client(std::unique_ptr<Core> core);

  std::unique_ptr<Core> core_;
};

}  // namespace pawl::redis
