#include "core/idempotency/key.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "base/bounds.h"
#include "base/json_number.h"
#include "base/sha256.h"
#include "base/utf8.h"

namespace pawl::idempotency {
namespace {

Result<void> check_text(std::string_view text) {
  if (is_utf8(text)) return {};
  return failure(Code::invalid,
                 "a text of an idempotency key is no UTF-8: encode bytes, as hexadecimal say");
}

// A number as ±0.d₁d₂…dₖ × 10^point, where d₁ and dₖ are not 0: equal for equal numbers.
struct Digits {
  bool negative = false;
  std::string digits = {};
  std::int64_t point = 0;
  bool operator==(const Digits&) const = default;
};

// The text must be a JSON number that a double holds as neither infinity nor, wrongly, zero.
Digits digits_of(std::string_view text) {
  Digits number{.negative = text.starts_with('-')};
  if (number.negative) text.remove_prefix(1);
  const std::size_t e = std::min(text.find_first_of("eE"), text.size());
  const std::string_view whole = text.substr(0, std::min(text.find('.'), e));
  number.digits = whole;
  if (whole.size() < e) number.digits += text.substr(whole.size() + 1, e - whole.size() - 1);
  const std::size_t zeros = std::min(number.digits.find_first_not_of('0'), number.digits.size());
  number.digits.erase(0, zeros);
  if (number.digits.empty()) return {};
  number.digits.erase(number.digits.find_last_not_of('0') + 1);
  std::string_view exponent = text.substr(std::min(e + 1, text.size()));
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), number.point);
  number.point += static_cast<std::int64_t>(whole.size()) - static_cast<std::int64_t>(zeros);
  return number;
}

Result<void> check_number(const json::Number& number) {
  const std::string canonical = PAWL_TRY(json::canonical_number(number.text));
  if (digits_of(canonical) == digits_of(number.text)) return {};
  return failure(Code::invalid, "the number " + number.text +
                                    " has more digits than a double holds, so that others would "
                                    "have the same idempotency key: write it as a string");
}

Result<void> check_value(const json::Value& value, std::size_t depth) {
  if (depth > bounds::json_depth_max) {
    return failure(Code::invalid, "the params of an idempotency key nest more than " +
                                      std::to_string(bounds::json_depth_max) + " deep");
  }
  if (const std::string* text = value.if_string()) return check_text(*text);
  if (const json::Number* number = value.if_number()) return check_number(*number);
  if (const json::Array* elements = value.if_array()) {
    for (const json::Value& each : *elements) PAWL_TRY(check_value(each, depth + 1));
  }
  if (const json::Object* members = value.if_object()) {
    for (const auto& [name, each] : *members) {
      PAWL_TRY(check_text(name));
      PAWL_TRY(check_value(each, depth + 1));
    }
  }
  return {};
}

json::Value text_or_null(std::optional<std::string_view> text) {
  return text ? json::Value(*text) : json::Value();
}

}  // namespace

Result<std::string> compute_key(const Intent& intent) {
  json::Object parts;
  parts["operation"] = intent.operation;
  parts["tenant_id"] = text_or_null(intent.tenant_id);
  parts["correlation_id"] = text_or_null(intent.correlation_id);
  for (const auto& [name, part] : parts) PAWL_TRY(check_value(part, 0));
  PAWL_TRY(check_value(intent.params, 0));
  parts["params"] = intent.params;
  return fingerprint(PAWL_TRY(json::canonical(std::move(parts))));
}

std::string fingerprint(std::string_view bytes) {
  return to_hex(sha256(bytes));
}

}  // namespace pawl::idempotency
