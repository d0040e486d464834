#include "core/request/tenant.h"

#include <algorithm>

namespace pawl::request {
namespace {

bool is_trusted(const TenantRules& rules, const IpAddress& peer) {
  if (rules.trusted_proxies.empty()) return true;
  return std::ranges::any_of(rules.trusted_proxies,
                             [&](const Prefix& prefix) { return prefix.contains(peer); });
}

bool is_tenant_name(std::string_view name) {
  if (name.empty() || name.size() > bounds::tenant_bytes_max) return false;
  return std::ranges::all_of(name, [](char c) { return c > 0x20 && c < 0x7f; });
}

}  // namespace

std::string address_key(std::string_view address) {
  return "address:" + std::string(address);
}

std::optional<Tenant> tenant_of(const TenantRules& rules, const http::Fields& fields,
                                const IpAddress& peer) {
  const auto named = fields.find_only(rules.header);  // a name given twice names nobody
  if (named && is_tenant_name(*named) && is_trusted(rules, peer)) {
    return Tenant{.name = std::string(*named),
                  .id = std::string(*named),
                  .limit_key = "tenant:" + std::string(*named)};
  }
  if (rules.reject_missing) return std::nullopt;
  const std::string address = to_string(peer);
  return Tenant{.name = {}, .id = "anonymous@" + address, .limit_key = address_key(address)};
}

}  // namespace pawl::request
