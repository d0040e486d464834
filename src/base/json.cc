#include "base/json.h"

#include <algorithm>
#include <cstddef>

#include "base/assert.h"
#include "base/bounds.h"
#include "base/json_number.h"
#include "base/scan.h"
#include "base/text.h"
#include "base/utf8.h"

namespace pawl::json {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool is_visible_ascii(char c) {
  return c >= 0x20 && c < 0x7F;
}

// How many bytes the text begins with that stand in a string as they are, in every form.
std::size_t plain_bytes(std::string_view text) {
  return find_byte(text, 0, Escaped());
}

bool is_high_surrogate(char32_t unit) {
  return unit >= 0xD800 && unit <= 0xDBFF;
}
bool is_low_surrogate(char32_t unit) {
  return unit >= 0xDC00 && unit <= 0xDFFF;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Value> document() {
    Value parsed = PAWL_TRY(value(0));
    skip_space();
    if (at_ < text_.size()) return expected("the end of the text");
    return parsed;
  }

 private:
  // Depth counts the arrays and objects around this value.
  Result<Value> value(std::size_t depth);
  Result<Value> array(std::size_t depth);
  Result<Value> object(std::size_t depth);
  Result<Value> number();
  Result<Value> word(std::string_view name, Value meaning);
  Result<std::string> string();
  Result<void> escape(std::string& out);
  Result<char32_t> code_unit();

  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  bool next_is(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool take(char c) {
    if (!next_is(c)) return false;
    ++at_;
    return true;
  }

  std::unexpected<Error> error_at(std::size_t offset, std::string_view what) const;
  std::unexpected<Error> found_instead(std::string message) const;
  std::unexpected<Error> expected(std::string_view what) const {
    return found_instead(std::string("expected ").append(what));
  }

  std::unexpected<Error> too_deep() const {
    return error_at(at_,
                    "nested more than " + std::to_string(bounds::json_depth_max) + " levels deep");
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// Lines and columns count from 1; a column is a character, not a byte.
std::unexpected<Error> Parser::error_at(std::size_t offset, std::string_view what) const {
  const std::string_view before = text_.substr(0, offset);
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  std::string message = "line ";
  append_number(message, std::ranges::count(before, '\n') + 1);
  message.append(", column ");
  append_number(message, std::ranges::count_if(before.substr(line_start), [](char c) {
                           return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
                         }) + 1);
  return failure(Code::invalid, message.append(": ").append(what));
}

std::unexpected<Error> Parser::found_instead(std::string message) const {
  message.append(", found ");
  if (at_ == text_.size()) {
    message.append("the end of the text");
  } else if (is_visible_ascii(text_[at_])) {
    message.append("'").append(1, text_[at_]).append("'");
  } else {
    const auto byte = static_cast<unsigned char>(text_[at_]);
    message.append("byte 0x").append(1, hex_digits[byte >> 4]).append(1, hex_digits[byte & 15]);
  }
  return error_at(at_, message);
}

Result<Value> Parser::value(std::size_t depth) {
  skip_space();
  if (at_ == text_.size()) return expected("a value");
  switch (text_[at_]) {
    case '{':
      return object(depth + 1);
    case '[':
      return array(depth + 1);
    case '"':
      return Value(PAWL_TRY(string()));
    case 't':
      return word("true", true);
    case 'f':
      return word("false", false);
    case 'n':
      return word("null", nullptr);
    default:
      if (text_[at_] == '-' || (text_[at_] >= '0' && text_[at_] <= '9')) return number();
      return expected("a value");
  }
}

Result<Value> Parser::array(std::size_t depth) {
  if (depth > bounds::json_depth_max) return too_deep();
  ++at_;
  Array elements;
  skip_space();
  if (take(']')) return Value(std::move(elements));
  while (true) {
    elements.push_back(PAWL_TRY(value(depth)));
    skip_space();
    if (take(']')) return Value(std::move(elements));
    if (!take(',')) return expected("',' or ']' after an element");
  }
}

Result<Value> Parser::object(std::size_t depth) {
  if (depth > bounds::json_depth_max) return too_deep();
  ++at_;
  Object members;
  skip_space();
  if (take('}')) return Value(std::move(members));
  while (true) {
    skip_space();
    const std::size_t name_at = at_;
    if (!next_is('"')) return expected("a member name in double quotes");
    const auto [member, is_new] = members.try_emplace(PAWL_TRY(string()));
    if (!is_new) return error_at(name_at, "this member name appears twice in its object");
    skip_space();
    if (!take(':')) return expected("':' after a member name");
    member->second = PAWL_TRY(value(depth));
    skip_space();
    if (take('}')) return Value(std::move(members));
    if (!take(',')) return expected("',' or '}' after a member");
  }
}

Result<Value> Parser::number() {
  // All that looks like part of a number is judged together, so that "01" is not "0" and some
  // rubbish.
  const std::size_t end = std::min(text_.find_first_not_of("+-.0123456789Ee", at_), text_.size());
  const std::string_view digits = text_.substr(at_, end - at_);
  if (!is_number(digits)) {
    return error_at(at_,
                    "not a JSON number: it needs a digit before and after any '.', a digit in"
                    " any exponent, and no leading zero");
  }
  at_ = end;
  return Value(Number{std::string(digits)});
}

Result<Value> Parser::word(std::string_view name, Value meaning) {
  if (!text_.substr(at_).starts_with(name)) return expected("a value");
  at_ += name.size();
  return meaning;
}

Result<std::string> Parser::string() {
  const std::size_t start = at_++;
  std::string out;
  while (true) {
    const std::size_t plain = plain_bytes(text_.substr(at_));
    out.append(text_, at_, plain);
    at_ += plain;
    if (at_ == text_.size()) return error_at(start, "this string has no closing '\"'");
    if (take('"')) return out;
    if (next_is('\\')) {
      PAWL_TRY(escape(out));
      continue;
    }
    const auto [code, bytes] = first_utf8_character(text_.substr(at_));
    if (bytes == 0) return found_instead("a string must be UTF-8");
    if (code < 0x20) return found_instead("a control character inside a string must be escaped");
    out.append(text_, at_, bytes);
    at_ += bytes;
  }
}

Result<void> Parser::escape(std::string& out) {
  constexpr std::string_view names = "\"\\/bfnrt";
  constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
  const std::size_t start = at_++;
  if (take('u')) {
    char32_t code = PAWL_TRY(code_unit());
    if (is_high_surrogate(code) && text_.substr(at_).starts_with("\\u")) {
      at_ += 2;
      const char32_t low = PAWL_TRY(code_unit());
      if (!is_low_surrogate(low)) return error_at(start, "a surrogate without its other half");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    if (is_high_surrogate(code) || is_low_surrogate(code)) {
      return error_at(start, "a surrogate without its other half");
    }
    append_utf8(out, code);
    return {};
  }
  const std::size_t which = at_ < text_.size() ? names.find(text_[at_]) : std::string_view::npos;
  if (which == std::string_view::npos) return expected("one of \"\\/bfnrtu after '\\'");
  out.push_back(meanings[which]);
  ++at_;
  return {};
}

Result<char32_t> Parser::code_unit() {
  char32_t unit = 0;
  for (int i = 0; i < 4; ++i) {
    const std::size_t digit =
        at_ < text_.size() ? hex_digits.find(ascii_lower(text_[at_])) : std::string_view::npos;
    if (digit == std::string_view::npos) return expected("four hexadecimal digits after '\\u'");
    unit = unit << 4 | static_cast<char32_t>(digit);
    ++at_;
  }
  return unit;
}

void append_code_unit(std::string& out, char32_t unit) {
  out.append("\\u");
  for (int shift = 12; shift >= 0; shift -= 4) out.push_back(hex_digits[unit >> shift & 15]);
}

// The escape RFC 8785 asks for: of a character below U+0020, '"' or '\'.
void append_escaped(std::string& out, char32_t code) {
  constexpr std::string_view letters = "\"\\bfnrt";
  constexpr std::string_view meanings = "\"\\\b\f\n\r\t";
  const std::size_t which = meanings.find(static_cast<char>(code));
  if (which != meanings.npos) {
    out.append("\\").append(1, letters[which]);
  } else {
    append_code_unit(out, code);
  }
}

bool ends_a_line_or_moves_a_cursor(char32_t code) {
  return (code >= 0x7F && code <= 0x9F) || code == 0x2028 || code == 0x2029;
}

enum class Form : std::uint8_t { canonical, one_line };

void append_string(std::string& out, std::string_view text, Form form) {
  out.push_back('"');
  while (!text.empty()) {
    const std::size_t plain = plain_bytes(text);
    out.append(text, 0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const auto [code, bytes] = first_utf8_character(text);
    if (bytes == 0) {
      append_utf8(out, 0xFFFD);
    } else if (code < 0x20 || code == '"' || code == '\\') {
      append_escaped(out, code);
    } else if (form == Form::one_line && ends_a_line_or_moves_a_cursor(code)) {
      append_code_unit(out, code);
    } else {
      out.append(text, 0, bytes);
    }
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  out.push_back('"');
}

Result<void> append_value(std::string& out, const Value& value, Form form);

Result<void> append_array(std::string& out, const Array& elements, Form form) {
  char before = '[';
  for (const Value& element : elements) {
    out.push_back(before);
    PAWL_TRY(append_value(out, element, form));
    before = ',';
  }
  out.append(elements.empty() ? "[]" : "]");
  return {};
}

Result<void> append_object(std::string& out, const Object& members, Form form) {
  char before = '{';
  for (const auto& [name, value] : members) {
    out.push_back(before);
    append_string(out, name, form);
    out.push_back(':');
    PAWL_TRY(append_value(out, value, form));
    before = ',';
  }
  out.append(members.empty() ? "{}" : "}");
  return {};
}

// Only a number in the canonical form can fail.
Result<void> append_value(std::string& out, const Value& value, Form form) {
  if (const Object* members = value.if_object()) return append_object(out, *members, form);
  if (const Array* elements = value.if_array()) return append_array(out, *elements, form);
  if (const std::string* text = value.if_string()) {
    append_string(out, *text, form);
  } else if (const Number* number = value.if_number()) {
    if (form == Form::canonical) {
      out.append(PAWL_TRY(canonical_number(number->text)));
    } else {
      PAWL_ASSERT(is_number(number->text));
      out.append(number->text);
    }
  } else if (const bool* truth = value.if_bool()) {
    out.append(*truth ? "true" : "false");
  } else {
    out.append("null");
  }
  return {};
}

}  // namespace

bool MemberOrder::operator()(std::string_view a, std::string_view b) const {
  // UTF-8 sorts by code point. UTF-16 differs in one place: the surrogates of U+10000 and above,
  // which begin with 0xF0 … 0xF4 here, come before U+E000 … U+FFFF, which begin with 0xEE or 0xEF.
  const auto rank = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == 0xEE || byte == 0xEF ? byte + 0x100 : byte;
  };
  return std::ranges::lexicographical_compare(a, b, {}, rank, rank);
}

Value::Value(const Value&) = default;
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(const Value&) = default;
Value& Value::operator=(Value&&) noexcept = default;
Value::~Value() = default;

Value::Value(std::int64_t n) : value_(Number{std::to_string(n)}) {}

Value::Value(std::uint64_t n) : value_(Number{std::to_string(n)}) {}

Value Value::number(double n) {
  return Number{shortest(n)};
}

const Value* Value::find(std::string_view member) const {
  const Object* members = if_object();
  if (members == nullptr) return nullptr;
  const auto found = members->find(member);
  return found == members->end() ? nullptr : &found->second;
}

Result<Value> parse(std::string_view text) {
  if (text.size() > bounds::json_bytes_max) {
    return failure(Code::invalid, "a JSON text of " + std::to_string(text.size()) +
                                      " bytes; at most " + std::to_string(bounds::json_bytes_max) +
                                      " are read");
  }
  return Parser(text).document();
}

std::string print(const Value& value) {
  std::string out;
  const Result<void> appended = append_value(out, value, Form::one_line);
  PAWL_ASSERT(appended.has_value());
  return out;
}

Result<std::string> canonical(const Value& value) {
  std::string out;
  PAWL_TRY(append_value(out, value, Form::canonical));
  return out;
}

void append_quoted(std::string& out, std::string_view text) {
  append_string(out, text, Form::one_line);
}

}  // namespace pawl::json
