// The file of plans that tenants were given while pawl ran: {"plans":{"acme":"pro"},"version":1}.
//
// Contract: written whole beside the old one, synced, then put in its place, so that a crash leaves
//           the old file or the new one, and what write_plans() said yes to survives the machine.
//           Its folder is made when it is not there. No file is no plans; one that cannot be read
//           or makes no sense is an error, never no plans.
// Bounds:   bounds::tenant_plans_max tenants.
// Threads:  one writer a file, of one process: the last of several wins.
// Errors:   invalid for what the file says, unavailable for what the disk says.
#pragma once

#include <string>

#include "gateway/settings.h"
#include "pawl/result.h"

namespace pawl::gateway {

Result<LivePlans> read_plans(const std::string& path);
Result<void> write_plans(const std::string& path, const LivePlans& plans);

}  // namespace pawl::gateway
