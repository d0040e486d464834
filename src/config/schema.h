// The table of every field: path, type, what is allowed, default, help, and the member of Config it
// fills. Loading, showing, the reference page and reloading all walk this one table, in its order,
// so a new setting is one row here and one member in config.h.
#pragma once

#include "config/buckets.h"
#include "config/config.h"
#include "config/field.h"
#include "config/match.h"
#include "config/retry.h"
#include "config/tenants.h"
#include "config/webhooks.h"

namespace pawl::config {

const Fields<Config>& config_fields();

// What no field can check alone. A rule looks only at fields that were read without a problem.
void check_together(const Config& config, Reader& reader);

}  // namespace pawl::config
