// A decision as the audit log keeps it: the policy, the facts, and what came of them; enough to
// decide it again.
//
// Contract: pure. What decision_record() writes read_decision() reads back as it was, but for the
//           policy's lists, whose say is among the facts. Numbers that may pass 2^53 (times in
//           nanoseconds, the key) are text: the log's form of a number is a double's. What is as
//           it is by default (Policy(), Facts()) is left out; logs are kept for years, so these
//           defaults never change, and a test pins them. The names are those of
//           docs/audit-events.md. What is read is hostile: every member is checked.
#pragma once

#include <string>

#include "base/json.h"
#include "core/retry/decide.h"
#include "pawl/result.h"

namespace pawl::retry {

json::Value decision_record(const Policy& policy, const Facts& facts, const Decision& decision);
// What json::print() makes of it, without the tree.
void append_decision(std::string& out, const Policy& policy, const Facts& facts,
                     const Decision& decision);

struct RecordedDecision {
  Policy policy;
  Facts facts;
  Decision decision;
};
// The error names the member that is missing or makes no sense.
Result<RecordedDecision> read_decision(const json::Value& record);

}  // namespace pawl::retry
