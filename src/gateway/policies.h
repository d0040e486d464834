// The limits and plans in force, as GET /v1/policies tells them.
#pragma once

#include <string_view>

#include "base/json.h"
#include "config/config.h"
#include "gateway/settings.h"
#include "gateway/telemetry.h"

namespace pawl::gateway {

// [{"name":"orders","match":"POST /orders/**","scope":"tenant","algorithm":"sliding_window",
//   "rule":"100/1m","shadow":false,"refusals":0,"shadow_refusals":0}]
json::Value limits_json(const Settings& settings, const Telemetry& telemetry);
// [{"plan":"free","rates":[{"bucket":"orders","rate":"5/1m"}],"next_plan":"pro"}]
json::Value plans_json(const config::Config& config);

}  // namespace pawl::gateway
