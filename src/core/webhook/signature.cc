#include "core/webhook/signature.h"

#include <charconv>

#include "base/base64.h"
#include "base/bounds.h"
#include "base/hmac.h"
#include "base/text.h"

namespace pawl::webhook {
namespace {

constexpr std::string_view secret_prefix = "whsec_";
constexpr std::string_view version = "v1,";

std::unexpected<Error> refused(std::string why) {
  return failure(Code::refused, std::move(why));
}

}  // namespace

Result<Secret<std::string>> key_of(const Secret<std::string>& secret) {
  const std::string& text = secret.reveal();
  const bool is_encoded = text.starts_with(secret_prefix);
  const Result<std::string> key =
      is_encoded ? parse_base64(std::string_view(text).substr(secret_prefix.size())) : text;
  if (!key) {
    return failure(Code::invalid,
                   "a webhook's secret that begins with whsec_ must go on in base64: make one with "
                   "`openssl rand -base64 32`");
  }
  if (key->size() < bounds::webhook_key_bytes_min || key->size() > bounds::webhook_key_bytes_max) {
    return failure(Code::invalid,
                   "a webhook's secret must have " + std::to_string(bounds::webhook_key_bytes_min) +
                       " to " + std::to_string(bounds::webhook_key_bytes_max) + " bytes, not " +
                       std::to_string(key->size()) + ": make one with `openssl rand -base64 32`");
  }
  return Secret<std::string>(*key);
}

std::string timestamp_of(Instant now) {
  return std::to_string(now.ns() / Duration::seconds(1).ns());
}

std::string sign(const Secret<std::string>& key, const Message& message) {
  std::string text;
  text.reserve(message.id.size() + message.timestamp.size() + message.body.size() + 2);
  text.append(message.id).append(1, '.').append(message.timestamp);
  text.append(1, '.').append(message.body);
  return std::string(version) + to_base64(hmac_sha256(key.reveal(), text));
}

Result<void> verify(const Secret<std::string>& key, const Message& message,
                    std::string_view signatures, const Freshness& freshness) {
  std::int64_t seconds = 0;
  const char* end = message.timestamp.data() + message.timestamp.size();
  const auto [rest, error] = std::from_chars(message.timestamp.data(), end, seconds);
  if (error != std::errc() || rest != end) return refused("the timestamp is no number of seconds");
  const Instant sent = Instant::from_ns(Duration::seconds(seconds).ns());
  const Duration age = freshness.now - sent;
  if (age > freshness.tolerance) return refused("the message is too old: it may be a copy");
  if (-age > freshness.tolerance) return refused("the message is from the future");
  const std::string right = sign(key, message);
  while (!signatures.empty()) {
    if (equal_in_constant_time(take_until(signatures, ' '), right)) return {};
  }
  return refused("no signature is right: the message was changed, or the secret is another");
}

}  // namespace pawl::webhook
