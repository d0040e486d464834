// Who may call the emulated OKX: key, signature, time, passphrase and environment of a call, and of
// a login over WebSocket.
//
// Contract: pure. The first thing that is wrong is told, in the order in which OKX looks.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "emulator/core/exchange.h"
#include "emulator/core/okx_codes.h"
#include "emulator/core/okx_settings.h"
#include "pawl/time.h"

namespace pawl::emulator {

// base64(HMAC-SHA256(secret, timestamp + method + path with query + body)).
std::string okx_signature(const Secret<std::string>& secret, std::string_view timestamp,
                          std::string_view rest);

OkxRefusal check_okx_call(const OkxSettings& settings, const Call& call, Instant now);
// Of the first of a login's "args".
OkxRefusal check_okx_login(const OkxSettings& settings, const json::Value& login, Instant now);

}  // namespace pawl::emulator
