#include "gateway/upstreams.h"

#include <algorithm>
#include <utility>

namespace pawl::gateway {
namespace {

bool same(const Upstream& one, const Upstream& other) {
  return one.target == other.target && one.tls == other.tls;
}

std::shared_ptr<SharedUpstream> keep_or_make(const Upstream& upstream, const UpstreamsPtr& before) {
  if (before) {
    const auto known = std::ranges::find_if(
        before->all, [&upstream](const auto& other) { return same(other->address(), upstream); });
    if (known != before->all.end()) return *known;
  }
  return std::make_shared<SharedUpstream>(upstream);
}

}  // namespace

bool SharedUpstream::note(bool good, const upstream::HealthRule& rule) {
  upstream::Health seen = health_.load(std::memory_order_relaxed);
  while (true) {
    const upstream::Health next = seen.after(good, rule);
    if (next == seen) return false;  // the usual case writes nothing
    if (health_.compare_exchange_weak(seen, next, std::memory_order_relaxed)) {
      return next.is_healthy() != seen.is_healthy();
    }
  }
}

void Upstreams::note(SharedUpstream& upstream, bool good, std::string_view reason) const {
  const upstream::HealthRule rule{.unhealthy_after = health.unhealthy_after,
                                  .healthy_after = health.healthy_after};
  if (!upstream.note(good, rule)) return;
  const std::string name = to_string(upstream.address().target);
  changed({.upstream = name, .healthy = good, .reason = reason});
}

void Upstreams::connect(net::TlsConnector& connector, const SharedUpstream& upstream,
                        Duration deadline, net::TlsConnector::Done done) const {
  const Upstream& address = upstream.address();
  if (address.tls) {
    connector.connect(tls, address.target, deadline, std::move(done));
  } else {
    connector.loop().connect(address.target, deadline, std::move(done));
  }
}

std::string Upstreams::trouble() const {
  std::string sick;
  std::size_t count = 0;
  for (const auto& upstream : all) {
    if (upstream->is_healthy()) continue;
    ++count;
    sick.append(sick.empty() ? "" : ", ").append(to_string(upstream->address().target));
  }
  if (count == 0) return {};
  if (count == all.size()) return "no upstream is healthy, all are tried: " + sick;
  return "upstreams that are not healthy: " + sick;
}

Result<UpstreamsPtr> make_upstreams(const Settings& settings, const UpstreamsPtr& before,
                                    OnHealthChange changed) {
  Upstreams made{.all = {},
                 .tls = nullptr,
                 .health = settings.health,
                 .connect_deadline = settings.timeouts.connect,
                 .changed = std::move(changed)};
  for (const Upstream& upstream : settings.upstreams) {
    made.all.push_back(keep_or_make(upstream, before));
    if (upstream.tls && !made.tls) {
      made.tls = PAWL_TRY(net::Tls::client(settings.upstream_ca, net::Tls::Protocol::http));
    }
  }
  return std::make_shared<const Upstreams>(std::move(made));
}

}  // namespace pawl::gateway
