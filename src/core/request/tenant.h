// Who a request is counted against.
//
// Contract: pure. The tenant header is believed only from a trusted proxy when such are named;
//           otherwise anybody on the network could spend somebody else's quota. A request without a
//           tenant is counted against its client's address, or refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "core/http/head.h"

namespace pawl::request {

struct TenantRules {
  std::string header;
  std::vector<Prefix> trusted_proxies;  // empty: everybody is trusted
  bool reject_missing = false;
};

struct Tenant {
  std::string name;       // empty: nobody that can be believed; counted by address
  std::string id;         // as logs and audit show it
  std::string limit_key;  // a named tenant and an address never share one
};

// By which the requests of an address are counted, whoever they are from.
std::string address_key(std::string_view address);

// Nothing: the request names no tenant that can be believed, and the rules ask for one.
std::optional<Tenant> tenant_of(const TenantRules& rules, const http::Fields& fields,
                                const IpAddress& peer);

}  // namespace pawl::request
