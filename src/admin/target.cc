#include "admin/target.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/bounds.h"
#include "base/percent.h"
#include "base/text.h"
#include "base/utf8.h"

namespace pawl::admin {
namespace {

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

// In a query a plus is a blank, too.
Result<std::string> decode_query(std::string_view text) {
  std::string plain(text);
  std::ranges::replace(plain, '+', ' ');
  return decode(plain);
}

}  // namespace

Result<std::string> decode(std::string_view text) {
  std::optional<std::string> out = percent_decoded(text);
  if (!out) return not_readable("has a % without two hexadecimal digits; write %25 for the sign");
  if (!is_text(*out)) return not_readable("holds a control character, or bytes that are no UTF-8");
  return *std::move(out);
}

Result<Query> parse_query(std::string_view target) {
  Query query;
  const std::size_t mark = target.find('?');
  std::string_view rest = mark == std::string_view::npos ? "" : target.substr(mark + 1);
  while (!rest.empty()) {
    const std::string_view part = take_until(rest, '&');
    if (part.empty()) continue;
    std::string_view value = part;
    std::string name = PAWL_TRY(decode_query(take_until(value, '=')));
    const bool twice = std::ranges::any_of(query, [&](const auto& q) { return q.first == name; });
    if (twice) return not_readable("gives a parameter twice; give each once");
    if (query.size() == bounds::admin_parameters_max)
      return not_readable("has too many parameters");
    query.emplace_back(std::move(name), PAWL_TRY(decode_query(value)));
  }
  return query;
}

}  // namespace pawl::admin
