#include "core/limit/structured_fields.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "base/utf8.h"
#include "core/http/chars.h"

namespace pawl::structured {
namespace {

using Kind = BareItem::Kind;

constexpr bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}

constexpr bool is_alpha(char c) {
  return is_lower(c) || (c >= 'A' && c <= 'Z');
}

constexpr bool is_key_char(char c) {
  return is_lower(c) || http::is_digit(c) || c == '_' || c == '-' || c == '.' || c == '*';
}

constexpr bool is_printable(char c) {
  return c >= ' ' && c <= '~';
}

constexpr bool is_base64_char(char c) {
  return is_alpha(c) || http::is_digit(c) || c == '+' || c == '/';
}

// Reads from left to right; every function returns false at the first misfit, and then the whole
// text is one.
class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) { skip(" "); }

  bool done() const { return rest_.empty(); }

  // After a member: the end of the text, or a comma with another member behind it.
  bool end_member() {
    skip(" \t");
    if (done()) return true;
    if (!take(',')) return false;
    skip(" \t");
    return !done();
  }

  bool item(Item& out) { return bare_item(out.bare) && parameters(out.parameters); }

  bool member(Member& out) {
    if (!key(out.key)) return false;
    return take('=') ? item(out.item) : parameters(out.item.parameters);
  }

 private:
  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void skip(std::string_view blanks) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(blanks), rest_.size()));
  }

  template <class Predicate>
  std::string_view take_while(Predicate fits) {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), fits);
    const std::string_view taken(rest_.begin(), end);
    rest_.remove_prefix(taken.size());
    return taken;
  }

  bool key(std::string_view& out) {
    if (done() || (!is_lower(rest_.front()) && rest_.front() != '*')) return false;
    out = take_while(is_key_char);
    return true;
  }

  bool parameters(std::vector<Parameter>& out) {
    while (take(';')) {
      skip(" ");
      Parameter& parameter = out.emplace_back();
      if (!key(parameter.key)) return false;
      if (take('=') && !bare_item(parameter.value)) return false;
    }
    return true;
  }

  bool bare_item(BareItem& out) {
    if (done()) return false;
    out.number = 0;
    const char first = rest_.front();
    if (first == '-' || http::is_digit(first)) return number(out);
    if (is_alpha(first) || first == '*') return token(out);
    rest_.remove_prefix(1);
    switch (first) {
      case '"':
        return string(out);
      case ':':
        return bytes(out);
      case '?':
        return boolean(out);
      case '@':
        return number(out) && std::exchange(out.kind, Kind::date) == Kind::integer;
      case '%':
        return take('"') && display_string(out);
      default:
        return false;
    }
  }

  bool number(BareItem& out) {
    const bool negative = take('-');
    const std::string_view whole = take_while(http::is_digit);
    std::string_view fraction;
    out.kind = take('.') ? Kind::decimal : Kind::integer;
    if (out.kind == Kind::decimal) {
      fraction = take_while(http::is_digit);
      if (fraction.empty() || fraction.size() > 3) return false;
    }
    if (whole.empty() || whole.size() > (out.kind == Kind::decimal ? 12 : 15)) return false;
    for (const char c : whole) out.number = out.number * 10 + (c - '0');
    for (std::size_t place = 0; out.kind == Kind::decimal && place < 3; ++place) {
      out.number = out.number * 10 + (place < fraction.size() ? fraction[place] - '0' : 0);
    }
    if (negative) out.number = -out.number;
    return true;
  }

  bool token(BareItem& out) {
    out.kind = Kind::token;
    out.text = take_while([](char c) { return http::is_token_char(c) || c == ':' || c == '/'; });
    return true;
  }

  bool string(BareItem& out) {
    out.kind = Kind::string;
    while (!take('"')) {
      const bool escaped = take('\\');
      if (done() || !is_printable(rest_.front())) return false;
      if (escaped && rest_.front() != '"' && rest_.front() != '\\') return false;
      out.text.push_back(rest_.front());
      rest_.remove_prefix(1);
    }
    return true;
  }

  bool bytes(BareItem& out) {
    out.kind = Kind::bytes;
    out.text = take_while(is_base64_char);
    for (int padding = 0; padding < 2 && take('='); ++padding) out.text.push_back('=');
    return take(':');
  }

  bool boolean(BareItem& out) {
    out.kind = Kind::boolean;
    out.number = take('1') ? 1 : 0;
    return out.number == 1 || take('0');
  }

  bool display_string(BareItem& out) {
    out.kind = Kind::display_string;
    while (!take('"')) {
      if (done() || !is_printable(rest_.front())) return false;
      char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '%') {
        const int high = done() ? -1 : lower_hex_value(rest_[0]);
        const int low = rest_.size() < 2 ? -1 : lower_hex_value(rest_[1]);
        if (high < 0 || low < 0) return false;
        c = static_cast<char>(high * 16 + low);
        rest_.remove_prefix(2);
      }
      out.text.push_back(c);
    }
    return is_utf8(out.text);
  }

  std::string_view rest_;
};

}  // namespace

const BareItem* Item::find(std::string_view key) const {
  const auto found = std::find_if(parameters.rbegin(), parameters.rend(),
                                  [key](const Parameter& p) { return p.key == key; });
  return found == parameters.rend() ? nullptr : &found->value;
}

const Item* find(const Dictionary& dictionary, std::string_view key) {
  const auto found = std::find_if(dictionary.rbegin(), dictionary.rend(),
                                  [key](const Member& m) { return m.key == key; });
  return found == dictionary.rend() ? nullptr : &found->item;
}

std::optional<List> parse_list(std::string_view text) {
  List list;
  for (Parser parser(text); !parser.done();) {
    if (!parser.item(list.emplace_back()) || !parser.end_member()) return std::nullopt;
  }
  return list;
}

std::optional<Dictionary> parse_dictionary(std::string_view text) {
  Dictionary dictionary;
  for (Parser parser(text); !parser.done();) {
    if (!parser.member(dictionary.emplace_back()) || !parser.end_member()) return std::nullopt;
  }
  return dictionary;
}

}  // namespace pawl::structured
