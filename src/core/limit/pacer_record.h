// What the audit log keeps of a pacer's decisions: enough to say afterwards why a call left when it
// did, waited, or was not sent.
//
//   'place' waits 520ms for the pace of 'orders' (1/1s).
//   'orders' is closed for 1s: the 429 to 'place' says that 'SessionOrders' has 0 of 1 left.
//
// Contract: pure. The names are those of docs/audit-events.md. What is no decision (a warning, a
//           failure of the store) has no record. A call that was not sent is told as its caller is
//           told.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "core/limit/pacer.h"
#include "core/limit/policy.h"

namespace pawl::limit::pacer {

struct Record {
  std::string operation;
  Ticket ticket = 0;  // 0: of the session, and of no call
  std::vector<std::pair<std::string_view, json::Value>> details;
};

// `policy` is the session's pace, by the name the store knows.
std::optional<Record> record(const Note& note, const Policy& policy, std::string_view session);

}  // namespace pawl::limit::pacer
