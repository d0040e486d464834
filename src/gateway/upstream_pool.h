// UpstreamPool: one loop's kept-alive connections to the upstream, the last used first.
//
// Contract: take() gives a connection that nobody else uses; give_back() only after a whole answer
//           that allows another request. A connection that says anything while it rests is closed.
// Bounds:   bounds::upstream_idle_max resting connections.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "net/loop.h"

namespace pawl::gateway {

class UpstreamPool {
 public:
  struct Taken {
    net::StreamPtr stream;
    bool reused = false;
  };
  using Done = std::move_only_function<void(Result<Taken>)>;

  explicit UpstreamPool(net::Loop& loop) : loop_(loop) {}
  ~UpstreamPool();

  void take(const net::Target& target, Done done);
  void give_back(const net::Target& target, net::StreamPtr stream);

 private:
  class Resting;

  net::Loop& loop_;
  net::Target target_;  // of all resting connections; another one closes them
  std::vector<std::shared_ptr<Resting>> resting_;
};

}  // namespace pawl::gateway
