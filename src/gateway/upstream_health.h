// UpstreamHealth: asks every upstream, again and again, whether it is well.
//
// Contract: a check is a GET of the path that must be answered with 2xx, or, without a path, a
//           connection that is taken. It must end within the timeout; the next one begins an
//           interval after the last one began. What it shows goes to Upstreams::note.
// Bounds:   one check an upstream at a time.
// Threads:  those of its loop.
#pragma once

#include <memory>
#include <vector>

#include "gateway/upstreams.h"
#include "net/loop.h"

namespace pawl::gateway {

class UpstreamHealth {
 public:
  explicit UpstreamHealth(net::Loop& loop);
  ~UpstreamHealth();

  // From now on these, each of them at once.
  void watch(const UpstreamsPtr& upstreams);

 private:
  class Check;

  net::TlsConnector connector_;
  std::vector<std::shared_ptr<Check>> checks_;
};

}  // namespace pawl::gateway
