// RedisUrl: where a Redis is and how to log in, as one line of a configuration says it.
//
//   redis://[user[:password]@]host[:port][/database]      one server
//   rediss://…[?ca=FILE]                                  over TLS; FILE: the authorities to trust
//   redis+cluster://[user[:password]@]host[:port],…       a cluster, by some of its nodes
//   rediss+cluster://…[?ca=FILE]                          both
//
// Contract: pure. User, password and FILE may hold %XX; a password alone is written ":password@".
//           Errors say what is wrong and never repeat what may be a password.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "base/secret.h"
#include "pawl/result.h"

namespace pawl::redis {

struct RedisUrl {
  bool tls = false;
  bool cluster = false;
  std::vector<Target> servers;   // one, or a cluster's nodes to begin with
  std::string user;              // empty: Redis' own "default"
  Secret<std::string> password;  // empty: no login
  int database = 0;
  std::string ca_file;  // empty: the system's authorities
};

Result<RedisUrl> parse_redis_url(std::string_view text);
// Without the password: fit for logs and health.
std::string to_string(const RedisUrl& url);

}  // namespace pawl::redis
