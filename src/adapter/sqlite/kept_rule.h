// A rule as a text that is kept beside the count, so that a count can be carried over to another
// rule after a restart, when nobody knows the old one any more.
//
// Contract: equal rules have equal texts, and no others. rebuild() gives the rule back. A calendar
//           names its zone; the text does not hold the zone's table, so a newer one applies.
// Form:     one JSON object; kept_rule_test.cc pins it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/zone.h"
#include "core/limit/policy.h"
#include "pawl/result.h"

namespace pawl {

// The zone of a name, or why there is none. "UTC" is never asked for.
using ZoneLookup = std::function<Result<Zone>(std::string_view)>;

std::string text_of(const limit::Rule& rule);
Result<limit::Rule> rebuild(std::string_view text, const ZoneLookup& zones);

}  // namespace pawl
