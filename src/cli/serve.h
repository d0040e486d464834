// `pawl serve`: builds the gateway out of its parts and runs it. This is where adapters get their
// names.
#pragma once

#include "config/config.h"
#include "gateway/gateway.h"
#include "pawl/result.h"

namespace pawl::cli {

// Returns when a signal ended it. `reload` reads the configuration again on SIGHUP.
Result<void> serve(const config::Config& config, gateway::Gateway::Reload reload);

}  // namespace pawl::cli
