#include "gateway/settings.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/sha256.h"
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

std::string_view key_of(config::Scope scope, const request::Tenant& tenant) {
  switch (scope) {
    case config::Scope::tenant:
      return tenant.limit_key;
    case config::Scope::api_key:
      return tenant.api_key_key;
    case config::Scope::address:
      return tenant.address_key;
    case config::Scope::everyone:
      return everyone_key;
  }
  __builtin_unreachable();
}

// The port that goes without saying is not said.
std::string host_field(const config::Upstream& upstream) {
  const bool v6 = upstream.host.find(':') != std::string::npos;
  std::string host = v6 ? "[" + upstream.host + "]" : upstream.host;
  if (upstream.port != (upstream.tls ? 443 : 80)) host += ":" + std::to_string(upstream.port);
  return host;
}

std::vector<Upstream> upstreams_of(const std::vector<config::Upstream>& configured) {
  std::vector<Upstream> upstreams;
  for (const config::Upstream& each : configured) {
    upstreams.push_back({.target = {.host = each.host, .port = each.port},
                         .tls = each.tls,
                         .host = host_field(each)});
  }
  return upstreams;
}

request::TenantRules tenant_rules_of(const config::Tenants& tenants) {
  std::vector<request::ApiKey> keys;
  for (const config::ApiKey& key : tenants.api_keys) {
    const Result<Digest> digest = parse_digest(key.sha256);
    PAWL_ASSERT(digest.has_value());
    keys.push_back({.sha256 = *digest, .tenant = key.tenant, .plan = key.plan});
  }
  return {.header = tenants.header,
          .trusted_proxies = tenants.trusted_proxies,
          .reject_missing = tenants.missing == config::MissingTenant::reject,
          .api_keys = request::ApiKeys(std::move(keys)),
          .ipv6_prefix = tenants.ipv6_prefix};
}

std::vector<std::string> tenant_names_of(const config::Tenants& tenants, const LivePlans& live) {
  std::vector<std::string> names;
  for (const auto& [tenant, plan] : tenants.plans) names.push_back(tenant);
  for (const auto& [tenant, rates] : tenants.overrides) names.push_back(tenant);
  for (const auto& [tenant, plan] : live) names.push_back(tenant);
  for (const config::ApiKey& key : tenants.api_keys) names.push_back(key.tenant);
  std::ranges::sort(names);
  const auto rest = std::ranges::unique(names);
  names.erase(rest.begin(), rest.end());
  return names;
}

// A store in this process answers as fast as it can; waiting for less would only cost protection.
constexpr Duration local_store_deadline = Duration::seconds(5);

request::WriteRules writes_of(const config::Idempotency& idempotency) {
  const bool remote = idempotency.store.kind == StoreSetting::Kind::redis ||
                      idempotency.store.kind == StoreSetting::Kind::nats;
  return {.header = idempotency.header,
          .methods = idempotency.methods,
          .require = idempotency.require,
          .fingerprint = idempotency.fingerprint,
          .on_mismatch = idempotency.on_mismatch,
          .on_in_flight = idempotency.on_in_flight,
          .on_unknown = idempotency.on_unknown,
          .on_store_failure = idempotency.on_store_failure,
          .store_statuses = idempotency.store_statuses,
          .body_limit = static_cast<std::size_t>(idempotency.body_limit),
          .ttl = idempotency.ttl,
          .lease = idempotency.lease,
          .store_deadline = remote ? idempotency.store_deadline : local_store_deadline};
}

}  // namespace

SettingsPtr make_settings(const config::Config& config, const LivePlans& live) {
  Result<limit::Plans> plans = config::plans_of(config);
  PAWL_ASSERT(plans.has_value());
  const config::Server& server = config.server;
  Settings settings{
      .plans = *std::move(plans),
      .plan_of = {},
      .key_plan_of = {},
      .upgrades = {config.tenants.upgrades.begin(), config.tenants.upgrades.end()},
      .tenant_names = tenant_names_of(config.tenants, live),
      .buckets = {},
      .dialects = dialects_of(config.limits.headers),
      .writes = writes_of(config.idempotency),
      .requests_max = server.requests,
      .tenants = tenant_rules_of(config.tenants),
      .upstreams = upstreams_of(server.upstreams),
      .upstream_ca = server.upstream_ca,
      .health = server.health,
      .timeouts = server.timeouts,
      .connections_max = server.connections,
      .connections_per_address_max = server.connections_per_address,
      .websocket = server.websocket,
      .upstream_host = host_field(server.upstreams.front()),
  };
  const auto name_plans = [&](const auto& named) {
    for (const auto& [tenant, name] : named) {
      const Result<const limit::Plan*> plan = settings.plans.find(name);
      PAWL_ASSERT(plan.has_value());
      settings.plan_of.insert_or_assign(tenant, *plan);
    }
  };
  name_plans(config.tenants.plans);
  name_plans(live);
  for (const config::ApiKey& key : config.tenants.api_keys) {
    if (!key.plan.empty()) settings.key_plan_of.try_emplace(key.tenant, key.plan);
  }
  for (const config::Bucket& bucket : config.limits.buckets) {
    settings.buckets.push_back({.scope = bucket.scope, .match = bucket.match});
  }
  return std::make_shared<const Settings>(std::move(settings));
}

Result<void> check_live_plans(const config::Config& config, const LivePlans& live) {
  const limit::Plans plans = PAWL_TRY(config::plans_of(config));
  for (const auto& [tenant, name] : live) {
    if (const auto plan = plans.find(name); !plan) {
      return failure(Code::invalid, "tenants.plans_file: tenant '" + tenant +
                                        "' was given a plan: " + plan.error().message);
    }
  }
  return {};
}

const limit::Plan& plan_for(const Settings& settings, std::string_view tenant,
                            std::string_view by_key) {
  if (const auto named = settings.plan_of.find(tenant); named != settings.plan_of.end()) {
    return *named->second;
  }
  if (!by_key.empty()) {
    if (const auto plan = settings.plans.find(by_key); plan) return **plan;
  }
  return settings.plans.default_plan();
}

void fill_counts(std::vector<limit::Count>& counts, const Settings& settings,
                 const request::Tenant& tenant, const http::RequestHead& head) {
  const limit::Plan& plan = plan_for(settings, tenant.name, tenant.plan);
  counts.clear();
  for (std::size_t i = 0; i < settings.buckets.size(); ++i) {
    const Bucket& bucket = settings.buckets[i];
    if (!bucket.match.matches(head)) continue;
    counts.push_back({.policy = &settings.plans.resolve(i, plan, tenant.name),
                      .key = key_of(bucket.scope, tenant)});
  }
}

}  // namespace pawl::gateway
