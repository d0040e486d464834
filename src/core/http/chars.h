// Character classes of RFC 9110 as one lookup each.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace pawl::http {

namespace chars_detail {
constexpr std::array<bool, 256> make_token_table() {
  std::array<bool, 256> table{};
  for (const char c : std::string_view("!#$%&'*+-.^_`|~0123456789"
                                       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")) {
    table[static_cast<std::uint8_t>(c)] = true;
  }
  return table;
}
inline constexpr std::array<bool, 256> token_table = make_token_table();
// Some servers read X_Y as X-Y: a name with an underscore can pass for another one behind us.
constexpr std::array<bool, 256> make_name_table() {
  std::array<bool, 256> table = token_table;
  table['_'] = false;
  return table;
}
inline constexpr std::array<bool, 256> name_table = make_name_table();
}  // namespace chars_detail

// Of a field's name.
constexpr bool is_name_char(char c) {
  return chars_detail::name_table[static_cast<std::uint8_t>(c)];
}

constexpr bool is_token_char(char c) {
  return chars_detail::token_table[static_cast<std::uint8_t>(c)];
}

constexpr bool is_token(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    if (!is_token_char(c)) return false;
  }
  return true;
}

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Visible ASCII, blank and tab, and the bytes above ASCII that old servers send.
constexpr bool is_field_char(char c) {
  const auto byte = static_cast<std::uint8_t>(c);
  return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
}

// Visible ASCII without the fragment mark: what a request target may hold.
constexpr bool is_target_char(char c) {
  return c > 0x20 && c < 0x7f && c != '#';
}

}  // namespace pawl::http
