// Settings: what the guarded listener needs of a configuration, in the form it is used. A reload
// makes a new one; a request keeps the one it began with.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "core/limit/headers.h"
#include "core/limit/plans.h"
#include "core/request/tenant.h"
#include "net/loop.h"

namespace pawl::gateway {

struct Settings {
  limit::Plans plans;                                              // every policy there is
  std::map<std::string, const limit::Plan*, std::less<>> plan_of;  // tenants whose plan is named
  std::vector<config::Scope> scopes;                               // of the buckets
  limit::HeaderDialects dialects;
  request::TenantRules tenants;
  net::Target upstream;
  std::string upstream_host;  // as it stands in a Host field
};
using SettingsPtr = std::shared_ptr<const Settings>;

// The configuration passed every check.
SettingsPtr make_settings(const config::Config& config);

// Whom a request comes from. The keys must live as long as what is made of them.
struct Caller {
  std::string_view tenant;       // empty: nobody that can be believed
  std::string_view tenant_key;   // by which a tenant's requests are counted
  std::string_view address_key;  // and those of an address
};

// What a request is counted against: each bucket's policy for this caller.
void fill_counts(std::vector<limit::Count>& counts, const Settings& settings, const Caller& caller);

}  // namespace pawl::gateway
