// How far an intent has come, as JSON that a store keeps.
//
// Contract: pure. What the machine made reads back the same, to the nanosecond. What is read is
//           hostile until parsed: what is missing, too long, of another name, or could not have
//           been made is an error that names it, and nothing is guessed: an intent that cannot be
//           read is neither sent nor forgotten.
// Bounds:   bounds::order_*.
#pragma once

#include "base/json.h"
#include "core/order/intent.h"
#include "pawl/result.h"

namespace pawl::order {

json::Value to_json(const Progress& progress);
Result<Progress> progress_of(const json::Value& value);

// For people and programs that ask: {"at":"2026-01-25T21:15:00.000Z","source":…,"says":…}.
json::Value to_json(const Evidence& evidence);

}  // namespace pawl::order
