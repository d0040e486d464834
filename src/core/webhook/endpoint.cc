#include "core/webhook/endpoint.h"

#include <algorithm>
#include <array>

#include "base/bounds.h"
#include "base/text.h"
#include "core/webhook/event.h"
#include "core/webhook/signature.h"

namespace pawl::webhook {
namespace {

struct Range {
  IpAddress first;
  int bits = 0;
};

constexpr IpAddress v4(std::uint8_t a, std::uint8_t b, std::uint8_t c = 0) {
  return IpAddress::v4({a, b, c, 0});
}
constexpr IpAddress v6(std::uint8_t a, std::uint8_t b, std::uint8_t c = 0, std::uint8_t d = 0) {
  return IpAddress::v6({a, b, c, d});
}

// The registries of special addresses (RFC 6890 and what came after it).
constexpr std::array<Range, 15> special_v4 = {{
    {v4(0, 0), 8},           // this network
    {v4(10, 0), 8},          // private
    {v4(100, 64), 10},       // shared by a carrier
    {v4(127, 0), 8},         // loopback
    {v4(169, 254), 16},      // link-local; clouds tell their secrets here
    {v4(172, 16), 12},       // private
    {v4(192, 0, 0), 24},     // protocols
    {v4(192, 0, 2), 24},     // documentation
    {v4(192, 88, 99), 24},   // relays to IPv6
    {v4(192, 168), 16},      // private
    {v4(198, 18), 15},       // benchmarks
    {v4(198, 51, 100), 24},  // documentation
    {v4(203, 0, 113), 24},   // documentation
    {v4(224, 0), 4},         // multicast
    {v4(240, 0), 4},         // reserved, and broadcast
}};
// Of what is given out today, 2000::/3.
constexpr std::array<Range, 3> special_v6 = {{
    {v6(0x20, 0x01), 23},              // protocols, with IPv4 inside
    {v6(0x20, 0x01, 0x0d, 0xb8), 32},  // documentation
    {v6(0x20, 0x02), 16},              // an IPv4 address inside
}};

bool holds(const Range& range, const IpAddress& address) {
  return Prefix{.address = range.first, .length = range.bits}.contains(address);
}

struct Url {
  std::string_view host;
  std::string_view port;  // empty: none
  bool well = false;
};

bool is_host_name(std::string_view host) {
  return !host.empty() && host.size() <= 253 && std::ranges::all_of(host, [](char c) {
    return (c >= '0' && c <= '9') || (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z') || c == '-' ||
           c == '.';
  });
}

Url split(std::string_view url) {
  const auto after = [&](std::string_view scheme) {
    return url.size() > scheme.size() && equal_ignoring_case(url.substr(0, scheme.size()), scheme)
               ? url.substr(scheme.size())
               : std::string_view();
  };
  std::string_view rest = after("https://");
  if (rest.empty()) rest = after("http://");
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?"));
  if (authority.starts_with('[')) {
    const auto end = authority.find(']');
    if (end == std::string_view::npos) return {};
    const std::string_view host = authority.substr(1, end - 1);
    std::string_view port = authority.substr(end + 1);
    const bool port_well = port.empty() || (port.starts_with(':') && port.size() > 1);
    if (port_well && !port.empty()) port.remove_prefix(1);
    const auto address = parse_ip(host);
    return {host, port, port_well && address && host.find(':') != std::string_view::npos};
  }
  const auto colon = authority.find(':');
  const std::string_view host = authority.substr(0, colon);
  const std::string_view port =
      colon == std::string_view::npos ? std::string_view() : authority.substr(colon + 1);
  const bool port_well = colon == std::string_view::npos || !port.empty();
  return {host, port, port_well && is_host_name(host)};
}

Result<void> check_url(std::string_view url) {
  const Url parts = split(url);
  const auto port = parts.port.empty() ? Result<std::uint16_t>(1) : parse_port(parts.port);
  const bool well = url.size() <= bounds::webhook_url_bytes_max && is_visible(url) &&
                    url.find('#') == std::string_view::npos && parts.well && port && *port != 0;
  if (well) return {};
  return failure(Code::invalid,
                 "the url of a webhook must be https://HOST or http://HOST, with a port and a path "
                 "if need be, without a user and without '#', and have at most " +
                     std::to_string(bounds::webhook_url_bytes_max) + " characters");
}

bool is_special(const IpAddress& address) {
  if (address.is_v4()) {
    return std::ranges::any_of(special_v4, [&](const Range& r) { return holds(r, address); });
  }
  const bool given_out = (address.bytes()[0] & 0xe0) == 0x20;
  return !given_out ||
         std::ranges::any_of(special_v6, [&](const Range& r) { return holds(r, address); });
}

}  // namespace

Result<void> check(const Endpoint& endpoint) {
  const std::string& name = endpoint.name;
  if (name.empty() || name.size() > bounds::config_name_bytes_max || !is_visible(name)) {
    return failure(Code::invalid, "the name of a webhook has 1 to " +
                                      std::to_string(bounds::config_name_bytes_max) +
                                      " visible characters of ASCII");
  }
  PAWL_TRY(check_url(endpoint.url));
  PAWL_TRY(key_of(endpoint.secret));
  for (const std::string& type : endpoint.events) PAWL_TRY(check_type(type));
  return {};
}

bool wants(const Endpoint& endpoint, std::string_view type) {
  return endpoint.events.empty() || std::ranges::count(endpoint.events, type) > 0;
}

std::string_view host_of(std::string_view url) {
  return split(url).host;
}

bool is_public(const IpAddress& address) {
  return !is_special(address);
}

std::function<bool(const IpAddress&)> reach_of(std::string_view url) {
  const std::string_view host = host_of(url);
  if (const auto literal = parse_ip(host)) {
    return [only = *literal](const IpAddress& address) { return address == only; };
  }
  if (equal_ignoring_case(host, "localhost")) {
    return [](const IpAddress& address) { return address.is_loopback(); };
  }
  return is_public;
}

}  // namespace pawl::webhook
