// Replay: a decision on record is taken again, from what stands in the record, by the machine that
// took it.
//
// Why:      a chain of hashes shows that a record is as it was written; this shows that what was
//           written is what pawl decides.
// Contract: pure. Retries are decided again from their `decision` (core/retry/decide.h), and what
//           the rest of the record says of it must agree. Limits are decided again from `before`
//           (core/limit/decide.h); a policy that keeps marks has none, so its word is taken as it
//           stands, and the others and the whole must fit it. Orders are decided again from their
//           `decision` (core/order/decision.h), the weekly limit from its numbers. A record that
//           cannot be read as what pawl writes of its kind, a decision that is missing say,
//           differs.
//           What a decision rests on is taken as it stands: whether it belongs to the records
//           before it is the Verifier's question (verifier.h).
// Threads:  any; values.
#pragma once

#include <cstdint>
#include <string>

#include "base/json.h"
#include "core/limit/rule_text.h"
#include "core/request/limit_record.h"

namespace pawl::audit {

struct Replayed {
  enum class How : std::uint8_t {
    agrees,
    no_decision,     // of a kind that holds none, or what a reconciliation found
    not_replayable,  // a decision on what no record holds
    differs,
  };
  How how = How::agrees;
  std::string why = {};       // not_replayable; differs: of what cannot be decided again
  json::Value recorded = {};  // differs: the decision that stands there
  json::Value again = {};     // and the one that comes out
};

Replayed replay(const json::Value& record, const limit::Zones& zones);

// The part without JSON, for whoever has read the record: what limits say now.
request::LimitDecision decide_again(const request::RecordedLimit& recorded);

}  // namespace pawl::audit
