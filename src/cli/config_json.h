// A configuration as JSON: the members and values of `config show`, secrets hidden alike.
#pragma once

#include "base/json.h"
#include "config/config.h"

namespace pawl::cli {

json::Value config_json(const config::Config& config);

}  // namespace pawl::cli
