#include "config/values.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/bounds.h"
#include "base/text.h"
#include "base/utf8.h"
#include "core/http/chars.h"

namespace pawl::config {
namespace {

constexpr std::string_view http_scheme = "http://";
constexpr std::string_view file_scheme = "file:";
constexpr std::string_view sqlite_scheme = "sqlite:";
constexpr std::array<std::string_view, 4> redis_schemes = {"redis://", "rediss://",
                                                           "redis+cluster://", "rediss+cluster://"};
constexpr std::string_view no_store = "";
constexpr std::string_view memory_store = "memory";

template <class T>
std::optional<T> value_of(Result<T> parsed) {
  return parsed ? std::optional<T>(*std::move(parsed)) : std::nullopt;
}

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || http::is_digit(c);
}

bool is_label(std::string_view label) {
  return !label.empty() && label.size() <= 63 && label.front() != '-' && label.back() != '-' &&
         std::ranges::all_of(label,
                             [](char c) { return is_alphanumeric(c) || c == '-' || c == '_'; });
}

// What some programs take for the last number of an address, as in 127.1 or 127.0x1.
bool is_number(std::string_view label) {
  return std::ranges::all_of(label, http::is_digit) || label.starts_with("0x") ||
         label.starts_with("0X");
}

// A name that no program takes for an address.
bool is_host_name(std::string_view host) {
  if (host.empty() || host.size() > 253) return false;
  std::string_view label;
  while (!host.empty()) {
    const bool last = host.find('.') == std::string_view::npos;
    if (!last && host.back() == '.') return false;
    label = take_until(host, '.');
    if (!is_label(label)) return false;
  }
  return !is_number(label);
}

std::optional<Upstream> parse_upstream(std::string_view text) {
  if (!text.starts_with(http_scheme)) return std::nullopt;
  text.remove_prefix(http_scheme.size());
  Upstream upstream;
  std::string_view port;
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    const auto host = text.substr(1, end - 1);
    const auto ip = parse_ip(host);
    if (!ip || host.find(':') == std::string_view::npos) return std::nullopt;
    upstream.host = to_string(*ip);
    port = text.substr(end + 1);
  } else {
    upstream.host = text.substr(0, text.find(':'));
    if (!is_host_name(upstream.host) && !parse_ip(upstream.host)) return std::nullopt;
    port = text.substr(upstream.host.size());
  }
  if (port.empty()) return upstream;
  if (!port.starts_with(':')) return std::nullopt;
  const auto number = parse_port(port.substr(1));
  if (!number || *number == 0) return std::nullopt;
  upstream.port = *number;
  return upstream;
}

std::string print_upstream(const Upstream& upstream) {
  const bool v6 = upstream.host.find(':') != std::string::npos;
  std::string out(http_scheme);
  out += v6 ? "[" + upstream.host + "]" : upstream.host;
  if (upstream.port != 80) out += ":" + std::to_string(upstream.port);
  return out;
}

// Text in which every character is one that a terminal shows.
bool is_printable(std::string_view text) {
  while (!text.empty()) {
    const auto [code, bytes] = first_utf8_character(text);
    if (bytes == 0 || code < 0x20 || (code >= 0x7f && code < 0xa0)) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

// What stands behind the scheme, when that may be the path of a file.
std::optional<std::string> parse_path(std::string_view scheme, std::string_view text) {
  if (!text.starts_with(scheme)) return std::nullopt;
  text.remove_prefix(scheme.size());
  if (text.empty() || text.size() > bounds::config_path_bytes_max || !is_printable(text)) {
    return std::nullopt;
  }
  return std::string(text);
}

std::optional<AuditSink> parse_sink(std::string_view text) {
  auto path = parse_path(file_scheme, text);
  return path ? std::optional(AuditSink{*std::move(path)}) : std::nullopt;
}

bool is_visible(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; });
}

// What stands before the host of a URL, and where in it.
struct UserInfo {
  std::size_t begin = 0;
  std::size_t end = 0;  // of the @; begin when there is none
};

UserInfo user_info(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme == std::string_view::npos) return {};
  const std::size_t begin = scheme + 3;
  const auto end = url.rfind('@');
  return {begin, end == std::string_view::npos || end < begin ? begin : end};
}

