// Settings: what the guarded listener needs of a configuration, in the form it is used. A reload
// makes a new one; a request keeps the one it began with.
#pragma once

#include <memory>
#include <string>

#include "config/config.h"
#include "core/limit/headers.h"
#include "core/limit/policy.h"
#include "core/request/tenant.h"
#include "net/loop.h"

namespace pawl::gateway {

struct Settings {
  limit::Policy policy;
  limit::HeaderDialects dialects;
  request::TenantRules tenants;
  net::Target upstream;
  std::string upstream_host;  // as it stands in a Host field
};
using SettingsPtr = std::shared_ptr<const Settings>;

SettingsPtr make_settings(const config::Config& config);

}  // namespace pawl::gateway
