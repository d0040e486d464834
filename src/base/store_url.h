// What the URLs of all stores have in common: who logs in, on which servers, and what comes after.
//
//   [user[:password]@]host[:port][,host[:port]…][/path][?query]      after the scheme and its ://
//
// Why:      a password may hold anything, and must neither be cut wrongly nor be told in an error;
//           that is written once.
// Contract: pure. User and password may hold %XX. Errors begin with "not a KIND URL: " and never
//           repeat what may be a password.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "base/secret.h"
#include "pawl/result.h"

namespace pawl {

struct StoreUrlForm {
  std::string_view kind;  // "Redis", for messages
  std::uint16_t default_port;
  std::size_t servers_max;
};

struct StoreUrl {
  std::string user;
  Secret<std::string> password;  // empty: no login
  std::vector<Target> servers;   // at least one
  std::string path;              // without its /
  std::string query;             // without its ?
};

Result<StoreUrl> parse_store_url(std::string_view after_scheme, const StoreUrlForm& form);

// The value of the one option there is, `?name=value`; empty when it is not given.
Result<std::string> parse_url_option(std::string_view query, std::string_view name,
                                     const StoreUrlForm& form);

// "host:port,host:port"
std::string to_string(const std::vector<Target>& servers);

// An error of this kind of URL.
std::unexpected<Error> wrong_url(const StoreUrlForm& form, std::string_view what);

}  // namespace pawl
