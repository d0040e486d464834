#include "base/redis_url.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "base/address.h"
#include "base/bounds.h"
#include "base/text.h"

namespace pawl::redis {
namespace {

constexpr std::uint16_t default_port = 6379;
constexpr int database_max = 1'000'000;
constexpr std::size_t host_bytes_max = 253;

struct Scheme {
  std::string_view name;
  bool tls = false;
  bool cluster = false;
};
constexpr std::array<Scheme, 4> schemes = {{{"redis", false, false},
                                            {"rediss", true, false},
                                            {"redis+cluster", false, true},
                                            {"rediss+cluster", true, true}}};

std::unexpected<Error> wrong(const std::string& what) {
  return failure(Code::invalid, "not a Redis URL: " + what);
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = ascii_lower(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

Result<std::string> percent_decoded(std::string_view text, const char* what) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    const int high = i + 1 < text.size() ? hex_value(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
    if (high < 0 || low < 0) {
      return wrong(std::string("in the ") + what + " a % must be followed by two hex digits");
    }
    decoded += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return decoded;
}

// [user[:password]]
Result<void> read_login(std::string_view login, RedisUrl& url) {
  const std::string_view user = take_until(login, ':');
  url.user = PAWL_TRY(percent_decoded(user, "user"));
  url.password = Secret(PAWL_TRY(percent_decoded(login, "password")));
  if (url.password.empty()) {
    return wrong("there is no password before the @; write user:password@, or :password@ alone");
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
Result<Target> read_server(std::string_view text) {
  Target target{.host = {}, .port = default_port};
  std::optional<std::string_view> port;
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    const std::string_view inside = text.substr(1, end == text.npos ? end : end - 1);
    if (end == text.npos || !parse_ip(inside) || inside.find(':') == inside.npos) {
      return wrong("[ begins an IPv6 address, which must be whole and end with ]");
    }
    target.host = inside;
    text.remove_prefix(end + 1);
    if (!text.empty() && text[0] != ':') return wrong("after ] comes :port or nothing");
    if (!text.empty()) port = text.substr(1);
  } else {
    const auto colon = text.find(':');
    target.host = text.substr(0, colon);
    if (colon != text.npos) port = text.substr(colon + 1);
    if (!is_name(target.host)) {
      return wrong("the host must be a name, an IPv4 address or an IPv6 address in [ ]");
    }
  }
  if (port) {
    const auto number = parse_port(*port);
    if (!number || *number == 0) return wrong("the port must be 1 … 65535");
    target.port = *number;
  }
  return target;
}

Result<void> read_servers(std::string_view text, RedisUrl& url) {
  while (true) {
    const bool more = text.find(',') != text.npos;
    url.servers.push_back(PAWL_TRY(read_server(take_until(text, ','))));
    if (!more) break;
    if (url.servers.size() == bounds::redis_nodes_max) return wrong("too many nodes");
  }
  if (!url.cluster && url.servers.size() > 1) {
    return wrong("several servers need redis+cluster:// or rediss+cluster://");
  }
  return {};
}

Result<void> read_database(std::string_view path, RedisUrl& url) {
  if (path.empty()) return {};
  const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), url.database);
  const bool whole = error == std::errc() && end == path.data() + path.size();
  if (!whole || path[0] == '-' || url.database > database_max) {
    return wrong("after the / comes the number of a database");
  }
  if (url.cluster && url.database != 0) return wrong("a cluster has database 0 only");
  return {};
}

Result<void> read_options(std::string_view query, RedisUrl& url) {
  while (!query.empty()) {
    std::string_view value = take_until(query, '&');
    if (take_until(value, '=') != "ca" || value.empty() || !url.ca_file.empty()) {
      return wrong("the one option after ? is ca=FILE");
    }
    if (!url.tls) return wrong("ca= is for TLS: write rediss:// or rediss+cluster://");
    url.ca_file = PAWL_TRY(percent_decoded(value, "ca"));
    if (url.ca_file.find('\0') != std::string::npos) return wrong("ca= holds a zero byte");
  }
  return {};
}

const Scheme& scheme_of(const RedisUrl& url) {
  return schemes[static_cast<std::size_t>(url.tls) + (url.cluster ? 2 : 0)];
}

}  // namespace

Result<RedisUrl> parse_redis_url(std::string_view text) {
  const auto colon = text.find("://");
  const auto known = std::ranges::find_if(
      schemes, [&](const Scheme& s) { return equal_ignoring_case(s.name, text.substr(0, colon)); });
  if (colon == text.npos || known == schemes.end()) {
    return wrong("it begins with redis://, rediss://, redis+cluster:// or rediss+cluster://");
  }
  RedisUrl url;
  url.tls = known->tls;
  url.cluster = known->cluster;
  std::string_view rest = text.substr(colon + 3);
  if (rest.find('#') != rest.npos) return wrong("a # has no meaning here; write %23");
  const auto question = rest.find('?');
  const std::string_view query = question == rest.npos ? "" : rest.substr(question + 1);
  std::string_view path = rest.substr(0, question);
  std::string_view authority = take_until(path, '/');
  if (path.find('@') != path.npos || query.find('@') != query.npos) {
    return wrong("an @ stands after a / or ?; in a password write / as %2F and ? as %3F");
  }
  const auto at = authority.rfind('@');
  if (at != authority.npos) {
    PAWL_TRY(read_login(authority.substr(0, at), url));
    authority.remove_prefix(at + 1);
  }
  PAWL_TRY(read_servers(authority, url));
  PAWL_TRY(read_database(path, url));
  PAWL_TRY(read_options(query, url));
  return url;
}

std::string to_string(const RedisUrl& url) {
  std::string text(scheme_of(url).name);
  text += "://";
  for (std::size_t i = 0; i < url.servers.size(); ++i) {
    if (i > 0) text += ',';
    text += to_string(url.servers[i]);
  }
  if (!url.cluster) {
    text += '/';
    append_number(text, url.database);
  }
  return text;
}

}  // namespace pawl::redis
