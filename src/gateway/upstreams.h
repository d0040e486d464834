// Upstreams: the services behind pawl, and what all loops know of each: how many requests it has
// under way, and whether it is healthy.
//
// Contract: a list is never changed once made. A reload makes another one; upstreams that stand in
//           both go on with what is known of them.
// Threads:  any.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/upstream/health.h"
#include "gateway/settings.h"
#include "net/tls.h"
#include "net/tls_connector.h"

namespace pawl::gateway {

class SharedUpstream {
 public:
  explicit SharedUpstream(Upstream upstream) : upstream_(std::move(upstream)) {}

  const Upstream& address() const { return upstream_; }
  std::int64_t pending() const { return pending_.load(std::memory_order_relaxed); }
  bool is_healthy() const { return health_.load(std::memory_order_relaxed).is_healthy(); }

  void begin_request() { pending_.fetch_add(1, std::memory_order_relaxed); }
  void end_request() { pending_.fetch_sub(1, std::memory_order_relaxed); }
  // What a check or a connect has shown. True when its health has changed by this.
  bool note(bool good, const upstream::HealthRule& rule);

 private:
  Upstream upstream_;
  std::atomic<std::int64_t> pending_ = 0;
  std::atomic<upstream::Health> health_ = upstream::Health();
};

struct HealthChange {
  std::string_view upstream;  // "host:port"
  bool healthy = false;
  std::string_view reason;  // of a failure
};
// Called from any loop.
using OnHealthChange = std::function<void(const HealthChange&)>;

struct Upstreams {
  std::vector<std::shared_ptr<SharedUpstream>> all;  // at least one
  std::shared_ptr<const net::Tls> tls;               // for those that speak it
  config::Health health;
  Duration connect_deadline;
  OnHealthChange changed;

  // Counts it, and tells of a change.
  void note(SharedUpstream& upstream, bool good, std::string_view reason) const;
  // Connects as this upstream wants it.
  void connect(net::TlsConnector& connector, const SharedUpstream& upstream, Duration deadline,
               net::TlsConnector::Done done) const;
  // Empty when all are healthy, else which are not.
  std::string trouble() const;
};
using UpstreamsPtr = std::shared_ptr<const Upstreams>;

// `before` may be null. Errors: upstream_ca is no file of certificates.
Result<UpstreamsPtr> make_upstreams(const Settings& settings, const UpstreamsPtr& before,
                                    OnHealthChange changed);

}  // namespace pawl::gateway
