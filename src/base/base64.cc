#include "base/base64.h"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace pawl {
namespace {

constexpr std::string_view letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::optional<std::uint32_t> sextet_of(char c) {
  const auto at = letters.find(c);
  if (at == std::string_view::npos) return std::nullopt;
  return static_cast<std::uint32_t>(at);
}

std::unexpected<Error> no_base64(std::string_view why) {
  return failure(Code::invalid, "this is no base64: " + std::string(why));
}

}  // namespace

std::string to_base64(std::span<const std::uint8_t> bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) group = group << 8 | (i < count ? bytes[at + i] : 0u);
    for (std::size_t i = 0; i < 4; ++i) {
      out += i <= count ? letters[group >> (18 - 6 * i) & 63] : '=';
    }
  }
  return out;
}

Result<std::string> parse_base64(std::string_view text) {
  if (text.size() % 4 != 0) return no_base64("its length is no multiple of four");
  const std::size_t pads = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  const std::string_view digits = text.substr(0, text.size() - pads);
  std::string out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  std::size_t bits = 0;
  for (const char c : digits) {
    const auto sextet = sextet_of(c);
    if (!sextet) return no_base64("it holds a character that is none of its letters");
    group = (group << 6 | *sextet) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out += static_cast<char>(group >> bits & 0xff);
  }
  const bool has_rest = (group & ((1u << bits) - 1)) != 0;
  if (has_rest) return no_base64("its last letter says more than it should");
  return out;
}

}  // namespace pawl
