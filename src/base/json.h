// JSON as pawl needs it: strict (RFC 8259, no duplicate keys, valid UTF-8), bounded, and canonical
// (RFC 8785), so that equal values hash alike on every machine.
//
// Why our own: a number keeps the digits it was written with. Money passes through here, and a
// library that turns "0.1" into binary floating point has lost it before anybody could object.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "pawl/result.h"

namespace pawl::json {

class Value;
using Array = std::vector<Value>;
// Ordered by UTF-16 code units, as RFC 8785 orders members; see json.cc.
struct MemberOrder {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const;
};
using Object = std::map<std::string, Value, MemberOrder>;

// A number as the text it was written with ("1.10" stays "1.10").
struct Number {
  std::string text;
  bool operator==(const Number&) const = default;
};

class Value {
 public:
  Value() : value_(nullptr) {}
  // Written once in json.cc: inlined everywhere, g++ 12 takes the variant's storage for
  // uninitialised.
  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  ~Value();
  Value(std::nullptr_t) : value_(nullptr) {}
  Value(bool b) : value_(b) {}
  Value(std::int64_t n);
  Value(std::uint64_t n);
  Value(int n) : Value(std::int64_t{n}) {}
  Value(unsigned n) : Value(std::uint64_t{n}) {}
  static Value number(double n);  // shortest form that reads back the same; n must be finite
  Value(Number n) : value_(std::move(n)) {}
  Value(std::string s) : value_(std::move(s)) {}
  Value(std::string_view s) : value_(std::string(s)) {}
  Value(const char* s) : value_(std::string(s)) {}
  Value(Array a) : value_(std::move(a)) {}
  Value(Object o) : value_(std::move(o)) {}

  bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
  const bool* if_bool() const { return std::get_if<bool>(&value_); }
  const Number* if_number() const { return std::get_if<Number>(&value_); }
  const std::string* if_string() const { return std::get_if<std::string>(&value_); }
  const Array* if_array() const { return std::get_if<Array>(&value_); }
  const Object* if_object() const { return std::get_if<Object>(&value_); }
  // The member, or nullptr when this is no object or has none of that name.
  const Value* find(std::string_view member) const;

  bool operator==(const Value&) const = default;

 private:
  std::variant<std::nullptr_t, bool, Number, std::string, Array, Object> value_;
};

// Null for a text that is empty, where that stands for none.
inline Value text_or_null(std::string_view text) {
  return text.empty() ? Value() : Value(text);
}

// The whole text must be one value. The error names line and column.
Result<Value> parse(std::string_view text);

// One line, members in canonical order, numbers with the digits they were written with. In both
// forms the bytes of a string that are no UTF-8 become U+FFFD; parse lets none in.
std::string print(const Value& value);

// RFC 8785. Fails on a number outside the range of an IEEE double.
Result<std::string> canonical(const Value& value);

// Appends text as a quoted JSON string on one line. Bytes that are no UTF-8 become U+FFFD; control
// characters, U+2028 and U+2029 are escaped.
void append_quoted(std::string& out, std::string_view text);

}  // namespace pawl::json
