// A decision on an order as the audit log keeps it: the settings, the facts, and what came of them;
// enough to decide it again.
//
// Contract: pure. What decision_record() writes read_decision() reads back as it was. Times are
//           nanoseconds as text, the key is text: the log's form of a number is a double's. The
//           names are those of docs/audit-events.md. What is read is hostile: every member is
//           checked, and there is no other.
#pragma once

#include <variant>

#include "base/json.h"
#include "core/order/decision.h"
#include "pawl/result.h"

namespace pawl::order {

using DecisionFacts = std::variant<Ended, Read>;

json::Value decision_record(const Settings& settings, const DecisionFacts& facts,
                            const Decision& decision);

struct RecordedDecision {
  Settings settings;
  DecisionFacts facts;
  Decision decision;
};
// The error names the member that is missing or makes no sense.
Result<RecordedDecision> read_decision(const json::Value& record);
// It is one of an order, and not of a retry.
bool is_order_decision(const json::Value& record);

Decision decide(const Settings& settings, const DecisionFacts& facts);

}  // namespace pawl::order
