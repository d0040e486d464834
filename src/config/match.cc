#include "config/match.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/bounds.h"
#include "base/text.h"
#include "config/values.h"
#include "core/http/chars.h"

namespace pawl::config {
namespace {

using request::HeaderMatch;
using request::Match;

// What a field can hold that was not sent to confuse.
bool is_field_value(std::string_view text) {
  return !text.empty() && text == trim_blanks(text) &&
         std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f; });
}

// "Name" or "Name: value"
std::optional<HeaderMatch> parse_header_match(std::string_view text) {
  if (text.size() > bounds::config_path_bytes_max) return std::nullopt;
  const auto colon = text.find(':');
  HeaderMatch match{.name = std::string(text.substr(0, colon)), .value = {}};
  if (!is_header_name(match.name)) return std::nullopt;
  if (colon == std::string_view::npos) return match;
  match.value = trim_blanks(text.substr(colon + 1));
  return is_field_value(match.value) ? std::optional(match) : std::nullopt;
}

Type<HeaderMatch> header_match() {
  return scalar<HeaderMatch>(
      {"header",
       "the name of a header, or in quotes its name and value, as in X-Kind or \"X-Kind: bulk\""},
      parse_header_match, [](const HeaderMatch& match) {
        return match.value.empty() ? match.name : match.name + ": " + match.value;
      });
}

}  // namespace

const Fields<Match>& match_fields() {
  static const Fields<Match> fields = {
      bind<Match>(part("path",
                       "The path without its query, however it is spelled (left out: any). * is "
                       "any one segment, ** at the end any number of them."),
                  maybe(path_pattern()), PAWL_MEMBER(path)),
      bind<Match>(part("method", "One of these (left out: any)."),
                  one_or_more(method(), bounds::config_methods_max), PAWL_MEMBER(methods)),
      bind<Match>(part("header", "A header that is there, or has this value (left out: any)."),
                  maybe(header_match()), PAWL_MEMBER(header)),
  };
  return fields;
}

Type<Match> match() {
  Type<Match> type = map_of(match_fields());
  type.allowed = "a map of path, method and header, as in {path: /v1/**, method: POST}";
  type.print = [print = std::move(type.print)](const Match& value) {
    return value == Match() ? Node() : print(value);
  };
  return type;
}

}  // namespace pawl::config
