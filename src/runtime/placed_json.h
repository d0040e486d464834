// What an order desk answers, as the JSON that `--json` and /v1/orders have in common.
//
// Contract: pure. Money, sizes and ids are text. The members of a Placed are fixed: programs depend
//           on them.
#pragma once

#include "base/json.h"
#include "runtime/order_desk.h"

namespace pawl {

// external_reference, venue, status, order_id, attempts, evidence, quota; life, as last seen; and
// message: why it is not confirmed, and what to do, or that the venue could not be asked.
json::Object json_of(const Placed& placed);
// The same, and order, created_at and counts: what it is and when it was placed.
json::Object whole_json_of(const Placed& placed);
// used, limit, week_start.
json::Object json_of(const order::Quota& quota);
// The same, and enabled, remaining, next_week.
json::Object whole_json_of(const order::Quota& quota);
// What is kept of an order: as a Placed without its quota, with the order itself, life, reason,
// request_id and created_at.
json::Object json_of(const order::Intent& intent);
json::Object json_of(const DryRun& run);
json::Object json_of(const Precheck& precheck);
json::Object json_of(const Changed& changed);
json::Object json_of(const BackfillSummary& summary);

// An order as order::to_json() has it, with external_reference or without. An unknown member is an
// error that names it.
Result<PlaceRequest> place_request_of_json(const json::Value& value);

}  // namespace pawl
