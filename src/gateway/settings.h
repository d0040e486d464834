// Settings: what the guarded listener needs of a configuration, in the form it is used. A reload
// makes a new one, and so does a tenant that gets another plan; a request keeps the one it began
// with.
//
// Plans:    a tenant has the plan that was given to it while pawl ran, else that of tenants.plans,
//           else that of the API key it came with, else the default. Rates of its own beat those of
//           any plan.
// Threads:  any; never changed once made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "config/config.h"
#include "core/limit/headers.h"
#include "core/limit/plans.h"
#include "core/request/match.h"
#include "core/request/tenant.h"
#include "core/request/write.h"
#include "net/loop.h"

namespace pawl::gateway {

// Which tenant has which plan since somebody said so, while pawl ran.
using LivePlans = std::map<std::string, std::string, std::less<>>;

struct Upstream {
  net::Target target;
  bool tls = false;
  std::string host;  // as it stands in a Host field
};

struct Bucket {
  config::Scope scope{};
  request::Match match = {};  // a request that it does not match is not counted
};

struct NameHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view name) const { return hash_of(name, 0).low; }
};
template <class T>
using ByName = std::unordered_map<std::string, T, NameHash, std::equal_to<>>;

struct Settings {
  limit::Plans plans;                     // every policy there is
  ByName<const limit::Plan*> plan_of;     // tenants whose plan is named
  ByName<std::string> key_plan_of;        // tenants of whom a key has a plan: the first one's
  ByName<std::string> upgrades;           // the plan that tenants of a plan are offered
  std::vector<std::string> tenant_names;  // all that are named anywhere, in order
  std::vector<Bucket> buckets;            // in the order of the policies
  limit::HeaderDialects dialects;
  request::WriteRules writes;
  std::int64_t requests_max = 0;  // in flight
  request::TenantRules tenants;
  std::vector<Upstream> upstreams;  // at least one
  std::string upstream_ca;          // PEM file; empty: the system's authorities
  config::Health health;
  config::Timeouts timeouts;
  std::int64_t connections_max = 0;
  std::int64_t connections_per_address_max = 0;
  bool websocket = false;
  std::string upstream_host;  // as it stands in a Host field
};
using SettingsPtr = std::shared_ptr<const Settings>;

// Configuration and plans passed every check.
SettingsPtr make_settings(const config::Config& config, const LivePlans& live = {});
// Errors: invalid, and names the tenant whose plan the configuration does not have.
Result<void> check_live_plans(const config::Config& config, const LivePlans& live);

// `by_key` is the plan of an API key; empty: none.
const limit::Plan& plan_for(const Settings& settings, std::string_view tenant,
                            std::string_view by_key);

// By which the requests of everybody are counted together.
inline constexpr std::string_view everyone_key = "everyone";

// What a request is counted against: for each bucket that matches it, the policy for this tenant.
// Nothing: it is not limited. The tenant's keys must live as long as the counts.
void fill_counts(std::vector<limit::Count>& counts, const Settings& settings,
                 const request::Tenant& tenant, const http::RequestHead& head);

}  // namespace pawl::gateway
