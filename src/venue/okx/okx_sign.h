// Signatures of OKX v5: of a REST call, and of a login over WebSocket.
//
// Contract: pure. What is signed is what is sent, byte for byte: time, method, path with its query,
//           body. Times are those of the venue's clock (okx_clock.h): it refuses what is 30 s off.
// Secrets:  the key, the passphrase and the signature go into fields of a request and into the
//           login, and nowhere else.
// Threads:  any.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/secret.h"
#include "pawl/time.h"
#include "port/http_client.h"

namespace pawl::okx {

struct Credentials {
  Secret<std::string> api_key = {};
  Secret<std::string> secret_key = {};
  Secret<std::string> passphrase = {};
};

struct Signed {
  std::string_view method;
  std::string_view path;  // with its query
  std::string_view body;
};

// base64(HMAC-SHA256(secret, time + method + path + body)).
std::string signature(const Secret<std::string>& secret_key, std::string_view time,
                      const Signed& what);

// OK-ACCESS-KEY, -SIGN, -TIMESTAMP, -PASSPHRASE.
std::vector<HttpField> signed_fields(const Credentials& credentials, const Signed& what,
                                     Instant now);

// The message that logs in; holds the passphrase.
Secret<std::string> login_message(const Credentials& credentials, Instant now);

}  // namespace pawl::okx
