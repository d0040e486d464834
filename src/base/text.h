// Small text helpers that neither allocate more than they append nor look at a locale.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/digits.h"

namespace pawl {

template <std::integral T>
void append_number(std::string& out, T number) {
  using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  char digits[digits_room];
  const char* end = put_digits(digits, static_cast<Wide>(number));
  out.append(digits, static_cast<std::size_t>(end - digits));
}

constexpr char ascii_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Of a hexadecimal digit; -1: it is none.
constexpr int lower_hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}
constexpr int hex_value(char c) {
  return lower_hex_value(ascii_lower(c));
}

// Nothing but ASCII characters that leave ink.
constexpr bool is_visible(std::string_view text) {
  for (const char c : text) {
    if (c <= 0x20 || c >= 0x7f) return false;
  }
  return true;
}

// ASCII case only: header names, schemes.
constexpr bool equal_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i] && ascii_lower(a[i]) != ascii_lower(b[i])) return false;
  }
  return true;
}

// Without the blanks and tabs around it.
constexpr std::string_view trim_blanks(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Takes the part before `separator` off the front of `rest`; the whole of it when there is none.
constexpr std::string_view take_until(std::string_view& rest, char separator) {
  const auto end = rest.find(separator);
  const std::string_view part = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return part;
}

}  // namespace pawl