std::string_view password_of(std::string_view url) {
  const UserInfo user = user_info(url);
  const std::string_view info = url.substr(user.begin, user.end - user.begin);
  const auto colon = info.find(':');
  return colon == std::string_view::npos ? std::string_view() : info.substr(colon + 1);
}

// Its parts are looked at by check_together(), which can say what is wrong with them.
bool is_redis_url(std::string_view text) {
  const bool scheme = std::ranges::any_of(redis_schemes, [&](std::string_view each) {
    return text.starts_with(each) && text.size() > each.size();
  });
  return scheme && text.size() <= bounds::config_path_bytes_max && is_visible(text) &&
         password_of(text) != hidden_secret;
}

std::optional<LimitStore> parse_sqlite(std::string_view text) {
  auto path = parse_path(sqlite_scheme, text);
  if (!path) return std::nullopt;
  return LimitStore{.kind = LimitStore::Kind::sqlite, .path = *std::move(path), .url = {}};
}

std::optional<LimitStore> parse_store(std::string_view text) {
  if (text == memory_store)
    return LimitStore{.kind = LimitStore::Kind::memory, .path = {}, .url = {}};
  if (!is_redis_url(text)) return parse_sqlite(text);
  return LimitStore{
      .kind = LimitStore::Kind::redis, .path = {}, .url = Secret<std::string>(std::string(text))};
}

std::string print_store(const LimitStore& store) {
  switch (store.kind) {
    case LimitStore::Kind::none:
      return std::string(no_store);
    case LimitStore::Kind::memory:
      return std::string(memory_store);
    case LimitStore::Kind::sqlite:
      return std::string(sqlite_scheme) + store.path;
    case LimitStore::Kind::redis:
      return store.url.reveal();
  }
  __builtin_unreachable();
}

// "2026-01-31T00:00"
std::optional<CivilTime> parse_local_time(const std::string& text) {
  if (text.size() != 16) return std::nullopt;
  const auto instant = parse_instant(text + ":00Z");
  return instant ? std::optional(to_civil(*instant)) : std::nullopt;
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= bounds::config_name_bytes_max &&
         std::ranges::all_of(text, [](char c) {
           return (c >= 'a' && c <= 'z') || http::is_digit(c) || c == '_' || c == '-';
         });
}

std::string name_form() {
  return "1 to " + std::to_string(bounds::config_name_bytes_max) + " of a-z, 0-9, _ and -";
}

}  // namespace

Type<Endpoint> address() {
  return scalar<Endpoint>(
      {"address", "ADDRESS:PORT, as in 127.0.0.1:8080 or \"[::1]:8080\""},
      [](const std::string& text) { return value_of(parse_endpoint(text)); },
      [](const Endpoint& value) { return to_string(value); });
}

Type<Upstream> upstream() {
  return scalar<Upstream>(
      {"URL",
       "http://HOST or http://HOST:PORT; TLS (https) is not supported, nor is a path (not even a "
       "/ at the end), a query or a user name"},
      parse_upstream, print_upstream);
}

Type<Prefix> prefix() {
  return scalar<Prefix>(
      {"prefix",
       "an address or a prefix with no bit set after its length, as in 192.0.2.1, 10.0.0.0/8 or "
       "2001:db8::/32"},
      [](const std::string& text) { return value_of(parse_prefix(text)); },
      [](const Prefix& value) { return to_string(value); });
}

Type<Secret<std::string>> secret() {
  return scalar<Secret<std::string>>(
      {"secret",
       "\"\" or up to " + std::to_string(bounds::config_secret_bytes_max) +
           " visible ASCII characters without blanks, and not ***, which is how a secret is shown",
       true},
      [](const std::string& text) -> std::optional<Secret<std::string>> {
        if (!is_visible(text) || text.size() > bounds::config_secret_bytes_max ||
            text == hidden_secret) {
          return std::nullopt;
        }
        return Secret<std::string>(text);
      },
      [](const Secret<std::string>& value) { return value.reveal(); });
}

Type<std::string> header_name() {
  return scalar<std::string>(
      {"header name",
       "1 to " + std::to_string(bounds::config_name_bytes_max) +
           " characters of an HTTP field name, as in X-Tenant-Id, and no underscore: "
           "pawl refuses requests with one in a header name"},
      [](const std::string& text) -> std::optional<std::string> {
        if (text.size() > bounds::config_name_bytes_max || !http::is_token(text) ||
            text.find('_') != std::string::npos) {
          return std::nullopt;
        }
        return text;
      },
      [](const std::string& value) { return value; });
}

