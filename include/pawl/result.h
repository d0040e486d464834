// Errors as values. Every error says what became of the side effect it was about.
//
//   Outcome  not_applied | applied | unknown. Only not_applied may be sent again; unknown goes to
//            reconciliation or to a person. There is no default, and dropping one does not compile.
//   Error    code (which also fixes the exit code of the command line), outcome, a sentence, and
//            the wait that the other side named, where it did.
//   Result   a value or an Error; [[nodiscard]].
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "pawl/duration.h"

namespace pawl {

enum class [[nodiscard]] Outcome : std::uint8_t { not_applied = 1, applied, unknown };

constexpr bool may_send_again(Outcome outcome) {
  return outcome == Outcome::not_applied;
}
std::string_view to_string(Outcome outcome);

// The numbers are the exit codes of the command line.
enum class Code : std::uint8_t {
  invalid = 1,      // configuration or data that is not what it must be
  usage = 2,        // called wrongly
  refused = 3,      // a limit, a quota or the other side said no
  unresolved = 4,   // nobody can know yet what became of it
  not_found = 5,    //
  unavailable = 6,  // a store or the network does not answer
  internal = 70,    // a bug in pawl
};
std::string_view to_string(Code code);

struct Error {
  // No default for the outcome: whoever makes an error must say it.
  Error(Code code_, Outcome outcome_, std::string message_)
      : code(code_), outcome(outcome_), message(std::move(message_)) {}

  Code code;
  Outcome outcome;
  std::string message;
  Duration retry_after = {};  // zero: nobody named one

  bool operator==(const Error&) const = default;
};

template <class T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
};

// The error of something that had no effect: parsing, checking, refusing.
inline std::unexpected<Error> failure(Code code, std::string message) {
  return std::unexpected(Error(code, Outcome::not_applied, std::move(message)));
}

#define PAWL_CONCAT_INNER(a, b) a##b
#define PAWL_CONCAT(a, b) PAWL_CONCAT_INNER(a, b)
#define PAWL_TRY_NAMED(name, expression)                        \
  ({                                                            \
    auto&& name = (expression);                                 \
    if (!name) return std::unexpected(std::move(name).error()); \
    *std::move(name);                                           \
  })
// Value of a Result, or return its error from the enclosing function.
#define PAWL_TRY(expression) PAWL_TRY_NAMED(PAWL_CONCAT(pawl_try_, __COUNTER__), expression)

}  // namespace pawl
