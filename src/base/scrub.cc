#include "base/scrub.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/scan.h"
#include "base/text.h"

namespace pawl {
namespace {

constexpr std::string_view mask = "***";
constexpr std::size_t name_bytes_max = 64;

// How names of secrets end: lower case, nothing but letters and digits.
constexpr std::array<std::string_view, 13> telling_ends = {
    "password", "passwd",    "pwd",        "passphrase", "secret",    "secretkey", "token",
    "apikey",   "accesskey", "privatekey", "credential", "signature", "accesssign"};
// Of these all that follows on the line is secret: "Authorization: Bearer …", "Cookie: a=b; c=d".
constexpr std::array<std::string_view, 2> telling_line_ends = {"authorization", "cookie"};

constexpr bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
constexpr bool is_name_character(char c) {
  return is_letter_or_digit(c) || c == '_' || c == '-' || c == '.';
}
// Quotes, and the backslash before a quote inside a quoted text.
constexpr bool is_quote(char c) {
  return c == '"' || c == '\'' || c == '\\';
}
constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t';
}
constexpr bool is_separator(char c) {
  return c == '=' || c == ':';
}
constexpr bool ends_line(char c) {
  return c == '\n' || c == '\r';
}
constexpr bool ends_value(char c) {
  return is_blank(c) || ends_line(c) || is_quote(c) || c == '&' || c == ';' || c == ',' ||
         c == ')' || c == '}' || c == ']' || c == '<' || c == '>';
}

struct Range {
  std::size_t begin;
  std::size_t end;
};

// The name that ends at `end`, blanks and quotes behind it left out.
std::string_view name_before(std::string_view text, std::size_t end) {
  while (end > 0 && (is_blank(text[end - 1]) || is_quote(text[end - 1]))) --end;
  std::size_t begin = end;
  while (begin > 0 && end - begin < name_bytes_max && is_name_character(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

bool ends_with_any(std::string_view name, std::span<const std::string_view> ends) {
  std::array<char, name_bytes_max> plain;
  std::size_t size = 0;
  for (const char c : name.substr(name.size() - std::min(name.size(), plain.size()))) {
    if (is_letter_or_digit(c)) plain[size++] = ascii_lower(c);
  }
  const std::string_view word(plain.data(), size);
  return std::ranges::any_of(ends, [&](std::string_view end) { return word.ends_with(end); });
}

// The last two letters of every telling end: the second of them, a bit each, by the first.
constexpr std::array<std::uint32_t, 128> last_letters = [] {
  std::array<std::uint32_t, 128> pairs = {};
  const auto add = [&pairs](std::string_view end) {
    const auto first = static_cast<unsigned char>(end[end.size() - 2]);
    pairs[first] |= std::uint32_t{1} << (end.back() - 'a');
  };
  for (const std::string_view end : telling_ends) add(end);
  for (const std::string_view end : telling_line_ends) add(end);
  return pairs;
}();

// Most names do not end as a telling one does, and are done with here.
bool may_be_telling(std::string_view name) {
  if (name.size() < 2) return false;
  const char first = ascii_lower(name[name.size() - 2]);
  const char second = ascii_lower(name.back());
  // What is neither letter nor digit is passed over, so the letters stand further ahead.
  if (!is_letter_or_digit(first) || !is_letter_or_digit(second)) return true;
  if (second < 'a') return false;
  return (last_letters[static_cast<unsigned char>(first)] >> (second - 'a') & 1) != 0;
}

bool is_telling(std::string_view name) {
  if (!may_be_telling(name)) return false;
  return ends_with_any(name, telling_ends) || ends_with_any(name, telling_line_ends);
}

template <class Ends>
Range until(std::string_view text, std::size_t begin, const Ends& ends) {
  std::size_t end = begin;
  while (end < text.size() && !ends(text[end])) ++end;
  return {begin, end};
}

// What stands behind a telling name and its separator at `at`.
std::optional<Range> named_value(std::string_view text, std::size_t at) {
  const std::string_view name = name_before(text, at);
  if (!is_telling(name)) return std::nullopt;
  std::size_t begin = at + 1;
  while (begin < text.size() && (is_blank(text[begin]) || is_quote(text[begin]) ||
                                 is_separator(text[begin]) || text[begin] == '>')) {
    ++begin;
  }
  if (is_quote(text[begin - 1]) || ends_with_any(name, telling_line_ends)) {
    return until(text, begin, [](char c) { return is_quote(c) || ends_line(c); });
  }
  return until(text, begin, ends_value);
}

// "://user:password@host": all before the @.
std::optional<Range> user_of_address(std::string_view text, std::size_t at) {
  if (text.substr(at, 3) != "://") return std::nullopt;
  const Range user = until(text, at + 3, [](char c) {
    return c == '@' || c == '/' || c == '?' || c == '#' || is_blank(c) || ends_line(c) ||
           is_quote(c);
  });
  if (user.end == text.size() || text[user.end] != '@') return std::nullopt;
  return user;
}

// "Bearer …", and "Basic …" where it is not plainly the word.
std::optional<Range> scheme_value(std::string_view text, std::size_t at) {
  const std::string_view name = name_before(text, at);
  const bool bearer = equal_ignoring_case(name, "bearer");
  if (!bearer && !equal_ignoring_case(name, "basic")) return std::nullopt;
  std::size_t begin = at + 1;
  while (begin < text.size() && is_blank(text[begin])) ++begin;
  const Range value = until(text, begin, ends_value);
  const std::string_view word = text.substr(value.begin, value.end - value.begin);
  const bool plain_word =
      std::ranges::all_of(word, [](char c) { return (c >= 'a' && c <= 'z') || c == '.'; });
  if (!bearer && plain_word) return std::nullopt;
  return value;
}

// Where a secret may be announced: by a separator, or by the blank behind a word that ends as
// "Bearer" or "Basic" does.
struct Sign {
  template <class Bytes>
  Bytes operator()(const char* at) const {
    const auto bytes = bytes_at<Bytes>(at);
    const auto blanks = static_cast<Bytes>(equal(bytes, ' ') | equal(bytes, '\t'));
    const auto before = static_cast<Bytes>(bytes_at<Bytes>(at - 1) | 0x20);
    const auto behind_word = static_cast<Bytes>(equal(before, 'r') | equal(before, 'c'));
    return static_cast<Bytes>(equal(bytes, '=') | equal(bytes, ':') | (blanks & behind_word));
  }
};

struct SignOrEscaped {
  template <class Bytes>
  Bytes operator()(const char* at) const {
    return static_cast<Bytes>(Sign().operator()<Bytes>(at) | Escaped().operator()<Bytes>(at));
  }
};

// The first at or behind `from`. Nothing is announced by a blank at the very beginning.
std::size_t next_sign(std::string_view text, std::size_t from) {
  if (from > 0 || text.empty()) return find_byte(text, from, Sign());
  return is_separator(text.front()) ? 0 : find_byte(text, 1, Sign());
}

// The next to be masked at or behind `from`; never empty.
std::optional<Range> next_secret(std::string_view text, std::size_t from) {
  for (std::size_t at = next_sign(text, from); at < text.size(); at = next_sign(text, at + 1)) {
    const char c = text[at];
    std::optional<Range> found;
    if (c == '=') {
      found = named_value(text, at);
    } else if (c == ':') {
      found = user_of_address(text, at);
      if (!found) found = named_value(text, at);
    } else {
      found = scheme_value(text, at);
    }
    if (found && found->begin < found->end &&
        text.substr(found->begin, found->end - found->begin) != mask) {
      return found;
    }
  }
  return std::nullopt;
}

std::string masked_once(std::string_view text) {
  std::string out;
  std::size_t copied = 0;
  for (auto found = next_secret(text, 0); found; found = next_secret(text, copied)) {
    out.append(text.substr(copied, found->begin - copied)).append(mask);
    copied = found->end;
  }
  return out.append(text.substr(copied));
}

bool is_telling_member(std::string_view name, const json::Value& value) {
  const bool is_plain = value.is_null() || value.if_bool() != nullptr;
  return !is_plain && is_telling(name) && value != json::Value(mask);
}

}  // namespace

bool holds_secret(std::string_view text) {
  return next_secret(text, 0).has_value();
}

std::string scrubbed(std::string_view text) {
  std::string out = masked_once(text);
  // A mask may cover what ended another value, which then reaches further: "://token=/;@". Every
  // further pass leaves fewer characters that are not of a mask, so the last one comes.
  while (holds_secret(out)) out = masked_once(out);
  return out;
}

bool is_clearly_plain(std::string_view text) {
  if (text.empty()) return true;
  return !is_separator(text.front()) && Escaped().operator()<OneByte>(text.data()) == 0 &&
         find_byte(text, 1, SignOrEscaped()) == text.size();
}

bool value_holds_secret(const json::Value& value) {
  if (const std::string* text = value.if_string()) return holds_secret(*text);
  if (const json::Array* elements = value.if_array()) {
    return std::ranges::any_of(*elements,
                               [](const auto& each) { return value_holds_secret(each); });
  }
  if (const json::Object* members = value.if_object()) {
    return std::ranges::any_of(*members, [](const auto& member) {
      return holds_secret(member.first) || is_telling_member(member.first, member.second) ||
             value_holds_secret(member.second);
    });
  }
  return false;
}

json::Value scrubbed_value(const json::Value& value) {
  if (const std::string* text = value.if_string()) return scrubbed(*text);
  if (const json::Array* elements = value.if_array()) {
    json::Array clean;
    for (const json::Value& each : *elements) clean.push_back(scrubbed_value(each));
    return clean;
  }
  if (const json::Object* members = value.if_object()) {
    json::Object clean;
    for (const auto& [name, member] : *members) {
      clean.insert_or_assign(scrubbed(name), is_telling_member(name, member)
                                                 ? json::Value(mask)
                                                 : scrubbed_value(member));
    }
    return clean;
  }
  return value;
}

}  // namespace pawl