Type<std::string> bucket_name() {
  return scalar<std::string>(
      {"name", name_form()},
      [](const std::string& text) { return is_name(text) ? std::optional(text) : std::nullopt; },
      [](const std::string& value) { return value; });
}

Type<limit::Rate> rate() {
  return scalar<limit::Rate>(
      {"rate", "COUNT/DURATION, as in 100/1m (1 to " + std::to_string(bounds::limit_count_max) +
                   ", in up to " + to_string(bounds::limit_period_max) + ")"},
      [](const std::string& text) { return value_of(limit::parse_rate(text)); },
      [](const limit::Rate& value) { return limit::to_string(value); });
}

Type<AuditSink> sink() {
  return scalar<AuditSink>(
      {"sink", "file:PATH, as in file:data/audit.jsonl"}, parse_sink,
      [](const AuditSink& value) { return std::string(file_scheme) + value.path; });
}

Type<Duration> duration(Duration least, Duration most) {
  return scalar<Duration>(
      {"duration", "a duration from " + to_string(least) + " to " + to_string(most)},
      [=](const std::string& text) -> std::optional<Duration> {
        const auto value = parse_duration(text);
        return value && *value >= least && *value <= most ? std::optional(*value) : std::nullopt;
      },
      [](const Duration& value) { return to_string(value); });
}

Type<bool> truth() {
  Type<bool> type = scalar<bool>(
      {"true or false", "true or false"},
      [](const std::string& text) -> std::optional<bool> {
        if (text != "true" && text != "false") return std::nullopt;
        return text == "true";
      },
      [](const bool& value) { return std::string(value ? "true" : "false"); });
  type.print = [print = std::move(type.print)](const bool& value) {
    Node node = print(value);
    node.truth = true;
    return node;
  };
  return type;
}

Type<std::string> zone_name() {
  return scalar<std::string>(
      {"time zone", "the name of a time zone, as in Europe/Zurich or UTC"},
      [](const std::string& text) -> std::optional<std::string> {
        if (text.empty() || text.size() > bounds::config_name_bytes_max || !is_visible(text)) {
          return std::nullopt;
        }
        return text;
      },
      [](const std::string& value) { return value; });
}

Type<CivilTime> local_time() {
  return scalar<CivilTime>(
      {"local time", "a date and time of the zone, as in 2026-01-31T00:00"}, parse_local_time,
      [](const CivilTime& value) { return to_string(from_civil(value)).substr(0, 16); });
}

Type<LimitStore> limit_store() {
  return scalar<LimitStore>(
      {.name = "store",
       .allowed =
           "memory, sqlite:PATH, or a Redis as in redis://127.0.0.1:6379/0, rediss://… (over "
           "TLS), redis+cluster://HOST:PORT,HOST:PORT or rediss+cluster://…, with a password "
           "that is not ***",
       .url = true},
      parse_store, print_store);
}

Type<LimitStore> calendar_store() {
  return scalar<LimitStore>(
      {"store", "\"\" or sqlite:PATH"},
      [](const std::string& text) -> std::optional<LimitStore> {
        return text == no_store ? LimitStore() : parse_sqlite(text);
      },
      print_store);
}

KeyRule name_key() {
  return {name_form(), is_name};
}

KeyRule tenant_key() {
  return {"the name of a tenant, 1 to " + std::to_string(bounds::tenant_bytes_max) +
              " visible ASCII characters without blanks",
          [](std::string_view text) {
            return !text.empty() && text.size() <= bounds::tenant_bytes_max && is_visible(text);
          }};
}

std::string without_password(std::string_view url) {
  const std::string_view password = password_of(url);
  if (password.empty()) return std::string(url);
  const auto begin = static_cast<std::size_t>(password.data() - url.data());
  return std::string(url.substr(0, begin))
      .append(hidden_secret)
      .append(url.substr(begin + password.size()));
}

std::optional<std::int64_t> parse_whole(std::string_view text, std::int64_t least,
                                        std::int64_t most) {
  if (!std::ranges::all_of(text, http::is_digit)) return std::nullopt;
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || number < least || number > most) return std::nullopt;
  return number;
}

std::string alternatives(const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? " or " : ", ";
    out += words[i];
  }
  return out;
}

}  // namespace pawl::config
