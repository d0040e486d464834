// One log event as one line of text or JSON. Pure: nothing here reads a clock or writes anywhere.
//
//   text  2026-01-25T21:15:00.123Z INFO  rate_limit_waiting operation=order wait_seconds=0.52
//   json  {"ts":"2026-01-25T21:15:00.123Z","level":"info","event":"rate_limit_waiting",…}
//
// Contract: one line whatever the input. Values come from outside and are hostile. In text, a
//           value that holds anything but plain visible characters stands in quotes, with the
//           escapes \" \\ \n \r \t, \xNN for a control character or a byte that is no UTF-8, and
//           \uNNNN for C1 controls, U+2028, U+2029 and the marks that turn the direction of
//           writing. JSON escapes controls, U+2028 and U+2029 in its own way; there a byte that is
//           no UTF-8 becomes U+FFFD.
//           A name that comes twice in one line is numbered (tenant_id, tenant_id.2): JSON members
//           stay unique and no value is lost.
// Bounds:   a value over bounds::log_field_bytes_max is cut between characters and says by how
//           much: "…(+17 bytes)".
// Threads:  none needed.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/correlation.h"
#include "pawl/time.h"

namespace pawl::log {

enum class Level : std::uint8_t { trace, debug, info, warn, error };
std::string_view to_string(Level level);  // "trace" … "error"

enum class Format : std::uint8_t { text, json };

// The name of an event or a field: snake_case, and a literal of the code. Input cannot become one,
// so names need no escaping and there are only so many of them.
class Name {
 public:
  consteval Name(const char* text) : text_(text) {
    if (text_.empty()) a_name_is_snake_case();
    for (const char c : text_) {
      const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
      if (!plain) a_name_is_snake_case();
    }
  }
  constexpr std::string_view text() const { return text_; }

 private:
  static void a_name_is_snake_case();  // not constexpr: reaching it does not compile

  std::string_view text_;
};

// A name and a value. Text is held by view: a field lives no longer than the call it is made for.
class Field {
 public:
  using Value = std::variant<std::string_view, std::int64_t, std::uint64_t, double, bool>;

  Field(Name name, std::string_view value) : name_(name), value_(value) {}
  // Templates, so that a pointer does not turn into a bool on its way.
  Field(Name name, std::integral auto value) : name_(name), value_(widest(value)) {}
  Field(Name name, std::floating_point auto value) : name_(name), value_(double{value}) {}

  std::string_view name() const { return name_.text(); }
  const Value& value() const { return value_; }

 private:
  static Value widest(bool value) { return value; }
  static Value widest(std::signed_integral auto value) { return std::int64_t{value}; }
  static Value widest(std::unsigned_integral auto value) { return std::uint64_t{value}; }

  Name name_;
  Value value_;
};

struct Line {
  Instant at;
  Level level;
  Name event;
  std::span<const Field> fields;
  const Correlation& correlation;
  std::uint64_t repeats_suppressed = 0;  // told when not 0
};

// Without the newline.
std::string format(const Line& line, Format as);

}  // namespace pawl::log
