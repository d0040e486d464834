#include "core/request/tenant.h"

#include <algorithm>
#include <optional>
#include <ranges>
#include <utility>

#include "base/bounds.h"
#include "base/dot_segment.h"
#include "base/text.h"

namespace pawl::request {
namespace {

constexpr std::string_view tenant_prefix = "tenant:";
constexpr std::string_view anonymous_prefix = "anonymous@";
constexpr std::string_view address_prefix = "address:";
constexpr std::size_t short_bytes = 8;  // of a hash: no two keys share them but by chance

std::string_view bytes_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

bool is_trusted(const TenantRules& rules, const IpAddress& peer) {
  return rules.trusted_proxies.empty() ? rules.api_keys.empty() : is_proxy(rules, peer);
}

// Some proxies add the port.
Result<IpAddress> parse_hop(std::string_view text) {
  if (Result<IpAddress> address = parse_ip(text)) return address;
  return PAWL_TRY(parse_endpoint(text)).address;
}

// Every proxy adds the one that it heard it from, so the last are said by those nearest to us. What
// stands before the first that is not trusted, that one may have made up.
IpAddress client_of(const TenantRules& rules, const http::Fields& fields, const IpAddress& peer) {
  IpAddress client = peer;
  if (!is_proxy(rules, peer)) return client;
  for (const http::Header& field : std::views::reverse(fields.all())) {
    if (!equal_ignoring_case(field.name, "X-Forwarded-For")) continue;
    std::string_view rest = field.value;
    while (!rest.empty() && is_proxy(rules, client)) {
      const std::size_t comma = rest.rfind(',');
      const std::size_t begin = comma == std::string_view::npos ? 0 : comma + 1;
      const Result<IpAddress> hop = parse_hop(trim_blanks(rest.substr(begin)));
      if (!hop) return client;
      client = *hop;
      rest = rest.substr(0, begin == 0 ? 0 : comma);
    }
  }
  return client;
}

// The key of "Bearer KEY", or nothing.
std::optional<std::string_view> bearer_of(const http::Fields& fields) {
  const auto value = fields.find_only("Authorization");
  if (!value) return std::nullopt;
  std::string_view rest = *value;
  if (!equal_ignoring_case(take_until(rest, ' '), "Bearer")) return std::nullopt;
  return trim_blanks(rest);
}

struct Presented {
  const ApiKey* key = nullptr;
  bool refused = false;
};

Presented presented_key(const TenantRules& rules, const http::Fields& fields) {
  if (rules.api_keys.empty()) return {};
  if (fields.find("X-Api-Key")) {
    const auto given = fields.find_only("X-Api-Key");  // one given twice is nobody's
    const ApiKey* key = given ? rules.api_keys.find(*given) : nullptr;
    return {.key = key, .refused = key == nullptr};
  }
  const auto bearer = bearer_of(fields);
  return {.key = bearer ? rules.api_keys.find(*bearer) : nullptr};
}

void fill_address_key(std::string& key, const IpAddress& client, int ipv6_prefix) {
  key.assign(address_prefix);
  if (client.is_v4()) {
    append_text(key, client);
  } else {
    append_text(key, prefix_of(client, ipv6_prefix));
  }
}

void fill_address(Tenant& tenant, const TenantRules& rules, const http::Fields& fields,
                  const IpAddress& peer) {
  tenant.peer.clear();
  append_text(tenant.peer, peer);
  tenant.address.assign(tenant.peer);
  const IpAddress client = client_of(rules, fields, peer);
  if (client != peer) {
    tenant.address.clear();
    append_text(tenant.address, client);
  }
  fill_address_key(tenant.address_key, client, rules.ipv6_prefix);
}

void fill_name(Tenant& tenant, std::string_view name) {
  tenant.name.assign(name);
  tenant.id.assign(name);
  tenant.limit_key.assign(tenant_prefix).append(name);
}

}  // namespace

ApiKeys::ApiKeys(std::vector<ApiKey> keys) : keys_(std::move(keys)) {
  std::ranges::sort(keys_, {}, &ApiKey::sha256);
  for (ApiKey& key : keys_) {
    key.limit_key = "key:" + to_hex(std::span(key.sha256).first(short_bytes));
  }
}

const ApiKey* ApiKeys::find(std::string_view key) const {
  if (keys_.empty() || key.empty() || key.size() > bounds::api_key_bytes_max) return nullptr;
  const Digest digest = sha256(key);
  // How far the search goes tells something of hashes that others have, of which no key can be
  // made; the comparison tells nothing.
  const auto first = [](const Digest& each) { return bytes_of(each).substr(0, short_bytes); };
  const auto found = std::ranges::equal_range(
      keys_, first(digest), {}, [&](const ApiKey& each) { return first(each.sha256); });
  const ApiKey* match = nullptr;
  for (const ApiKey& each : found) {
    if (equal_in_constant_time(bytes_of(each.sha256), bytes_of(digest))) match = &each;
  }
  return match;
}

TenantFound fill_tenant(Tenant& tenant, const TenantRules& rules, const http::Fields& fields,
                        const IpAddress& peer) {
  // Nothing of the request before, which may have been somebody else's.
  for (std::string* each :
       {&tenant.name, &tenant.id, &tenant.plan, &tenant.limit_key, &tenant.api_key_key}) {
    each->clear();
  }
  fill_address(tenant, rules, fields, peer);
  const auto [key, refused] = presented_key(rules, fields);
  if (refused) return TenantFound::unknown_key;
  if (key != nullptr) {
    fill_name(tenant, key->tenant);
    tenant.plan.assign(key->plan);
    tenant.api_key_key.assign(key->limit_key);
    return TenantFound::yes;
  }
  const auto named = fields.find_only(rules.header);  // a name given twice names nobody
  if (named && is_tenant_name(*named) && is_trusted(rules, peer)) {
    fill_name(tenant, *named);
  } else if (rules.reject_missing) {
    return TenantFound::missing;
  } else {
    tenant.id.assign(anonymous_prefix).append(tenant.address);
    tenant.limit_key.assign(tenant.address_key);
  }
  tenant.api_key_key.assign(tenant.limit_key);
  return TenantFound::yes;
}

bool is_proxy(const TenantRules& rules, const IpAddress& peer) {
  return std::ranges::any_of(rules.trusted_proxies,
                             [&](const Prefix& prefix) { return prefix.contains(peer); });
}

std::string tenant_key(std::string_view name) {
  return std::string(tenant_prefix).append(name);
}

bool is_anonymous(std::string_view id) {
  return id.starts_with(anonymous_prefix);
}

Result<std::string> key_of_id(std::string_view id, int ipv6_prefix) {
  if (!is_anonymous(id)) return tenant_key(id);
  const Result<IpAddress> client = parse_ip(id.substr(anonymous_prefix.size()));
  if (!client) {
    return failure(Code::invalid, "'" + std::string(id) +
                                      "' names no client: behind anonymous@ stands the address of "
                                      "one, such as anonymous@192.0.2.7");
  }
  std::string key;
  fill_address_key(key, *client, ipv6_prefix);
  return key;
}

bool is_tenant_name(std::string_view name) {
  return !name.empty() && name.size() <= bounds::tenant_bytes_max && is_visible(name) &&
         !is_anonymous(name) && !is_dot_segment(name);
}

}  // namespace pawl::request
