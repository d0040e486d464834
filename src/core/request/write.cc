#include "core/request/write.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <utility>

#include "base/bounds.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "core/http/chars.h"
#include "core/idempotency/key.h"

namespace pawl::request {
namespace {

constexpr std::array<std::string_view, write_events> event_names = {
    "executed",   "replayed",      "tombstone",  "in_flight",   "mismatch",   "unknown",
    "not_stored", "store_failure", "taken_over", "invalid_key", "missing_key"};

// Of one connection, one moment or the proxy itself.
constexpr std::array<std::string_view, 21> passing_fields = {
    "Connection",
    "Keep-Alive",
    "Proxy-Connection",
    "TE",
    "Trailer",
    "Transfer-Encoding",
    "Upgrade",
    "Content-Length",
    "Date",
    "Age",
    "Via",
    "Retry-After",
    "Server",
    "X-Request-Id",
    "Idempotent-Replay",
    "Idempotent-Replayed",
    "Alt-Svc",
    "NEL",
    "Report-To",
    "Server-Timing",
    "traceparent",
};

// Words in the names of fields that are meant for one client alone.
constexpr std::array<std::string_view, 8> private_words = {
    "cookie", "auth", "token", "session", "csrf", "secret", "ratelimit", "rate-limit"};

bool contains_ignoring_case(std::string_view text, std::string_view word) {
  for (std::size_t i = 0; i + word.size() <= text.size(); ++i) {
    if (equal_ignoring_case(text.substr(i, word.size()), word)) return true;
  }
  return false;
}

bool has_any(std::string_view name, std::span<const std::string_view> words) {
  return std::ranges::any_of(
      words, [name](std::string_view word) { return contains_ignoring_case(name, word); });
}

// Authorization, Cookie, X-Api-Key, X-Auth-Token and their kin; a token against forgery changes
// with the page and proves nobody.
bool proves_somebody(std::string_view name) {
  constexpr std::array<std::string_view, 6> proofs = {"auth",   "cookie", "api-key",
                                                      "apikey", "token",  "session"};
  constexpr std::array<std::string_view, 2> others = {"csrf", "xsrf"};
  return has_any(name, proofs) && !has_any(name, others);
}

bool is_safe(std::string_view name, const http::Fields& fields) {
  const bool passing = std::ranges::any_of(
      passing_fields, [&](std::string_view field) { return equal_ignoring_case(field, name); });
  return !passing && !has_any(name, private_words) && !fields.list_contains("Connection", name);
}

bool is_field(std::string_view name, std::string_view value) {
  return http::is_token(name) && std::ranges::all_of(value, http::is_field_char);
}

bool is_key_text(std::string_view text) {
  return !text.empty() && text.size() <= bounds::idempotency_key_bytes_max &&
         std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f; });
}

// The string of a structured field (RFC 9651 §3.3.3), without parameters.
std::optional<std::string> unquote(std::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') return std::nullopt;
    if (text[i] == '\\') {
      ++i;
      if (i == text.size() || (text[i] != '"' && text[i] != '\\')) return std::nullopt;
    }
    out.push_back(text[i]);
  }
  return out;
}

std::optional<std::string> key_of(std::string_view value) {
  std::optional<std::string> key(value);
  if (value.starts_with('"')) {
    key = unquote(value);
  } else if (value.contains(',')) {
    return std::nullopt;  // somebody on the way may have made one field of two
  }
  if (!key || !is_key_text(*key)) return std::nullopt;
  return key;
}

bool is_json(std::string_view content_type) {
  constexpr std::string_view suffix = "+json";
  const std::string_view type = trim_blanks(content_type.substr(0, content_type.find(';')));
  if (equal_ignoring_case(type, "application/json")) return true;
  return type.size() > suffix.size() &&
         equal_ignoring_case(type.substr(type.size() - suffix.size()), suffix);
}

// What one refused without applying it may be sent again.
bool is_not_applied(int status) {
  return status >= 400 && status < 500;
}

bool is_never_stored(int status) {
  return status == 408 || status == 409 || status == 425 || status == 429 || status >= 500;
}

bool is_stored(const WriteRules& rules, int status) {
  if (is_never_stored(status)) return false;
  return std::ranges::any_of(rules.store_statuses, [&](const StatusRange& range) {
    return range.least <= status && status <= range.most;
  });
}

}  // namespace

std::string_view to_string(WriteEvent event) {
  return event_names[static_cast<std::size_t>(event)];
}

KeyFound find_key(const WriteRules& rules, const http::RequestHead& head) {
  const bool is_write = std::ranges::find(rules.methods, head.method) != rules.methods.end();
  if (!is_write) return {};
  const bool given = head.fields.find(rules.header).has_value();
  if (!given) {
    const bool required = std::ranges::any_of(
        rules.require, [&](const PathPattern& path) { return path.matches(head.path()); });
    return {.kind = required ? KeyFound::Kind::missing : KeyFound::Kind::none};
  }
  // Given twice, it could be read in two ways.
  const auto only = head.fields.find_only(rules.header);
  std::optional<std::string> key = only ? key_of(*only) : std::nullopt;
  if (!key) return {.kind = KeyFound::Kind::invalid};
  return {.kind = KeyFound::Kind::key, .key = *std::move(key)};
}

