#include "base/utf8.h"

#include <algorithm>

#include "base/assert.h"

namespace pawl {
namespace {

constexpr char32_t highest_code = 0x10FFFF;

bool is_surrogate(char32_t code) {
  return code >= 0xD800 && code <= 0xDFFF;
}

// How a character of so many bytes begins, and the lowest code that needs so many.
struct Form {
  std::size_t bytes;
  unsigned char lead_mask;
  unsigned char lead;
  char32_t lowest;
};

constexpr Form forms[] = {
    {.bytes = 1, .lead_mask = 0x80, .lead = 0x00, .lowest = 0x0},
    {.bytes = 2, .lead_mask = 0xE0, .lead = 0xC0, .lowest = 0x80},
    {.bytes = 3, .lead_mask = 0xF0, .lead = 0xE0, .lowest = 0x800},
    {.bytes = 4, .lead_mask = 0xF8, .lead = 0xF0, .lowest = 0x10000},
};

}  // namespace

Utf8Character first_utf8_character(std::string_view text) {
  constexpr Utf8Character none{.code = 0, .bytes = 0};
  if (text.empty()) return none;
  const auto lead = static_cast<unsigned char>(text.front());
  for (const Form& form : forms) {
    if ((lead & form.lead_mask) != form.lead) continue;
    if (text.size() < form.bytes) return none;
    char32_t code = lead & static_cast<unsigned char>(~form.lead_mask);
    for (std::size_t i = 1; i < form.bytes; ++i) {
      const auto next = static_cast<unsigned char>(text[i]);
      if ((next & 0xC0) != 0x80) return none;
      code = code << 6 | (next & 0x3FU);
    }
    if (code < form.lowest || code > highest_code || is_surrogate(code)) return none;
    return {.code = code, .bytes = form.bytes};
  }
  return none;
}

bool is_printable(std::string_view text) {
  while (!text.empty()) {
    const auto [code, bytes] = first_utf8_character(text);
    if (bytes == 0 || code < 0x20 || (code >= 0x7f && code < 0xa0)) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t bytes = first_utf8_character(text).bytes;
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

std::string well_formed(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t bytes = first_utf8_character(text).bytes;
    if (bytes == 0) {
      append_utf8(out, 0xFFFD);
    } else {
      out.append(text, 0, bytes);
    }
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return out;
}

void append_utf8(std::string& out, char32_t code) {
  PAWL_ASSERT(code <= highest_code && !is_surrogate(code));
  std::size_t bytes = 1;
  while (bytes < 4 && code >= forms[bytes].lowest) ++bytes;
  const Form& form = forms[bytes - 1];
  out.push_back(static_cast<char>(form.lead | code >> (6 * (bytes - 1))));
  for (std::size_t left = bytes - 1; left > 0; --left) {
    out.push_back(static_cast<char>(0x80U | (code >> (6 * (left - 1)) & 0x3FU)));
  }
}

}  // namespace pawl
