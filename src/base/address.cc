#include "base/address.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include "base/text.h"

namespace pawl {
namespace {

using Groups = std::array<std::uint16_t, 8>;

constexpr int v4_offset_bits = 96;  // IPv4 lies in the last 32 of 128 bits

// Decimal digits only, no leading zero, at most `most`.
std::optional<unsigned> parse_decimal(std::string_view text, unsigned most) {
  if (text.empty() || text.size() > 5) return std::nullopt;
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  unsigned number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<unsigned>(c - '0');
  }
  return number <= most ? std::optional(number) : std::nullopt;
}

std::optional<std::array<std::uint8_t, 4>> parse_v4(std::string_view text) {
  if (std::ranges::count(text, '.') != 3) return std::nullopt;
  std::array<std::uint8_t, 4> bytes{};
  for (std::uint8_t& byte : bytes) {
    const auto number = parse_decimal(take_until(text, '.'), 255);
    if (!number) return std::nullopt;
    byte = static_cast<std::uint8_t>(*number);
  }
  return bytes;
}

std::optional<std::uint16_t> parse_group(std::string_view text) {
  if (text.empty() || text.size() > 4) return std::nullopt;
  std::uint16_t group = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, group, 16);
  if (error != std::errc() || rest != end) return std::nullopt;
  return group;
}

// Colon-separated groups, the last two of which may be written as an IPv4 address. How many there
// are, or nothing. Empty text is no groups.
std::optional<std::size_t> parse_groups(std::string_view text, bool v4_may_end, Groups& groups) {
  std::size_t count = 0;
  while (!text.empty()) {
    const bool last = text.find(':') == std::string_view::npos;
    if (!last && text.back() == ':') return std::nullopt;
    const std::string_view part = take_until(text, ':');
    if (last && v4_may_end && part.find('.') != std::string_view::npos) {
      const auto v4 = parse_v4(part);
      if (!v4 || count > 6) return std::nullopt;
      groups[count++] = static_cast<std::uint16_t>((*v4)[0] << 8 | (*v4)[1]);
      groups[count++] = static_cast<std::uint16_t>((*v4)[2] << 8 | (*v4)[3]);
      return count;
    }
    const auto group = parse_group(part);
    if (!group || count > 7) return std::nullopt;
    groups[count++] = *group;
  }
  return count;
}

std::optional<IpAddress> parse_v6(std::string_view text) {
  Groups groups{};
  const auto gap = text.find("::");
  if (gap == std::string_view::npos) {
    const auto count = parse_groups(text, true, groups);
    if (!count || *count != 8) return std::nullopt;
  } else {
    Groups tail{};
    const auto before = parse_groups(text.substr(0, gap), false, groups);
    const auto after = parse_groups(text.substr(gap + 2), true, tail);
    // The gap stands for one group at least.
    if (!before || !after || *before + *after > 7) return std::nullopt;
    std::copy_n(tail.begin(), *after, groups.end() - static_cast<std::ptrdiff_t>(*after));
  }
  std::array<std::uint8_t, 16> bytes{};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    bytes[2 * i] = static_cast<std::uint8_t>(groups[i] >> 8);
    bytes[2 * i + 1] = static_cast<std::uint8_t>(groups[i] & 0xff);
  }
  return IpAddress::v6(bytes);
}

std::unexpected<Error> not_an(std::string_view what, std::string_view text,
                              std::string_view advice) {
  return failure(Code::invalid, "'" + std::string(text) + "' is not an " + std::string(what) +
                                    "; write " + std::string(advice));
}

std::unexpected<Error> not_a_prefix(std::string_view text) {
  return not_an("address or prefix", text, "one as in 10.0.0.0/8, 2001:db8::/32 or 192.0.2.1");
}

// The first `length` of 128 bits, the rest zero.
std::array<std::uint8_t, 16> masked(std::array<std::uint8_t, 16> bytes, int length) {
  for (int bit = 0; bit < 128; bit += 8) {
    const int kept = std::clamp(length - bit, 0, 8);
    bytes[static_cast<std::size_t>(bit / 8)] &= static_cast<std::uint8_t>(0xff00 >> kept);
  }
  return bytes;
}

void append_v6(std::string& out, const IpAddress& address) {
  Groups groups{};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    groups[i] =
        static_cast<std::uint16_t>(address.bytes()[2 * i] << 8 | address.bytes()[2 * i + 1]);
  }
  // The longest run of zeros, the first of equals; a single zero is written out.
  std::size_t gap = 0;
  std::size_t gap_size = 1;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::size_t size = 0;
    while (i + size < groups.size() && groups[i + size] == 0) ++size;
    if (size > gap_size) {
      gap = i;
      gap_size = size;
    }
  }
  bool apart = true;  // from what stands before
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (gap_size > 1 && i == gap) {
      out += "::";
      i += gap_size - 1;
      apart = true;
      continue;
    }
    if (!apart) out += ':';
    apart = false;
    char digits[4];
    const auto [end, error] = std::to_chars(digits, digits + sizeof(digits), groups[i], 16);
    out.append(digits, end);
  }
}

}  // namespace

