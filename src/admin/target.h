// What a request's target says: names in its path and its query, decoded.
//
// Contract: pure. Reading is strict, since whoever asks is a stranger: an escape that is none, text
//           that is no UTF-8 or holds a control character, and a name that is given twice are
//           errors. In a query `+` is a blank, as browsers write it.
// Bounds:   bounds::admin_parameters_max parameters; the target's length is the server's to bound.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pawl/result.h"

namespace pawl::admin {

// One segment of a path, or any text that was escaped like one.
Result<std::string> decode(std::string_view text);

using Query = std::vector<std::pair<std::string, std::string>>;
// Of a target, what is behind its `?`.
Result<Query> parse_query(std::string_view target);

}  // namespace pawl::admin
