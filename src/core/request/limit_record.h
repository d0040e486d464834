// What the audit log keeps of a limit's decision: enough to explain it to people, and to decide it
// again.
//
// Contract: pure. The names are those of docs/audit-events.md. Numbers that may pass 2^53 (moments
//           and cells) are written as text: the log's form of a number is a double's.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "core/limit/decide.h"

namespace pawl::request {

std::vector<std::pair<std::string_view, json::Value>> limit_record(limit::Counts counts,
                                                                   const limit::Answer& answer,
                                                                   std::int64_t cost);

}  // namespace pawl::request
