// A rule from the text that people and the audit log know it by: the way back from to_string() of
// policy.h.
//
// Contract: pure. Takes exactly what to_string() gives for a rule that keeps a cell; those that
//           keep marks are never decided again, and have no way back. A calendar's zone is looked
//           up by its name.
#pragma once

#include <functional>
#include <string_view>

#include "base/zone.h"
#include "core/limit/policy.h"
#include "pawl/result.h"

namespace pawl::limit {

// The zone of a name, as in Europe/Zurich, or why there is none.
using Zones = std::function<Result<Zone>(std::string_view)>;

// `algorithm` is a word of algorithm_of(). Errors: invalid; not_found for a zone that is not known
// here.
Result<Rule> parse_rule(std::string_view algorithm, std::string_view text, const Zones& zones);

}  // namespace pawl::limit
