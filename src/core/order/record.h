// What the audit log keeps of an order: enough to say afterwards why it was sent, sent again, taken
// for placed or absent, or left to a person, and to decide it again (decision_record.h).
//
//   order      a state was reached; of an attempt's end with its decision
//   reconcile  a reading of the venue, with its decision and every source that was read
//   quota      the weekly limit allowed or refused
//
// Contract: pure. The names are those of docs/audit-events.md. Every event carries
//           external_reference and request_id.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/audit/event.h"
#include "core/order/decision_record.h"
#include "core/order/intent.h"
#include "core/order/quota.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::order {

inline constexpr std::string_view place_operation = "place_order";
inline constexpr std::string_view modify_operation = "modify_order";
inline constexpr std::string_view cancel_operation = "cancel_order";

// A state was reached without one of the two decisions: opened, taken over, settled by a person.
audit::Event state_event(const Intent& intent, std::string_view why, Instant now);

struct Decided {
  Settings settings;
  DecisionFacts facts;
  Decision decision;
  std::string why = {};
  std::string_view operation = place_operation;
};
// `sources` are those of a reading.
audit::Event decision_event(const Intent& intent, const Decided& decided,
                            std::span<const SourceRead> sources, Instant now);

struct QuotaCheck {
  std::string reference = {};
  std::string request_id = {};
  Order order = {};
  bool counts = true;
  Quota quota = {};
  bool allowed = true;
};
audit::Event quota_event(const QuotaCheck& check, Instant now);
// The same question again: quota.h's has_room(), for what counts.
bool is_allowed(const Quota& quota, bool counts);

// The state that a decision leads to.
Status status_after(Next next);
// What a reading has found out of the attempts so far.
Outcome outcome_after(const Decision& decision);

// A sentence without its full stop, for people.
std::string_view explain(Reason reason);

}  // namespace pawl::order
