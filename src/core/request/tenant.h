// Who a request is counted against.
//
// A tenant is named by an API key (`Authorization: Bearer KEY` or `X-Api-Key: KEY`), which proves
// it, or else by a header, which has to be believed: from trusted proxies where such are named;
// from nobody where there are keys and no proxy is named, for then anybody could write it; and
// otherwise from everybody. An X-Api-Key that nobody has is refused; a Bearer may be the upstream's
// own, and then names nobody. A request without a tenant is counted against its client's address,
// or refused. The client of a trusted proxy is whoever X-Forwarded-For names last that is no
// trusted proxy itself; of anybody else, the peer.
//
// Contract: pure. Keys are known by their SHA-256 alone, and compared in constant time. All of an
//           IPv6 network is one client; an IPv4 address stands for itself.
// Bounds:   bounds::tenant_bytes_max, bounds::api_key_bytes_max. A Tenant that is filled again and
//           again comes to need no more memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "base/sha256.h"
#include "core/http/head.h"
#include "pawl/result.h"

namespace pawl::request {

struct ApiKey {
  Digest sha256 = {};
  std::string tenant = {};
  std::string plan = {};       // empty: the tenant's own
  std::string limit_key = {};  // by which requests with this key are counted; ApiKeys makes it
};

class ApiKeys {
 public:
  ApiKeys() = default;
  explicit ApiKeys(std::vector<ApiKey> keys);

  // Nothing: nobody has that key.
  const ApiKey* find(std::string_view key) const;
  const std::vector<ApiKey>& all() const { return keys_; }
  bool empty() const { return keys_.empty(); }

 private:
  std::vector<ApiKey> keys_;  // by their hash
};

struct TenantRules {
  std::string header;
  std::vector<Prefix> trusted_proxies;  // empty: everybody is trusted, unless there are keys
  bool reject_missing = false;
  ApiKeys api_keys = {};
  int ipv6_prefix = 64;  // so many bits are one client
};

struct Tenant {
  std::string name = {};         // empty: nobody that can be believed; counted by address
  std::string id = {};           // as logs and audit show it
  std::string plan = {};         // of the API key; empty: the tenant's own
  std::string address = {};      // of the client, in full
  std::string peer = {};         // of whom the connection is: the client, or a proxy before it
  std::string limit_key = {};    // a named tenant and an address never share one
  std::string api_key_key = {};  // of the API key; without one the limit_key
  std::string address_key = {};  // of the client's network
};

enum class TenantFound : std::uint8_t {
  yes,          // or anonymous, where that is allowed
  missing,      // none that can be believed, and the rules ask for one
  unknown_key,  // an X-Api-Key that nobody has
};

// Unless `yes`, only `address`, `peer` and `address_key` are filled, and the rest is empty.
TenantFound fill_tenant(Tenant& tenant, const TenantRules& rules, const http::Fields& fields,
                        const IpAddress& peer);

// Is it one of those that are named as trusted? Only they are believed in what they say of others.
bool is_proxy(const TenantRules& rules, const IpAddress& peer);

// By which the requests of a named tenant are counted.
std::string tenant_key(std::string_view name);

// Does it read as the id of a client that has no name: `anonymous@ADDRESS`?
bool is_anonymous(std::string_view id);

// The same for whoever logs and audit call `id`: a named tenant, or the client of an address. All
// of an IPv6 network has one. Errors: invalid, where no address stands behind `anonymous@`.
Result<std::string> key_of_id(std::string_view id, int ipv6_prefix);

// Visible ASCII, neither empty nor longer than bounds::tenant_bytes_max, and neither something that
// reads as the id of an anonymous client nor a dot segment.
bool is_tenant_name(std::string_view name);

}  // namespace pawl::request
