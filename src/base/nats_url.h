// NatsUrl: where a NATS is, how to log in, and which of its buckets or streams is meant, as one
// line of a configuration says it.
//
//   nats://[user:password@]host[:port][,host[:port]…]/NAME      in the clear
//   tls://…/NAME[?ca=FILE]                                      FILE: the authorities to trust
//
// Contract: pure. User, password and FILE may hold %XX; a token is written ":token@". Several hosts
//           are servers of one cluster, tried in turn. Errors say what is wrong and never repeat
//           what may be a password.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "base/secret.h"
#include "pawl/result.h"

namespace pawl::nats {

struct NatsUrl {
  bool tls = false;
  std::vector<Target> servers;
  std::string user;              // empty, with a password: that is a token
  Secret<std::string> password;  // empty: no login
  std::string name;              // of a key-value bucket or a stream: letters, digits, _ and -
  std::string ca_file;           // empty: the system's authorities
};

Result<NatsUrl> parse_nats_url(std::string_view text);
// Without the password: fit for logs and health.
std::string to_string(const NatsUrl& url);

}  // namespace pawl::nats
