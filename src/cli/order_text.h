// Orders as people read them. Programs get runtime/placed_json.h.
//
// Contract: pure. Numbers stand to the right, words to the left; what could disturb a terminal is
//           escaped as in JSON. `colour`: whether it may be painted (doctor.h's wants_colour).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/open_orders.h"
#include "runtime/order_desk.h"

namespace pawl::cli {

// One order and what became of it, with its evidence.
std::string placed_text(const Placed& placed, bool colour);
// A line an order, under a head.
std::string orders_text(std::span<const order::Intent> orders, bool colour);
std::string placements_text(std::span<const Placed> placements, bool colour);
std::string quota_text(const order::Quota& quota, bool colour);
std::string dry_run_text(const DryRun& run);
std::string precheck_text(const Precheck& precheck, bool colour);
std::string changed_text(std::string_view done, const Changed& changed);
std::string backfill_text(const BackfillSummary& summary);
// "[#####.....]  50%  12 orders, 3 new, back to 2025-12-01": one line, without its end.
std::string progress_text(const BackfillProgress& progress);

// What nobody may overlook: which orders are unresolved or were left open, and what to do. Empty:
// none.
std::string open_orders_text(const OpenOrders& orders, bool colour);

// 0, 3 (rejected, denied) or 4 (unresolved).
int exit_code_of(PlacedAs as);

}  // namespace pawl::cli
