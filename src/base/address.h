// Addresses of the internet protocol as values: IpAddress, Endpoint (address and port), Target (the
// same by name), Prefix (CIDR).
//
// Why our own: the system's readers take 127.1, 0x7f.1 and 010.0.0.1 for addresses, each program
//           differently; a trusted list must mean one thing.
// Contract: pure. IPv4 is four decimal numbers without leading zeros; IPv6 is RFC 4291 without a
//           zone, printed as RFC 5952 says. An IPv4-mapped IPv6 address (::ffff:a.b.c.d) is the
//           IPv4 address from the moment it is read, so that nobody passes a list by spelling.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "pawl/result.h"

namespace pawl {

class IpAddress {
 public:
  // 0.0.0.0
  constexpr IpAddress() : IpAddress(v4({0, 0, 0, 0})) {}

  static constexpr IpAddress v4(const std::array<std::uint8_t, 4>& b) {
    return v6({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, b[0], b[1], b[2], b[3]});
  }
  static constexpr IpAddress v6(const std::array<std::uint8_t, 16>& bytes) {
    return IpAddress(bytes);
  }

  // IPv4 stands in its mapped form.
  constexpr const std::array<std::uint8_t, 16>& bytes() const { return bytes_; }
  bool is_v4() const;
  // 127.0.0.0/8 or ::1.
  bool is_loopback() const;
  // 0.0.0.0 or ::, which mean every address of the machine.
  bool is_unspecified() const;

  constexpr auto operator<=>(const IpAddress&) const = default;

 private:
  explicit constexpr IpAddress(const std::array<std::uint8_t, 16>& bytes) : bytes_(bytes) {}
  std::array<std::uint8_t, 16> bytes_;
};

// "192.0.2.1" or "2001:db8::1".
Result<IpAddress> parse_ip(std::string_view text);
std::string to_string(const IpAddress& address);
void append_text(std::string& out, const IpAddress& address);

struct Endpoint {
  IpAddress address;
  std::uint16_t port = 0;  // 0: any free port
  constexpr auto operator<=>(const Endpoint&) const = default;
};

// "127.0.0.1:8080" or "[::1]:8080".
Result<Endpoint> parse_endpoint(std::string_view text);
std::string to_string(const Endpoint& endpoint);

// A host to connect to: an address or a name, and a port.
struct Target {
  std::string host;
  std::uint16_t port = 0;
  bool operator==(const Target&) const = default;
};

// "host:port", an IPv6 address in brackets.
std::string to_string(const Target& target);

// 0 … 65535 in decimal digits, no sign and no leading zero.
Result<std::uint16_t> parse_port(std::string_view text);

// All addresses that begin with the same bits.
struct Prefix {
  IpAddress address;  // the bits after the length are zero
  int length = 0;     // 0 … 32 for IPv4, 0 … 128 for IPv6

  bool contains(const IpAddress& other) const;
  bool operator==(const Prefix&) const = default;
};

// "10.0.0.0/8", "2001:db8::/32", or an address alone. A bit set after the length is an error:
// whoever writes 10.0.0.1/8 may mean one address or sixteen million.
Result<Prefix> parse_prefix(std::string_view text);
// The one of that length that holds the address.
Prefix prefix_of(const IpAddress& address, int length);
// An address alone when the prefix holds just that one.
std::string to_string(const Prefix& prefix);
void append_text(std::string& out, const Prefix& prefix);

}  // namespace pawl
