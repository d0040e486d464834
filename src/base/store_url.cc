#include "base/store_url.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/percent.h"
#include "base/text.h"

namespace pawl {
namespace {

constexpr std::size_t host_bytes_max = 253;

Result<std::string> decoded_part(std::string_view text, std::string_view what,
                                 const StoreUrlForm& form) {
  std::optional<std::string> decoded = percent_decoded(text);
  if (decoded) return *std::move(decoded);
  return wrong_url(form, "in the " + std::string(what) + " a % must be followed by two hex digits");
}

// [user[:password]]
Result<void> read_login(std::string_view login, const StoreUrlForm& form, StoreUrl& url) {
  const std::string_view user = take_until(login, ':');
  url.user = PAWL_TRY(decoded_part(user, "user", form));
  url.password = Secret(PAWL_TRY(decoded_part(login, "password", form)));
  if (url.password.empty()) {
    return wrong_url(form,
                     "there is no password before the @; write user:password@, or :password@ "
                     "alone");
  }
  return {};
}

bool is_name(std::string_view host) {
  return !host.empty() && host.size() <= host_bytes_max && std::ranges::all_of(host, [](char c) {
    return (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
  });
}

// What comes before may be a password with a special character in it, so nothing is repeated.
Result<Target> read_server(std::string_view text, const StoreUrlForm& form) {
  Target target{.host = {}, .port = form.default_port};
  std::optional<std::string_view> port;
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    const std::string_view inside = text.substr(1, end == text.npos ? end : end - 1);
    if (end == text.npos || !parse_ip(inside) || inside.find(':') == inside.npos) {
      return wrong_url(form, "[ begins an IPv6 address, which must be whole and end with ]");
    }
    target.host = inside;
    text.remove_prefix(end + 1);
    if (!text.empty() && text[0] != ':') return wrong_url(form, "after ] comes :port or nothing");
    if (!text.empty()) port = text.substr(1);
  } else {
    const auto colon = text.find(':');
    target.host = text.substr(0, colon);
    if (colon != text.npos) port = text.substr(colon + 1);
    if (!is_name(target.host)) {
      return wrong_url(form, "the host must be a name, an IPv4 address or an IPv6 address in [ ]");
    }
  }
  if (port) {
    const auto number = parse_port(*port);
    if (!number || *number == 0) return wrong_url(form, "the port must be 1 … 65535");
    target.port = *number;
  }
  return target;
}

Result<void> read_servers(std::string_view text, const StoreUrlForm& form, StoreUrl& url) {
  while (true) {
    const bool more = text.find(',') != text.npos;
    url.servers.push_back(PAWL_TRY(read_server(take_until(text, ','), form)));
    if (!more) return {};
    if (url.servers.size() == form.servers_max) return wrong_url(form, "too many servers");
  }
}

}  // namespace

std::unexpected<Error> wrong_url(const StoreUrlForm& form, std::string_view what) {
  return failure(Code::invalid, "not a " + std::string(form.kind) + " URL: " + std::string(what));
}

Result<StoreUrl> parse_store_url(std::string_view after_scheme, const StoreUrlForm& form) {
  if (after_scheme.find('#') != after_scheme.npos) {
    return wrong_url(form, "a # has no meaning here; write %23");
  }
  StoreUrl url;
  const auto question = after_scheme.find('?');
  if (question != after_scheme.npos) url.query = after_scheme.substr(question + 1);
  std::string_view rest = after_scheme.substr(0, question);
  std::string_view authority = take_until(rest, '/');
  url.path = rest;
  if (url.path.find('@') != url.path.npos || url.query.find('@') != url.query.npos) {
    return wrong_url(form, "an @ stands after a / or ?; in a password write / as %2F and ? as %3F");
  }
  const auto at = authority.rfind('@');
  if (at != authority.npos) {
    PAWL_TRY(read_login(authority.substr(0, at), form, url));
    authority.remove_prefix(at + 1);
  }
  PAWL_TRY(read_servers(authority, form, url));
  return url;
}

Result<std::string> parse_url_option(std::string_view query, std::string_view name,
                                     const StoreUrlForm& form) {
  std::string found;
  while (!query.empty()) {
    std::string_view value = take_until(query, '&');
    if (take_until(value, '=') != name || value.empty() || !found.empty()) {
      return wrong_url(form, "the one option after ? is " + std::string(name) + "=FILE");
    }
    found = PAWL_TRY(decoded_part(value, name, form));
    if (found.find('\0') != found.npos) {
      return wrong_url(form, std::string(name) + "= holds a zero byte");
    }
  }
  return found;
}

std::string to_string(const std::vector<Target>& servers) {
  std::string text;
  for (const Target& server : servers) {
    if (!text.empty()) text += ',';
    text += to_string(server);
  }
  return text;
}

}  // namespace pawl
