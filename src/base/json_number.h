// The numbers of JSON: what counts as one, and how RFC 8785 writes it.
#pragma once

#include <string>
#include <string_view>

#include "pawl/result.h"

namespace pawl::json {

// The whole text is one number of RFC 8259's grammar.
bool is_number(std::string_view text);

// As ECMAScript prints it, which RFC 8785 took over: the fewest digits that read back as the same
// double. The value must be finite; minus zero becomes "0".
std::string shortest(double value);

// Fails on a text that is no number, and on one that a double can only hold as infinity or, though
// it is not zero, as zero.
Result<std::string> canonical_number(std::string_view text);

}  // namespace pawl::json
