// What people and other programs ask about a queue, besides tasks (task_json.h), as JSON.
//
// Format:   docs/formats.md. As in task_json.h: instants in RFC 3339, what is not there is null.
// Threads:  any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"
#include "core/queue/machine.h"

namespace pawl::queue {

std::string_view to_string(Hold hold);        // "not_due"
std::string_view to_string(Limited limited);  // "each_key"

// Whether a scope holds it, which is then named.
bool is_scoped(const Why& why);
// {"hold":"closed","scope":"key","name":"acme","until":"…","ahead":0,"worker":null}
json::Value to_json(const Why& why);
// {"types":[{"task_type":"call_api","pending":5,"due":3,…,"oldest_due":"…"}],"totals":{…}}
json::Value to_json(const Stats& stats);
json::Value to_json(const Closing& closing);
json::Value to_json(const SetLimit& limit);
json::Value to_json(const Schedule& schedule);

}  // namespace pawl::queue
