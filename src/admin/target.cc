#include "admin/target.h"

#include <algorithm>
#include <optional>

#include "base/bounds.h"
#include "base/text.h"
#include "base/utf8.h"

namespace pawl::admin {
namespace {

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = ascii_lower(c);
  if (lower >= 'a' && lower <= 'f') return lower - 'a' + 10;
  return std::nullopt;
}

bool is_text(std::string_view bytes) {
  while (!bytes.empty()) {
    const Utf8Character character = first_utf8_character(bytes);
    if (character.bytes == 0 || character.code < 0x20 || character.code == 0x7f) return false;
    bytes.remove_prefix(character.bytes);
  }
  return true;
}

std::unexpected<Error> not_readable(std::string_view why) {
  return failure(Code::invalid, "the target of the request " + std::string(why));
}

// How a blank may be written.
enum class Blank : std::uint8_t { escaped, plus };

Result<std::string> decode_as(std::string_view text, Blank blank) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && blank == Blank::plus) {
      out.push_back(' ');
    } else if (text[i] != '%') {
      out.push_back(text[i]);
    } else {
      const auto high = i + 2 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
      const auto low = i + 2 < text.size() ? hex_digit(text[i + 2]) : std::nullopt;
      if (!high || !low) {
        return not_readable("has a % without two hexadecimal digits; write %25 for the sign");
      }
      out.push_back(static_cast<char>(*high * 16 + *low));
      i += 2;
    }
  }
  if (!is_text(out)) return not_readable("holds a control character, or bytes that are no UTF-8");
  return out;
}

}  // namespace

Result<std::string> decode(std::string_view text) {
  return decode_as(text, Blank::escaped);
}

Result<Query> parse_query(std::string_view target) {
  Query query;
  const std::size_t mark = target.find('?');
  std::string_view rest = mark == std::string_view::npos ? "" : target.substr(mark + 1);
  while (!rest.empty()) {
    const std::string_view part = take_until(rest, '&');
    if (part.empty()) continue;
    std::string_view value = part;
    std::string name = PAWL_TRY(decode_as(take_until(value, '='), Blank::plus));
    const bool twice = std::ranges::any_of(query, [&](const auto& q) { return q.first == name; });
    if (twice) return not_readable("gives a parameter twice; give each once");
    if (query.size() == bounds::admin_parameters_max)
      return not_readable("has too many parameters");
    query.emplace_back(std::move(name), PAWL_TRY(decode_as(value, Blank::plus)));
  }
  return query;
}

}  // namespace pawl::admin
