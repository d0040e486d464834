#include "emulator/core/okx_gate.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/base64.h"
#include "base/hmac.h"
#include "emulator/core/calls.h"

namespace pawl::emulator {
namespace {

constexpr std::string_view login_request = "GET/users/self/verify";

const OkxKey* find_key(const OkxSettings& settings, std::string_view key) {
  const auto found = std::ranges::find(settings.keys, key, &OkxKey::key);
  return found == settings.keys.end() ? nullptr : &*found;
}

bool is_near(Instant a, Instant b, Duration window) {
  return (a < b ? b - a : a - b) <= window;
}

// Exactly "2020-12-08T09:08:57.715Z".
std::optional<Instant> millisecond_timestamp(std::string_view text) {
  const Result<Instant> read = parse_instant(text);
  if (!read || to_string(*read) != text) return std::nullopt;
  return *read;
}

OkxRefusal refusal(std::string_view code, std::string_view message) {
  return {.code = std::string(code), .message = std::string(message), .is_whole = true};
}

}  // namespace

std::string okx_signature(const Secret<std::string>& secret, std::string_view timestamp,
                          std::string_view rest) {
  std::string message(timestamp);
  message.append(rest);
  return to_base64(hmac_sha256(secret.reveal(), message));
}

OkxRefusal check_okx_call(const OkxSettings& settings, const Call& call, Instant now) {
  if (!settings.authenticates) return {};
  const std::string_view name = field(call, "ok-access-key");
  const std::string_view timestamp = field(call, "ok-access-timestamp");
  const std::string_view sign = field(call, "ok-access-sign");
  const std::string_view passphrase = field(call, "ok-access-passphrase");
  if (name.empty()) return okx_whole("50103");
  if (passphrase.empty()) return okx_whole("50104");
  if (sign.empty()) return okx_whole("50106");
  if (timestamp.empty()) return okx_whole("50107");

  const std::optional<Instant> at = millisecond_timestamp(timestamp);
  if (!at) return okx_whole("50112");
  // One that was held had passed the gate when it came.
  if (!call.held && !is_near(*at, now, settings.timestamp_window)) return okx_whole("50102");
  const OkxKey* key = find_key(settings, name);
  if (key == nullptr) return okx_whole("50111");
  if (key->is_demo != (field(call, "x-simulated-trading") == "1")) return okx_whole("50101");

  std::string signed_text = call.method + call.path;
  if (!call.query.empty()) signed_text.append("?").append(call.query);
  signed_text.append(call.body);
  if (okx_signature(key->secret, timestamp, signed_text) != sign) return okx_whole("50113");
  if (key->passphrase.reveal() != passphrase) return okx_whole("50105");
  return {};
}

OkxRefusal check_okx_login(const OkxSettings& settings, const json::Value& login, Instant now) {
  if (!settings.authenticates) return {};
  const OkxKey* key = find_key(settings, text_of(login, "apiKey"));
  const std::string timestamp = text_of(login, "timestamp");
  std::int64_t seconds = 0;
  const char* end = timestamp.data() + timestamp.size();
  const auto read = std::from_chars(timestamp.data(), end, seconds);
  if (read.ec != std::errc() || read.ptr != end) return refusal("60004", "Invalid timestamp");
  if (key == nullptr) return refusal("60005", "Invalid apiKey");
  const Instant at = Instant() + Duration::seconds(seconds);
  if (!is_near(at, now, settings.timestamp_window)) {
    return refusal("60006", "Timestamp request expired");
  }
  if (okx_signature(key->secret, timestamp, login_request) != text_of(login, "sign")) {
    return refusal("60007", "Invalid sign");
  }
  if (key->passphrase.reveal() != text_of(login, "passphrase")) {
    return refusal("60024", "Wrong passphrase");
  }
  return {};
}

}  // namespace pawl::emulator