bool IpAddress::is_v4() const {
  std::uint64_t first = 0;
  std::memcpy(&first, bytes_.data(), sizeof(first));
  return first == 0 && bytes_[8] == 0 && bytes_[9] == 0 && bytes_[10] == 0xff && bytes_[11] == 0xff;
}

bool IpAddress::is_loopback() const {
  if (is_v4()) return bytes_[12] == 127;
  return *this == v6({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
}

bool IpAddress::is_unspecified() const {
  return *this == IpAddress() || *this == v6({});
}

Result<IpAddress> parse_ip(std::string_view text) {
  if (const auto v4 = parse_v4(text)) return IpAddress::v4(*v4);
  if (const auto v6 = parse_v6(text)) return *v6;
  return not_an("IP address", text, "one as in 192.0.2.1 or 2001:db8::1");
}

void append_text(std::string& out, const IpAddress& address) {
  if (!address.is_v4()) {
    append_v6(out, address);
    return;
  }
  char text[16];  // appended at once: every request has its client's address written
  char* end = text;
  for (std::size_t i = 12; i < 16; ++i) {
    end = std::to_chars(end, text + sizeof(text), address.bytes()[i]).ptr;
    *end++ = '.';
  }
  out.append(text, end - 1);
}

std::string to_string(const IpAddress& address) {
  std::string out;
  append_text(out, address);
  return out;
}

Result<std::uint16_t> parse_port(std::string_view text) {
  if (const auto port = parse_decimal(text, 65535)) return static_cast<std::uint16_t>(*port);
  return failure(Code::invalid,
                 "'" + std::string(text) + "' is not a port; write a number from 0 to 65535");
}

Result<Endpoint> parse_endpoint(std::string_view text) {
  const auto refuse = [&] {
    return not_an("address with a port", text, "one as in 127.0.0.1:8080 or [::1]:8080");
  };
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return refuse();
  const auto port = parse_port(text.substr(colon + 1));
  if (!port) return refuse();
  const std::string_view host = text.substr(0, colon);
  if (const auto v4 = parse_v4(host)) return Endpoint{IpAddress::v4(*v4), *port};
  if (!host.starts_with('[') || !host.ends_with(']')) return refuse();
  const auto v6 = parse_v6(host.substr(1, host.size() - 2));
  if (!v6) return refuse();
  return Endpoint{*v6, *port};
}

std::string to_string(const Endpoint& endpoint) {
  return to_string(Target{.host = to_string(endpoint.address), .port = endpoint.port});
}

std::string to_string(const Target& target) {
  std::string out = target.host;
  if (out.find(':') != std::string::npos) out = "[" + out + "]";
  out += ':';
  append_number(out, target.port);
  return out;
}

bool Prefix::contains(const IpAddress& other) const {
  if (address.is_v4() != other.is_v4()) return false;
  const int bits = address.is_v4() ? v4_offset_bits + length : length;
  const auto whole = static_cast<std::size_t>(bits / 8);
  if (!std::equal(other.bytes().begin(), other.bytes().begin() + whole, address.bytes().begin())) {
    return false;
  }
  const int mask = 0xff00 >> bits % 8;  // of the byte that the prefix ends in
  return whole == address.bytes().size() ||
         (other.bytes()[whole] & mask & 0xff) == address.bytes()[whole];
}

Result<Prefix> parse_prefix(std::string_view text) {
  const auto slash = text.find('/');
  const std::string_view written = text.substr(0, slash);
  const auto address = parse_ip(written);
  if (!address) return not_a_prefix(text);
  const int offset = address->is_v4() ? v4_offset_bits : 0;
  if (slash == std::string_view::npos) return Prefix{*address, 128 - offset};

  // A mapped address counts its length in the 128 bits it was written with.
  const bool as_v6 = written.find(':') != std::string_view::npos;
  const auto length = parse_decimal(text.substr(slash + 1), as_v6 ? 128 : 32);
  if (!length) return not_a_prefix(text);
  const int bits = static_cast<int>(*length) + (as_v6 ? 0 : v4_offset_bits);
  const auto kept = IpAddress::v6(masked(address->bytes(), bits));
  if (kept != *address) {
    return failure(Code::invalid, "'" + std::string(text) +
                                      "' has bits set after its length; write " +
                                      to_string(Prefix{*address, 128 - offset}) +
                                      " for the one address or zeros there for the whole prefix");
  }
  return Prefix{kept, bits - offset};
}

Prefix prefix_of(const IpAddress& address, int length) {
  const int offset = address.is_v4() ? v4_offset_bits : 0;
  return {.address = IpAddress::v6(masked(address.bytes(), offset + length)), .length = length};
}

void append_text(std::string& out, const Prefix& prefix) {
  append_text(out, prefix.address);
  if (prefix.length == (prefix.address.is_v4() ? 32 : 128)) return;
  out += '/';
  append_number(out, prefix.length);
}

std::string to_string(const Prefix& prefix) {
  std::string out;
  append_text(out, prefix);
  return out;
}

}  // namespace pawl
