// Audit records and statistics as people and programs read them.
//
// Contract: pure. A line for people is one line whatever the record holds: what could disturb a
//           terminal is escaped as in JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/audit/stats.h"
#include "pawl/time.h"

namespace pawl::cli {

// Time, type and operation, then every other member but those of the chain: name=value. A line that
// is no record comes back as a JSON string.
std::string record_text(std::string_view line);

struct StatsView {
  const std::string& file;
  const audit::Stats& stats;
  std::uint64_t alert_above;  // retries a minute
  Instant now;
};
std::string stats_text(const StatsView& view);
std::string stats_json(const StatsView& view);

}  // namespace pawl::cli
