#include "gateway/settings.h"

#include <algorithm>

namespace pawl::gateway {
namespace {

bool has(const std::vector<config::LimitHeader>& headers, config::LimitHeader wanted) {
  return std::ranges::find(headers, wanted) != headers.end();
}

std::string host_field(const config::Upstream& upstream) {
  const bool v6 = upstream.host.find(':') != std::string::npos;
  std::string host = v6 ? "[" + upstream.host + "]" : upstream.host;
  if (upstream.port != 80) host += ":" + std::to_string(upstream.port);
  return host;
}

}  // namespace

SettingsPtr make_settings(const config::Config& config) {
  const config::Bucket& bucket = config.limits.buckets.front();
  return std::make_shared<const Settings>(Settings{
      .policy = {.name = bucket.name, .bucket = {.rate = bucket.rate, .burst = bucket.burst}},
      .dialects = {.ratelimit = has(config.limits.headers, config::LimitHeader::ratelimit),
                   .legacy = has(config.limits.headers, config::LimitHeader::legacy)},
      .tenants = {.header = config.tenants.header,
                  .trusted_proxies = config.tenants.trusted_proxies,
                  .reject_missing = config.tenants.missing == config::MissingTenant::reject},
      .upstream = {.host = config.server.upstream.host, .port = config.server.upstream.port},
      .upstream_host = host_field(config.server.upstream),
  });
}

}  // namespace pawl::gateway