std::string to_record_key(const WriteKey& key, std::string_view separate_fingerprint) {
  std::string tail = " " + key.key;
  if (!separate_fingerprint.empty()) tail.append(" #").append(separate_fingerprint);
  std::string out = key.method + " ";
  const bool fits = out.size() + key.path.size() + tail.size() <= bounds::record_key_bytes_max;
  out += fits ? key.path : "sha256:" + to_hex(sha256(key.path));
  return out + tail;
}

std::optional<WriteKey> parse_record_key(std::string_view text) {
  const std::size_t first = text.find(' ');
  if (first == std::string_view::npos) return std::nullopt;
  const std::size_t second = text.find(' ', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const std::string_view path = text.substr(first + 1, second - first - 1);
  const bool is_path = path.starts_with('/') || path.starts_with("sha256:") || path == "*";
  std::string_view key = text.substr(second + 1);
  constexpr std::size_t separate_bytes = 2 + 64;
  const bool separate =
      key.size() > separate_bytes && key.substr(key.size() - separate_bytes).starts_with(" #");
  if (separate) key.remove_suffix(separate_bytes);
  if (!is_path || !is_key_text(key)) return std::nullopt;
  return WriteKey{.method = std::string(text.substr(0, first)),
                  .path = std::string(path),
                  .key = std::string(key)};
}

std::string fingerprint_of(Fingerprint kind, std::string_view query, std::string_view content_type,
                           std::string_view body) {
  if (kind == Fingerprint::json && is_json(content_type)) {
    // What canonical JSON would make alike is told apart by its bytes.
    if (Result<json::Value> value = json::parse(body)) {
      const Result<std::string> key =
          idempotency::compute_key({.operation = query, .params = *std::move(value)});
      if (key) return *key;
    }
  }
  Sha256 hash;
  hash.update(query);
  hash.update("\n");
  hash.update(body);
  return to_hex(hash.finish());
}

std::string credentials_of(const http::Fields& fields) {
  Sha256 hash;
  bool any = false;
  for (const http::Header& field : fields.all()) {
    if (!proves_somebody(field.name)) continue;
    any = true;
    hash.update(field.value);
    hash.update("\n");
  }
  return any ? to_hex(hash.finish()) : std::string();
}

std::string answer_metadata(int status, std::string_view reason, const http::Fields& fields,
                            std::string_view credentials) {
  json::Array kept;
  for (const http::Header& header : fields.all()) {
    if (!is_safe(header.name, fields)) continue;
    kept.emplace_back(json::Array{json::Value(header.name), json::Value(header.value)});
  }
  json::Object out{
      {"status", status}, {"reason", json::Value(reason)}, {"headers", std::move(kept)}};
  if (!credentials.empty()) out.emplace("credentials", json::Value(credentials));
  return json::print(std::move(out));
}

std::string answered_with(int status) {
  return "the upstream answered " + std::to_string(status);
}

idempotency::Completion completion_of(const WriteRules& rules, int status,
                                      idempotency::Response kept) {
  if (is_stored(rules, status)) {
    return {.status = idempotency::Status::done,
            .response = idempotency::kept_of(std::move(kept), rules.body_limit),
            .ttl = rules.ttl};
  }
  if (status < 400) {
    // Applied, whatever is kept of it: protected, not replayable.
    return {.status = idempotency::Status::done,
            .response = {.body = {}, .metadata = std::move(kept.metadata), .tombstone = true},
            .ttl = rules.ttl};
  }
  return completion_without_answer(
      rules, is_not_applied(status) ? idempotency::Status::failed : idempotency::Status::unknown,
      answered_with(status));
}

idempotency::Completion completion_without_answer(const WriteRules& rules,
                                                  idempotency::Status status, std::string why) {
  const bool unknown = status == idempotency::Status::unknown;
  return {.status = status,
          .response = {.body = {},
                       .metadata = json::print(json::Object{{"reason", std::move(why)}}),
                       .tombstone = false},
          .ttl = unknown ? std::max(rules.ttl, bounds::record_unknown_ttl) : rules.ttl};
}

Result<ReplayedHead> replayed_head(const idempotency::Response& kept) {
  const auto unreadable = [] {
    return failure(Code::invalid, "the record holds no answer of the gateway");
  };
  const Result<json::Value> metadata = json::parse(kept.metadata);
  if (!metadata) return unreadable();
  const json::Value* status = metadata->find("status");
  const json::Value* reason = metadata->find("reason");
  const json::Value* headers = metadata->find("headers");
  const json::Value* credentials = metadata->find("credentials");
  if (status == nullptr || status->if_number() == nullptr || headers == nullptr ||
      headers->if_array() == nullptr) {
    return unreadable();
  }
  ReplayedHead head;
  const std::string& digits = status->if_number()->text;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), head.status);
  if (read.ec != std::errc() || head.status < 200 || head.status > 599) return unreadable();
  if (reason != nullptr && reason->if_string() != nullptr) head.reason = *reason->if_string();
  if (!std::ranges::all_of(head.reason, http::is_field_char)) return unreadable();
  if (credentials != nullptr) {
    if (credentials->if_string() == nullptr) return unreadable();
    head.credentials = *credentials->if_string();
  }
  for (const json::Value& pair : *headers->if_array()) {
    const json::Array* both = pair.if_array();
    if (both == nullptr || both->size() != 2) return unreadable();
    const std::string* name = (*both)[0].if_string();
    const std::string* value = (*both)[1].if_string();
    if (name == nullptr || value == nullptr || !is_field(*name, *value)) return unreadable();
    head.fields.append(*name).append(": ").append(*value).append("\r\n");
  }
  return head;
}

}  // namespace pawl::request
