#include "config/places.h"

#include <algorithm>
#include <optional>

#include "base/bounds.h"
#include "base/text.h"
#include "base/utf8.h"
#include "config/values.h"
#include "core/http/chars.h"

namespace pawl::config {
namespace {

constexpr std::string_view http_scheme = "http://";
constexpr std::string_view https_scheme = "https://";
constexpr std::uint16_t http_port = 80;
constexpr std::uint16_t https_port = 443;

using Kind = StoreSetting::Kind;

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

// "host", "host:port" or "[::1]:port", the port 0 when none is said.
std::optional<Target> parse_authority(std::string_view text) {
  Target target;
  std::string_view port;
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    const auto host = text.substr(1, end - 1);
    const auto ip = parse_ip(host);
    if (!ip || host.find(':') == std::string_view::npos) return std::nullopt;
    target.host = to_string(*ip);
    port = text.substr(end + 1);
  } else {
    target.host = text.substr(0, text.find(':'));
    if (!is_host_name(target.host) && !parse_ip(target.host)) return std::nullopt;
    port = text.substr(target.host.size());
  }
  if (port.empty()) return target;
  if (!port.starts_with(':')) return std::nullopt;
  const auto number = parse_port(port.substr(1));
  if (!number || *number == 0) return std::nullopt;
  target.port = *number;
  return target;
}

// Takes the scheme off the front; nothing when it is another one.
std::optional<bool> take_scheme(std::string_view& url) {
  for (const std::string_view scheme : {http_scheme, https_scheme}) {
    if (!url.starts_with(scheme)) continue;
    url.remove_prefix(scheme.size());
    return scheme == https_scheme;
  }
  return std::nullopt;
}

std::optional<Upstream> parse_upstream(std::string_view text) {
  const auto tls = take_scheme(text);
  const auto target = tls ? parse_authority(text) : std::nullopt;
  if (!target) return std::nullopt;
  const std::uint16_t standard = *tls ? https_port : http_port;
  return Upstream{
      .host = target->host, .port = target->port == 0 ? standard : target->port, .tls = *tls};
}

bool is_web_url(std::string_view text) {
  if (text.size() > bounds::webhook_url_bytes_max || !is_visible(text)) return false;
  if (text.find('#') != std::string_view::npos || !take_scheme(text)) return false;
  const auto target = parse_authority(text.substr(0, text.find_first_of("/?")));
  return target && target->host.find('_') == std::string::npos;
}

std::string web_url_form() {
  return "https://HOST or http://HOST with a port, a path and a query or without, as in "
         "https://example.org/hooks, in up to " +
         std::to_string(bounds::webhook_url_bytes_max) +
         " characters, without a user name, a # or a _ in the host";
}

bool is_path(std::string_view text) {
  return !text.empty() && text.size() <= bounds::config_path_bytes_max && is_printable(text);
}

std::string path_form() {
  return "the path of a file, of up to " + std::to_string(bounds::config_path_bytes_max) +
         " bytes that can be printed";
}

// One that is kept as it was written.
Type<std::string> text_where(Description description, bool (*good)(std::string_view)) {
  return scalar<std::string>(
      std::move(description),
      [good](const std::string& text) { return good(text) ? std::optional(text) : std::nullopt; },
      [](const std::string& value) { return value; });
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

// A place of one of these kinds. The parts of a URL are looked at by check_together(), which can
// say what is wrong with them.
std::optional<StoreSetting> parse_place(std::string_view text, const std::vector<Kind>& kinds) {
  auto store = parse_store(text);
  if (!store || std::ranges::find(kinds, store->kind) == kinds.end()) return std::nullopt;
  if (password_of(store->url.reveal()) == hidden_secret) return std::nullopt;
  return *std::move(store);
}

std::string print_place(const StoreSetting& store) {
  return print(store);
}

Type<StoreSetting> place(Description description, std::initializer_list<Kind> kinds) {
  return scalar<StoreSetting>(
      std::move(description),
      [kinds = std::vector(kinds)](const std::string& text) { return parse_place(text, kinds); },
      print_place);
}

}  // namespace

std::string to_string(const Upstream& upstream) {
  const bool v6 = upstream.host.find(':') != std::string::npos;
  std::string out(upstream.tls ? https_scheme : http_scheme);
  out += v6 ? "[" + upstream.host + "]" : upstream.host;
  if (upstream.port != (upstream.tls ? https_port : http_port)) {
    out += ":" + std::to_string(upstream.port);
  }
  return out;
}

Type<Upstream> upstream() {
  return scalar<Upstream>(
      {"URL",
       "http://HOST, http://HOST:PORT or the same with https://, without a path (not even a / at "
       "the end), a query or a user name"},
      parse_upstream, [](const Upstream& value) { return to_string(value); });
}

Type<std::string> web_url() {
  return text_where({"URL", web_url_form()}, is_web_url);
}

Type<std::string> web_url_or_none() {
  return text_where({"URL", "\"\" or " + web_url_form()},
                    [](std::string_view text) { return text.empty() || is_web_url(text); });
}

Type<std::string> host() {
  return text_where({"host",
                     "a name or an address without a port, as in pawl.example.org, 192.0.2.1 or "
                     "\"[2001:db8::1]\""},
                    [](std::string_view text) {
                      const auto target = parse_authority(text);
                      return target && target->port == 0;
                    });
}

Type<std::string> file_path() {
  return text_where({"path", path_form()}, is_path);
}

Type<std::string> file_path_or_none() {
  return text_where({"path", "\"\" or " + path_form()},
                    [](std::string_view text) { return text.empty() || is_path(text); });
}

Type<std::string> request_path_or_none() {
  return text_where(
      {"path", "\"\" or a path of up to " + std::to_string(bounds::config_path_bytes_max) +
                   " visible ASCII characters that begins with /, as in /healthz"},
      [](std::string_view text) {
        return text.empty() || (text.starts_with('/') && is_visible(text) &&
                                text.find('#') == std::string_view::npos &&
                                text.size() <= bounds::config_path_bytes_max);
      });
}

Type<StoreSetting> limit_store() {
  return place(
      {.name = "store",
       .allowed =
           "memory, sqlite:PATH, or a Redis as in redis://127.0.0.1:6379/0, rediss://… (over "
           "TLS), redis+cluster://HOST:PORT,HOST:PORT or rediss+cluster://…, with a password "
           "that is not ***",
       .form = Form::url},
      {Kind::memory, Kind::sqlite, Kind::redis});
}

Type<StoreSetting> calendar_store() {
  return scalar<StoreSetting>(
      {"store", "\"\" or sqlite:PATH"},
      [](const std::string& text) {
        return text.empty() ? StoreSetting() : parse_place(text, {Kind::sqlite});
      },
      print_place);
}

Type<StoreSetting> record_store() {
  return place(
      {.name = "store",
       .allowed =
           "memory, sqlite:PATH, a Redis as in redis://127.0.0.1:6379/0, rediss://… (over TLS), "
           "redis+cluster://HOST:PORT,HOST:PORT or rediss+cluster://…, or a bucket of a NATS as in "
           "nats://127.0.0.1:4222/pawl or tls://…, with a password that is not ***",
       .form = Form::url},
      {Kind::memory, Kind::sqlite, Kind::redis, Kind::nats});
}

Type<StoreSetting> sink() {
  return place({.name = "sink",
                .allowed = "file:PATH, as in file:data/audit.jsonl, or a stream of a NATS as in "
                           "nats://127.0.0.1:4222/audit or tls://…, with a password that is not "
                           "***",
                .form = Form::url},
               {Kind::file, Kind::nats});
}

std::string without_password(std::string_view url) {
  const std::string_view password = password_of(url);
  if (password.empty()) return std::string(url);
  const auto begin = static_cast<std::size_t>(password.data() - url.data());
  return std::string(url.substr(0, begin))
      .append(hidden_secret)
      .append(url.substr(begin + password.size()));
}

}  // namespace pawl::config
