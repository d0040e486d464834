// Endpoint: who is told of events, and what may be connected to for it.
//
// Why:      a name's owner chooses its address. Were every address fine, whoever owns the name of a
//           receiver could have pawl call what stands behind the firewall with it.
// Contract: pure. Endpoints are configured by operators, never named by a request. A name leads to
//           public addresses alone. Whoever means a private address writes the address itself, or
//           localhost, and reaches that and no other. An address is four decimal numbers or IPv6;
//           127.1, 0x7f000001 and 2130706433 are names, and lead nowhere.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "base/secret.h"
#include "pawl/result.h"

namespace pawl::webhook {

struct Endpoint {
  std::string name = {};
  std::string url = {};
  Secret<std::string> secret = {};
  std::vector<std::string> events = {};  // types; empty: all
};
// http or https, a host, no user, no fragment; a name, a secret and types as they must be.
Result<void> check(const Endpoint& endpoint);
bool wants(const Endpoint& endpoint, std::string_view type);

// Of a URL that check() accepts: "hooks.example.com", "192.0.2.1", "::1".
std::string_view host_of(std::string_view url);

// Reachable from everywhere: not loopback, private, shared by a carrier, link-local, documentation,
// multicast or reserved, nor one of those inside an IPv6 address.
bool is_public(const IpAddress& address);

// Whether a connection that is opened for the URL may go there.
std::function<bool(const IpAddress&)> reach_of(std::string_view url);

}  // namespace pawl::webhook
