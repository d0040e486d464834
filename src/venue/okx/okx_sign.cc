#include "venue/okx/okx_sign.h"

#include <cstdint>
#include <utility>

#include "base/base64.h"
#include "base/hmac.h"
#include "base/json.h"

namespace pawl::okx {

std::string signature(const Secret<std::string>& secret_key, std::string_view time,
                      const Signed& what) {
  std::string message(time);
  message.append(what.method).append(what.path).append(what.body);
  return to_base64(hmac_sha256(secret_key.reveal(), message));
}

std::vector<HttpField> signed_fields(const Credentials& credentials, const Signed& what,
                                     Instant now) {
  const std::string time = to_string(now);
  return {{"OK-ACCESS-KEY", credentials.api_key.reveal()},
          {"OK-ACCESS-SIGN", signature(credentials.secret_key, time, what)},
          {"OK-ACCESS-TIMESTAMP", time},
          {"OK-ACCESS-PASSPHRASE", credentials.passphrase.reveal()}};
}

Secret<std::string> login_message(const Credentials& credentials, Instant now) {
  constexpr Signed login{.method = "GET", .path = "/users/self/verify", .body = ""};
  const std::string seconds = std::to_string(now.ns() / Duration::seconds(1).ns());
  json::Object arguments{{"apiKey", credentials.api_key.reveal()},
                         {"passphrase", credentials.passphrase.reveal()},
                         {"timestamp", seconds},
                         {"sign", signature(credentials.secret_key, seconds, login)}};
  return Secret(json::print(
      json::Object{{"op", "login"}, {"args", json::Array{json::Value(std::move(arguments))}}}));
}

}  // namespace pawl::okx
