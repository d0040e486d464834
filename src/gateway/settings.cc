#include "gateway/settings.h"

#include <utility>

#include "base/assert.h"
#include "config/policies.h"

namespace pawl::gateway {
namespace {

limit::HeaderDialects dialects_of(const std::vector<config::LimitHeader>& headers) {
  using Standard = limit::HeaderDialects::Standard;
  limit::HeaderDialects dialects{.standard = Standard::none, .legacy = false};
  for (const config::LimitHeader header : headers) {
    switch (header) {
      case config::LimitHeader::ratelimit:
        dialects.standard = Standard::ratelimit;
        break;
      case config::LimitHeader::draft7:
        dialects.standard = Standard::draft7;
        break;
      case config::LimitHeader::draft6:
        dialects.standard = Standard::draft6;
        break;
      case config::LimitHeader::legacy:
        dialects.legacy = true;
        break;
    }
  }
  return dialects;
}

std::string_view key_of(config::Scope scope, const Caller& caller) {
  switch (scope) {
    case config::Scope::tenant:
      return caller.tenant_key;
    case config::Scope::address:
      return caller.address_key;
    case config::Scope::everyone:
      return "everyone";
  }
  __builtin_unreachable();
}

std::string host_field(const config::Upstream& upstream) {
  const bool v6 = upstream.host.find(':') != std::string::npos;
  std::string host = v6 ? "[" + upstream.host + "]" : upstream.host;
  if (upstream.port != 80) host += ":" + std::to_string(upstream.port);
  return host;
}

}  // namespace

SettingsPtr make_settings(const config::Config& config) {
  Result<limit::Plans> plans = config::plans_of(config);
  PAWL_ASSERT(plans.has_value());
  Settings settings{
      .plans = *std::move(plans),
      .plan_of = {},
      .scopes = {},
      .dialects = dialects_of(config.limits.headers),
      .tenants = {.header = config.tenants.header,
                  .trusted_proxies = config.tenants.trusted_proxies,
                  .reject_missing = config.tenants.missing == config::MissingTenant::reject},
      .upstream = {.host = config.server.upstream.host, .port = config.server.upstream.port},
      .upstream_host = host_field(config.server.upstream),
  };
  for (const auto& [tenant, name] : config.tenants.plans) {
    const Result<const limit::Plan*> plan = settings.plans.find(name);
    PAWL_ASSERT(plan.has_value());
    settings.plan_of.emplace(tenant, *plan);
  }
  for (const config::Bucket& bucket : config.limits.buckets) {
    settings.scopes.push_back(bucket.scope);
  }
  return std::make_shared<const Settings>(std::move(settings));
}

void fill_counts(std::vector<limit::Count>& counts, const Settings& settings,
                 const Caller& caller) {
  const auto named = settings.plan_of.find(caller.tenant);
  const limit::Plan& plan =
      named == settings.plan_of.end() ? settings.plans.default_plan() : *named->second;
  counts.clear();
  for (std::size_t i = 0; i < settings.scopes.size(); ++i) {
    counts.push_back({.policy = &settings.plans.resolve(i, plan, caller.tenant),
                      .key = key_of(settings.scopes[i], caller)});
  }
}

}  // namespace pawl::gateway
