// Why an ask was allowed or refused, in a sentence or two for a person.
//
//   Allowed. Tightest is 'login' (5/1m): 3 of 5 used, 2 left.
//   Refused by 'global' (100/1m): 100 of 100 used, nothing left. The earliest that would do is in
//   12.4s. Shadow 'strict' (10/1m) would have refused too.
//
// Why:      whoever was refused asks which of eight limits it was, and for how long; the same text
//           stands in the answer and in the audit event.
// Contract: pure. Waits are told to two or three digits, and rounded up: never too short.
#pragma once

#include <cstdint>
#include <string>

#include "core/limit/decide.h"

namespace pawl::limit {

// "450ms", "12.4s", "5m 30s", "3h 20m", "2d 4h".
void append_wait(std::string& out, Duration wait);

// Clients are not told of policies in shadow.
enum class Audience : std::uint8_t { operators, clients };

// `answer` is what an ask of `cost` against `counts` was answered with.
std::string explain(Counts counts, const Answer& answer, std::int64_t cost = 1,
                    Audience audience = Audience::operators);

// The same behind a text that may have room for it already: then no memory is asked for, unless
// several refuse.
struct Telling {
  std::int64_t cost = 1;
  Audience audience = Audience::operators;
};
void append_explanation(std::string& out, Counts counts, const Answer& answer,
                        Telling telling = {});

}  // namespace pawl::limit
