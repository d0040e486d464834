// The checks of `pawl doctor`, one function each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/doctor.h"
#include "config/config.h"
#include "config/load.h"
#include "pawl/clock.h"

namespace pawl::cli {

Finding check_configuration(const std::string& file, const config::Loaded& loaded);

// Free to listen on, or in the hands of a running pawl, which the admin address tells.
Finding check_guarded_address(const config::Server& server);
Finding check_admin_address(const config::Admin& admin);

Finding check_upstream(const config::Upstream& upstream);

// Whether it answers, and keeps what it is given (limit_checks.cc).
std::vector<Finding> check_limit_stores(const config::Limits& limits, Clock& clock);

// The folder, the log and the room on its disk (audit_checks.cc).
std::vector<Finding> check_audit(const config::Audit& audit);
// The end of a log, from its beginning or from somewhere in the middle.
Finding check_audit_tail(const std::string& path, std::string_view tail, bool is_whole);
Finding check_space(std::uint64_t bytes_left);

std::uint64_t descriptors_allowed();
Finding check_descriptors(std::uint64_t allowed);

Finding check_clock(Clock& clock);

}  // namespace pawl::cli
