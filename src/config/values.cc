#include "config/values.h"

#include <algorithm>
#include <charconv>

#include "base/bounds.h"
#include "base/text.h"
#include "base/utf8.h"
#include "core/http/chars.h"

namespace pawl::config {
namespace {

constexpr std::string_view http_scheme = "http://";
constexpr std::string_view file_scheme = "file:";

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

std::optional<AuditSink> parse_sink(std::string_view text) {
  if (!text.starts_with(file_scheme)) return std::nullopt;
  text.remove_prefix(file_scheme.size());
  if (text.empty() || text.size() > bounds::config_path_bytes_max || !is_printable(text)) {
    return std::nullopt;
  }
  return AuditSink{std::string(text)};
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
        const bool good = std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; });
        if (!good || text.size() > bounds::config_secret_bytes_max || text == hidden_secret) {
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
      {"name", "1 to " + std::to_string(bounds::config_name_bytes_max) + " of a-z, 0-9, _ and -"},
      [](const std::string& text) -> std::optional<std::string> {
        const bool good = std::ranges::all_of(text, [](char c) {
          return (c >= 'a' && c <= 'z') || http::is_digit(c) || c == '_' || c == '-';
        });
        if (text.empty() || text.size() > bounds::config_name_bytes_max || !good) {
          return std::nullopt;
        }
        return text;
      },
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
